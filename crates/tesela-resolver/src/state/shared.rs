//! A map that follows its store.
//!
//! [`SharedResolver`] is a resolver whose map can change under it: each question is answered by the newest
//! map it has seen, whole. It learns of changes when asked to [`refresh`](SharedResolver::refresh) — by a
//! timer, a change feed, or a client that met an answer only an old map explains — and tells its listeners.
//! Changes go the other way through [`update`](SharedResolver::update): read, change, save if nobody else
//! did, else again on the newer map.
//!
//! Invariants: revisions seen by one process only grow; two successful updates are never based on the same
//! revision; a spillover list never shrinks, so that what this process already wrote stays readable.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tesela_model::json::{self, Value};

use super::{Registry, ResolverState, StateError, StateStore, StoreError};
use crate::error::ResolveError;
use crate::key::{Key, ReadScope};
use crate::link::CollectionLink;
use crate::resolver::{PartitionResolver, Resolver};

/// Rounds an update may lose to others. Ours: far more than people and managers that change maps.
const UPDATE_ROUNDS_MAX: usize = 32;

/// A map as one process saw it.
#[derive(Debug)]
pub struct MapSnapshot {
    /// Its version.
    pub revision: u64,
    /// Its name in the store.
    pub etag: String,
    /// The map.
    pub resolver: Resolver,
}

/// Why a shared map could not be had or changed.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    #[error("there is no stored map")]
    NoMap,
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the map changed {UPDATE_ROUNDS_MAX} times while it was being changed here")]
    Contended,
}

type Listener = Box<dyn Fn(&MapSnapshot) + Send + Sync>;

/// A resolver that follows a stored map.
pub struct SharedResolver<S> {
    store: S,
    registry: Registry,
    current: RwLock<Arc<MapSnapshot>>,
    listeners: Mutex<Vec<Listener>>,
}

impl<S: StateStore> SharedResolver<S> {
    /// Follows the map that is there.
    pub async fn open(store: S, registry: Registry) -> Result<Self, SharedError> {
        let stored = store.load().await?.ok_or(SharedError::NoMap)?;
        let snapshot = snapshot(&registry, &stored.text, stored.etag)?;
        Ok(Self::following(store, registry, snapshot))
    }

    /// Stores the first map and follows it; if another process was faster, follows that one's.
    pub async fn open_or_create(store: S, registry: Registry, first: Resolver) -> Result<Self, SharedError> {
        let state = ResolverState { revision: 1, resolver: first };
        match store.save(&text(&state), None).await {
            Ok(etag) => {
                let snapshot = MapSnapshot { revision: 1, etag, resolver: state.resolver };
                Ok(Self::following(store, registry, snapshot))
            }
            Err(StoreError::Conflict) => Self::open(store, registry).await,
            Err(error) => Err(error.into()),
        }
    }

    fn following(store: S, registry: Registry, snapshot: MapSnapshot) -> Self {
        Self { store, registry, current: RwLock::new(Arc::new(snapshot)), listeners: Mutex::default() }
    }

    /// The newest map this process has seen.
    pub fn current(&self) -> Arc<MapSnapshot> {
        // Maps are swapped whole, so a panic elsewhere cannot have left half of one.
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Called with every newer map, from whichever task saw it. Must not wait.
    pub fn subscribe(&self, listener: impl Fn(&MapSnapshot) + Send + Sync + 'static) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }

    /// Looks for a newer map; tells whether there was one.
    pub async fn refresh(&self) -> Result<bool, SharedError> {
        let seen = self.current();
        match self.store.load_if_changed(&seen.etag).await? {
            Some(stored) => Ok(self.install(snapshot(&self.registry, &stored.text, stored.etag)?)),
            None => Ok(false),
        }
    }

    /// Changes the map by `change`, which is asked again on the newer map when someone else was faster.
    pub async fn update<E: From<SharedError>>(
        &self,
        change: impl Fn(&Resolver) -> Result<Resolver, E>,
    ) -> Result<Arc<MapSnapshot>, E> {
        for _ in 0..UPDATE_ROUNDS_MAX {
            let before = self.current();
            let state = ResolverState { revision: before.revision + 1, resolver: change(&before.resolver)? };
            match self.store.save(&text(&state), Some(&before.etag)).await {
                Ok(etag) => {
                    self.install(MapSnapshot { revision: state.revision, etag, resolver: state.resolver });
                    return Ok(self.current());
                }
                Err(StoreError::Conflict) => self.refresh().await?,
                Err(error) => return Err(SharedError::from(error).into()),
            };
        }
        Err(SharedError::Contended.into())
    }

    fn install(&self, newer: MapSnapshot) -> bool {
        let newer = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            // Two refreshes can finish in the wrong order.
            if newer.revision <= current.revision {
                return false;
            }
            inherit(&newer.resolver, &current.resolver);
            *current = Arc::new(newer);
            current.clone()
        };
        for listener in self.listeners.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            listener(&newer);
        }
        true
    }
}

/// Hands on to a newer map the spillover collections this process has already written to and not yet published.
fn inherit(newer: &Resolver, older: &Resolver) {
    match (newer, older) {
        (Resolver::Spillover(new), Resolver::Spillover(old)) if new.template().naming == old.template().naming => {
            new.absorb(&old.numbers());
        }
        (Resolver::Transition(new), Resolver::Transition(old)) => {
            inherit(new.current(), old.current());
            inherit(new.next(), old.next());
        }
        (Resolver::Nested(new), Resolver::Nested(old)) => {
            inherit(new.outer(), old.outer());
            for (name, group) in new.groups() {
                if let Some(old) = old.groups().get(name) {
                    inherit(group, old);
                }
            }
        }
        (Resolver::Fallback(new), Resolver::Fallback(old)) => {
            for (new, old) in new.chain().iter().zip(old.chain()) {
                inherit(new, old);
            }
        }
        _ => {}
    }
}

fn snapshot(registry: &Registry, text: &[u8], etag: String) -> Result<MapSnapshot, SharedError> {
    let ResolverState { revision, resolver } = registry.decode_text(text)?;
    Ok(MapSnapshot { revision, etag, resolver })
}

fn text(state: &ResolverState) -> Vec<u8> {
    let mut text = Vec::new();
    json::write(&state.encode(), &mut text);
    text
}

impl<S: StateStore> PartitionResolver for SharedResolver<S> {
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError> {
        self.current().resolver.partition_key(document)
    }

    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError> {
        self.current().resolver.resolve_for_create(key)
    }

    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        self.current().resolver.resolve_for_read(scope)
    }
}
