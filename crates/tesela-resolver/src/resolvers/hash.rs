//! Hash resolver (R28): key → bytes → point → owner.
//!
//! Two constructors cover most needs: [`HashResolver::buckets`] for new databases, [`HashResolver::ring`] for what the
//! DocumentDB libraries documented. [`HashResolver::pydocumentdb`] finds the data the legacy Python library placed.
//!
//! A hash forgets order, so a range of keys must be read everywhere.

use tesela_model::json::Value;

use crate::error::{ConfigError, ResolveError};
use crate::extract::KeyExtractor;
use crate::hash::Hasher;
use crate::key::{Key, ReadScope};
use crate::limits::{BUCKETS_DEFAULT, LOAD_LIMIT_PERCENT_DEFAULT, VIRTUAL_NODES_DEFAULT};
use crate::link::{CollectionLink, extend_distinct};
use crate::placement::{BoundedLoad, BucketMap, Jump, Member, Members, Placement, Rendezvous, Ring};
use crate::resolver::PartitionResolver;

/// Virtual nodes of a collection in the legacy Python library, unless told otherwise.
const PYDOCUMENTDB_VIRTUAL_NODES: u32 = 128;

/// A placement not yet filled with collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A ring with so many virtual nodes for each unit of weight.
    Ring {
        /// 16 by the DocumentDB documentation.
        virtual_nodes: u32,
    },
    /// So many fixed buckets, shared out evenly.
    Buckets {
        /// 16,384 unless there is a reason.
        buckets: u32,
    },
    /// Fixed buckets under a load limit.
    Bounded {
        /// As above.
        buckets: u32,
        /// The most a collection may own, in percent of its fair share.
        limit_percent: u32,
    },
    /// Jump consistent hash.
    Jump,
    /// Highest random weight.
    Rendezvous,
}

impl Scheme {
    /// The ring of the DocumentDB documentation.
    pub const RING: Self = Self::Ring { virtual_nodes: VIRTUAL_NODES_DEFAULT };
    /// The default for new databases.
    pub const BUCKETS: Self = Self::Buckets { buckets: BUCKETS_DEFAULT };
    /// Bounded load with the defaults.
    pub const BOUNDED: Self = Self::Bounded { buckets: BUCKETS_DEFAULT, limit_percent: LOAD_LIMIT_PERCENT_DEFAULT };

    fn place(self, hasher: &Hasher, members: Members) -> Result<Placement, ConfigError> {
        Ok(match self {
            Self::Ring { virtual_nodes } => Placement::Ring(Ring::new(hasher, members, virtual_nodes)?),
            Self::Buckets { buckets } => Placement::Buckets(BucketMap::even(members, buckets)?),
            Self::Bounded { buckets, limit_percent } => {
                Placement::Bounded(BoundedLoad::new(hasher, members, buckets, limit_percent)?)
            }
            Self::Jump => Placement::Jump(Jump::new(members)?),
            Self::Rendezvous => Placement::Rendezvous(Rendezvous::new(hasher, members)),
        })
    }
}

/// Places documents by a hash of their key.
#[derive(Clone, Debug, PartialEq)]
pub struct HashResolver {
    extractor: KeyExtractor,
    hasher: Hasher,
    placement: Placement,
}

impl HashResolver {
    /// Any scheme with any hash.
    pub fn new(
        extractor: KeyExtractor,
        hasher: Hasher,
        scheme: Scheme,
        collections: impl IntoIterator<Item = impl Into<Member>>,
    ) -> Result<Self, ConfigError> {
        let placement = scheme.place(&hasher, Members::new(collections)?)?;
        Ok(Self { extractor, hasher, placement })
    }

    /// The documented DocumentDB ring: MD5, 16 virtual nodes.
    pub fn ring(
        extractor: KeyExtractor,
        collections: impl IntoIterator<Item = impl Into<Member>>,
    ) -> Result<Self, ConfigError> {
        Self::new(extractor, Hasher::md5(), Scheme::RING, collections)
    }

    /// The recommended default: 16,384 buckets by 128-bit Murmur3, with an explicit owner each.
    pub fn buckets(
        extractor: KeyExtractor,
        collections: impl IntoIterator<Item = impl Into<Member>>,
    ) -> Result<Self, ConfigError> {
        Self::new(extractor, Hasher::murmur3_128(), Scheme::BUCKETS, collections)
    }

    /// The ring of the legacy Python library with its defaults: 32-bit Murmur3, 128 virtual nodes.
    pub fn pydocumentdb(
        extractor: KeyExtractor,
        collections: impl IntoIterator<Item = impl Into<Member>>,
    ) -> Result<Self, ConfigError> {
        let scheme = Scheme::Ring { virtual_nodes: PYDOCUMENTDB_VIRTUAL_NODES };
        Self::new(extractor, Hasher::murmur3_32(), scheme, collections)
    }

    /// A bucket map made elsewhere.
    pub fn with_bucket_map(extractor: KeyExtractor, hasher: Hasher, map: BucketMap) -> Self {
        Self { extractor, hasher, placement: Placement::Buckets(map) }
    }

    /// How keys are found.
    pub fn extractor(&self) -> &KeyExtractor {
        &self.extractor
    }

    /// How keys are hashed.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// How points are placed.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The collections.
    pub fn members(&self) -> &Members {
        self.placement.members()
    }

    /// The point of a key, by which a move selects documents.
    pub fn point(&self, key: &Key) -> u128 {
        self.hasher.point(&key.hash_bytes())
    }

    /// The collection of a key given as bytes: the whole of a lookup.
    #[inline]
    pub fn collection_of(&self, key: &[u8]) -> &CollectionLink {
        self.members().link(self.placement.owner(&self.hasher, self.hasher.point(key)))
    }

    /// The resolver with one collection more. Documents must follow: see [`crate::moves`].
    pub fn with_added(&self, member: impl Into<Member>) -> Result<Self, ConfigError> {
        Ok(self.with_placement(self.placement.with_added(&self.hasher, member.into())?))
    }

    /// The resolver without one collection. Its documents must leave: see [`crate::moves`].
    pub fn with_removed(&self, link: &CollectionLink) -> Result<Self, ConfigError> {
        Ok(self.with_placement(self.placement.with_removed(&self.hasher, link)?))
    }

    fn with_placement(&self, placement: Placement) -> Self {
        Self { extractor: self.extractor.clone(), hasher: self.hasher.clone(), placement }
    }
}

impl PartitionResolver for HashResolver {
    fn partition_key(&self, document: &Value) -> Result<Key, ResolveError> {
        self.extractor.extract(document)
    }

    fn resolve_for_create(&self, key: &Key) -> Result<CollectionLink, ResolveError> {
        Ok(self.collection_of(&key.hash_bytes()).clone())
    }

    fn resolve_for_read(&self, scope: &ReadScope) -> Result<Vec<CollectionLink>, ResolveError> {
        match scope {
            ReadScope::Key(key) => self.resolve_for_create(key).map(|link| vec![link]),
            ReadScope::Keys(keys) => {
                let mut links = Vec::new();
                extend_distinct(&mut links, keys.iter().map(|key| self.collection_of(&key.hash_bytes()).clone()));
                Ok(links)
            }
            ReadScope::All | ReadScope::Range(_) | ReadScope::Within { .. } => {
                Ok(self.members().links().cloned().collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyRange;

    fn by_user(links: &[&str]) -> HashResolver {
        HashResolver::ring(KeyExtractor::path("/userId").unwrap(), links.iter().copied()).unwrap()
    }

    #[test]
    fn r28_the_ring_is_md5_with_16_virtual_nodes() {
        let resolver = by_user(&["a", "b"]);
        assert_eq!(resolver.hasher().name(), "md5");
        assert!(matches!(resolver.placement(), Placement::Ring(ring) if ring.virtual_nodes() == 16));
    }

    #[test]
    fn r37_a_key_is_one_collection_and_nothing_is_all() {
        let resolver = by_user(&["a", "b", "c"]);
        let one = resolver.resolve_for_read(&"ada".into()).unwrap();
        assert_eq!(one, [resolver.resolve_for_create(&"ada".into()).unwrap()]);
        assert_eq!(resolver.resolve_for_read(&ReadScope::All).unwrap().len(), 3);
        let range = KeyRange::closed("a", "b").unwrap();
        assert_eq!(resolver.resolve_for_read(&range.into()).unwrap().len(), 3, "a hash forgets order");
        let keys = ReadScope::Keys((0..100).map(Key::from).collect());
        assert_eq!(resolver.resolve_for_read(&keys).unwrap().len(), 3, "each collection once");
    }

    #[test]
    fn r28_the_hash_function_is_pluggable() {
        struct Constant;
        impl crate::hash::HashGenerator for Constant {
            fn name(&self) -> &str {
                "constant"
            }
            fn width_bytes(&self) -> u32 {
                1
            }
            fn point(&self, _: &[u8]) -> u128 {
                200
            }
        }
        let hasher = Hasher::new(std::sync::Arc::new(Constant));
        let extractor = KeyExtractor::path("/id").unwrap();
        let scheme = Scheme::Buckets { buckets: 4 };
        let resolver = HashResolver::new(extractor, hasher, scheme, ["a", "b", "c", "d"]).unwrap();
        // 200 of 256 lies in the fourth quarter.
        assert_eq!(resolver.resolve_for_create(&"anything".into()).unwrap().as_str(), "d");
    }
}
