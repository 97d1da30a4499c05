//! Limits of the resolver library, each with its unit last and its origin.

/// Collections one map may name. Ours: fan-out to all of them must stay thinkable.
pub const COLLECTIONS_MAX: usize = 65_536;
/// Weight of a collection relative to the others. Ours: keeps products of weights and buckets in 64 bits.
pub const WEIGHT_MAX: u32 = 1_000;
/// Virtual nodes of a collection of weight 1 on a ring (default of the DocumentDB library, R28).
pub const VIRTUAL_NODES_DEFAULT: u32 = 16;
/// Points of a whole ring. Ours: 64 MB of points.
pub const RING_POINTS_MAX: usize = 1 << 22;
/// Buckets of a new bucket map. Ours: at 1,000 collections one bucket more or less is 6 % of a share;
/// at 100 it is 0.6 %.
pub const BUCKETS_DEFAULT: u32 = 16_384;
/// Buckets a map may have. Ours: a table of 4 MB.
pub const BUCKETS_MAX: u32 = 1 << 20;
/// Share of the mean a collection may hold under bounded load, in percent. Ours: the figure the
/// authors of the method use in their own deployment.
pub const LOAD_LIMIT_PERCENT_DEFAULT: u32 = 125;
/// Resolvers inside resolvers. Ours: bounds the recursion of reading stored state.
pub const RESOLVER_DEPTH_MAX: usize = 16;
/// Components of a compound key, and its nesting. Ours.
pub const KEY_COMPONENTS_MAX: usize = 16;
/// Ranges or lookup entries of one map. Ours: a stored map must fit an item of 2 MB.
pub const MAP_ENTRIES_MAX: usize = 16_384;
/// Suffixes of a synthetic key, which is also the number of keys a read may have to visit. Ours.
pub const SUFFIXES_MAX: u32 = 100_000;
/// Parts of a synthetic key. Ours.
pub const SYNTHETIC_PARTS_MAX: usize = 32;
/// Text form of a synthetic key. Ours: a line one can read.
pub const SYNTHETIC_TEXT_BYTES_MAX: usize = 4_096;
/// Bytes of a stored map. Ours: a map kept in a collection is one item.
pub const STATE_BYTES_MAX: usize = tesela_model::limits::DOCUMENT_BYTES_MAX;

const _: () = assert!(COLLECTIONS_MAX <= u32::MAX as usize, "collections are numbered by u32");
const _: () = assert!(BUCKETS_DEFAULT <= BUCKETS_MAX, "the default must be allowed");
const _: () = assert!(VIRTUAL_NODES_DEFAULT as usize * COLLECTIONS_MAX <= RING_POINTS_MAX, "the default ring must fit");
const _: () = assert!(LOAD_LIMIT_PERCENT_DEFAULT > 100, "a limit below the mean cannot be met");
