//! What a physical partition keeps, byte for byte.
//!
//! Everything a partition owns lies in one ordered key space, told apart by the first byte of the key:
//!
//! | tag | key behind the tag | value | serves |
//! |---|---|---|---|
//! | 01 | – | [`Counters`] | LSN, item count, bytes, next ordinal |
//! | 02 | ordinal | [`DocumentRecord`] | scans in `_rid` (insertion) order; the documents themselves |
//! | 03 | EPK, id | ordinal | point reads (R5: (partition key, id) identifies an item) |
//! | 04 | EPK, ordinal | – | scans of one logical partition, in `_rid` order |
//! | 05 | EPK | [`LogicalRecord`] | size and last change of a logical partition (R11) |
//! | 06 | LSN, sequence, ordinal | – | change feed, latest version |
//! | 07 | LSN, sequence, partition id | [`HistoryRecord`] | change feed, all versions and deletes |
//! | 08 | path, value, ordinal | – | the range index |
//! | 09 | index id, values, ordinal or its inverse | – | composite indexes |
//! | 0A | EPK, constraint, values | ordinal | unique keys |
//! | 0B | expiry, ordinal | – | items with a `ttl` of their own |
//! | 0C | LSN, ordinal | EPK | items that went while the partition was being copied ([`crate::split`]) |
//! | 0D | – | the indexing policy, as text | by which policy all index rows were made ([`crate::reindex`]) |
//!
//! Numbers in keys are big endian, strings escaped and terminated ([`tesela_store::keycode`]); numbers in values are
//! little endian and each value starts with a format version, so that what one release wrote the next can read.
//! A document's rows are written and removed together, in one commit, by [`crate::write`] alone. A split or merge
//! carries every row but 01, 0C and 0D over: a new kind of row is either made from the document there or moved in
//! [`crate::split`].

mod keys;
mod record;

pub use keys::Key;
pub use record::{Counters, DocumentRecord, HistoryRecord, LogicalRecord, Operation};

/// Bytes that do not say what they should: damage, or a format of a newer release.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stored {what} cannot be read: {reason}")]
pub struct LayoutError {
    pub what: &'static str,
    pub reason: String,
}
