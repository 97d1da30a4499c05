//! The one interface (R27), and the closed set of resolvers the library knows by heart.
//!
//! [`PartitionResolver`] is what a client asks and what a user may implement. [`Resolver`] is the sum of
//! ours: it can be stored, compared by a planner and nested, because every kind is known. A user's own
//! implementation joins it under a name, as [`Resolver::Custom`].
//!
//! The law between the three methods, which every resolver here keeps and property tests check: for a
//! document `d` with key `k`, the create target of `k` is in the read set of every scope that contains `k`,
//! at every later moment too.

use std::fmt;
use std::sync::Arc;

use tesela_model::json::Value;

use crate::error::ResolveError;
use crate::extract::KeyExtractor;
use crate::key::{Key, ReadScope};
use crate::link::CollectionLink;
use crate::resolvers::{
    FallbackResolver, HashResolver, LookupResolver, ManagedResolver, NestedResolver, RangeResolver, SpilloverResolver,
    TransitionResolver,
};

/// Decides which collections a document lives in.
pub trait PartitionResolver: Send + Sync {
    /// The key of a document.
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError>;
    /// The one collection in which to create a document of this key.
    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError>;
    /// Every collection that may hold documents of the scope, each once.
    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError>;
}

/// Any resolver of the library.
#[derive(Clone, Debug)]
pub enum Resolver {
    /// By a hash of the key.
    Hash(HashResolver),
    /// By ranges of keys.
    Range(RangeResolver),
    /// By discrete values.
    Lookup(LookupResolver),
    /// By a hash, with collections made from a template.
    Managed(ManagedResolver),
    /// By room: the next collection when the last is full.
    Spillover(SpilloverResolver),
    /// Between two schemes.
    Transition(Box<TransitionResolver>),
    /// Groups of collections, each with a scheme of its own.
    Nested(Box<NestedResolver>),
    /// The first that knows the key.
    Fallback(FallbackResolver),
    /// A user's own, known by name.
    Custom(CustomResolver),
}

/// A user's resolver and the name under which other processes know it.
#[derive(Clone)]
pub struct CustomResolver {
    name: Arc<str>,
    inner: Arc<dyn PartitionResolver>,
}

impl CustomResolver {
    /// Names a resolver.
    pub fn new(name: &str, inner: Arc<dyn PartitionResolver>) -> Self {
        Self { name: Arc::from(name), inner }
    }

    /// The name that is stored.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for CustomResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomResolver({})", self.name)
    }
}

impl Resolver {
    /// The kind as stored state spells it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hash(_) => "hash",
            Self::Range(_) => "range",
            Self::Lookup(_) => "lookup",
            Self::Managed(_) => "managed",
            Self::Spillover(_) => "spillover",
            Self::Transition(_) => "transition",
            Self::Nested(_) => "nested",
            Self::Fallback(_) => "fallback",
            Self::Custom(_) => "custom",
        }
    }

    /// How keys are found, when that is one extractor: two resolvers with equal extractors agree on
    /// every document's key.
    pub fn extractor(&self) -> Option<&KeyExtractor> {
        match self {
            Self::Hash(it) => Some(it.extractor()),
            Self::Range(it) => Some(it.extractor()),
            Self::Lookup(it) => Some(it.extractor()),
            Self::Managed(it) => Some(it.inner().extractor()),
            Self::Spillover(_) | Self::Transition(_) | Self::Nested(_) | Self::Fallback(_) | Self::Custom(_) => None,
        }
    }

    /// The hash scheme, of a hash resolver or inside a managed one.
    pub fn as_hash(&self) -> Option<&HashResolver> {
        match self {
            Self::Hash(it) => Some(it),
            Self::Managed(it) => Some(it.inner()),
            _ => None,
        }
    }

    /// Every collection of the map, each once.
    pub fn collections(&self) -> Result<Vec<CollectionLink>, ResolveError> {
        self.resolve_for_read(&ReadScope::All)
    }

    fn inner(&self) -> &dyn PartitionResolver {
        match self {
            Self::Hash(it) => it,
            Self::Range(it) => it,
            Self::Lookup(it) => it,
            Self::Managed(it) => it,
            Self::Spillover(it) => it,
            Self::Transition(it) => &**it,
            Self::Nested(it) => &**it,
            Self::Fallback(it) => it,
            Self::Custom(it) => &*it.inner,
        }
    }
}

impl PartitionResolver for Resolver {
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError> {
        self.inner().partition_key(document)
    }

    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError> {
        self.inner().resolve_for_create(key)
    }

    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        self.inner().resolve_for_read(scope)
    }
}

macro_rules! into_resolver {
    ($($kind:ident($from:ty)),*) => {$(
        impl From<$from> for Resolver {
            fn from(resolver: $from) -> Self {
                Self::$kind(resolver.into())
            }
        }
    )*};
}
into_resolver!(
    Hash(HashResolver),
    Range(RangeResolver),
    Lookup(LookupResolver),
    Managed(ManagedResolver),
    Spillover(SpilloverResolver),
    Transition(TransitionResolver),
    Nested(NestedResolver),
    Fallback(FallbackResolver),
    Custom(CustomResolver)
);
