//! What can go wrong when a map is made, and when a key is looked up in it.

use crate::key::Key;
use crate::limits::{BUCKETS_MAX, COLLECTIONS_MAX, KEY_COMPONENTS_MAX, MAP_ENTRIES_MAX, RING_POINTS_MAX, WEIGHT_MAX};
use crate::link::CollectionLink;
use crate::resolvers::RangeEntry;

/// A map that cannot be made. Always the maker's to mend.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    #[error("a map needs at least one collection")]
    NoCollections,
    #[error("{found} collections, a map holds at most {COLLECTIONS_MAX}")]
    TooManyCollections { found: usize },
    #[error("collection {link} is named twice")]
    DuplicateCollection { link: CollectionLink },
    #[error("collection {link} is not in the map")]
    UnknownCollection { link: CollectionLink },
    #[error("collection {link} has weight {found}, weights are 1 to {WEIGHT_MAX}")]
    Weight { link: CollectionLink, found: u32 },
    #[error("{found} virtual nodes make a ring of {points} points, rings have 1 to {RING_POINTS_MAX}")]
    VirtualNodes { found: u32, points: u64 },
    #[error("{found} buckets for {collections} collections, a map has at least one each and at most {BUCKETS_MAX}")]
    Buckets { found: usize, collections: usize },
    #[error("bucket {bucket} belongs to collection number {owner}, which is not in the map")]
    BucketOwner { bucket: usize, owner: u32 },
    #[error("bucket {bucket} of {count} does not exist")]
    NoSuchBucket { bucket: usize, count: usize },
    #[error("a load limit of {found} % leaves no room above the mean")]
    LoadLimit { found: u32 },
    #[error("collection {link} has a weight, which jump placement cannot honour")]
    JumpWeight { link: CollectionLink },
    #[error("collection {link} is not the last one, and jump placement removes only that")]
    JumpRemovesLast { link: CollectionLink },
    #[error("{text:?} is no property path")]
    Path { text: String },
    #[error("{found} key paths, a key has 1 to {KEY_COMPONENTS_MAX}")]
    KeyPaths { found: usize },
    #[error("{found} entries, a map holds at most {MAP_ENTRIES_MAX}")]
    TooManyEntries { found: usize },
    #[error("range {} ({}) and range {} ({}) overlap", first.range, first.link, second.range, second.link)]
    Overlap { first: Box<RangeEntry>, second: Box<RangeEntry> },
    #[error("range end {key} is no time")]
    RangeEndNotATime { key: Key },
    #[error("key {key} is mapped twice")]
    DuplicateKey { key: Key },
    #[error("{text:?} is no naming scheme: it needs {{n}} or {{n:0W}} once")]
    NamingScheme { text: String },
    #[error("a fill factor of {found} % is outside 1 to 100")]
    FillFactor { found: u32 },
    #[error("a capacity of 0 bytes can hold nothing")]
    NoCapacity,
    #[error("group {group} is named by the outer resolver and has no resolver of its own")]
    GroupWithoutResolver { group: CollectionLink },
    #[error("resolver {name:?} is in a chain twice")]
    DuplicateName { name: String },
    #[error("a chain needs at least one resolver")]
    EmptyChain,
}

/// A key or document that has no answer in the map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ResolveError {
    #[error("document has no key at {at}")]
    KeyMissing { at: String },
    #[error("document has a {kind} at {at}, which is no key")]
    KeyUnusable { at: String, kind: &'static str },
    #[error("document type {found:?} at {property} has no extractor")]
    UnknownType { property: String, found: String },
    #[error("key {key} is no time")]
    NotATime { key: Key },
    #[error("key {key} is in no range")]
    NoRange { key: Key },
    #[error("key {key} is not in the lookup map")]
    NoEntry { key: Key },
    #[error("key {key} does not say outer and inner key")]
    NotNested { key: Key },
    #[error("group {group} has no resolver")]
    UnknownGroup { group: CollectionLink },
    #[error("the map is in transition and neither scheme may be used")]
    InTransition,
}

/// What the caller can do about a [`ResolveError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The document or key is wrong: sending it again will fail again.
    FixRequest,
    /// The map does not cover this key: extend it, or give it a default.
    ExtendMap,
    /// Wait for the map to change, then try again.
    Retry,
}

impl ResolveError {
    /// What the caller can do.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::KeyMissing { .. }
            | Self::KeyUnusable { .. }
            | Self::UnknownType { .. }
            | Self::NotATime { .. }
            | Self::NotNested { .. } => Remedy::FixRequest,
            Self::NoRange { .. } | Self::NoEntry { .. } | Self::UnknownGroup { .. } => Remedy::ExtendMap,
            Self::InTransition => Remedy::Retry,
        }
    }
}
