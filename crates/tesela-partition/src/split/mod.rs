//! What a partition does when others take its place: its documents are carried over while it goes on serving.
//!
//! # What it models
//!
//! A split replaces one partition by two, a merge two neighbours by one. Both are the same work: every *source* hands
//! each of its logical partitions to the one *target* whose range holds it. A [`Transfer`] does this for one source;
//! whoever coordinates it (the router) has one for each source and installs the new map at the end.
//!
//! ```text
//! begin      hold the writer, remember LSN p and a snapshot, keep tombstones from here on; let the writer go
//! copy       page by page from the snapshot                        targets = source at p
//! catch up   what was written behind p, then behind that, …        targets = source at a later p
//! finish     hold the writer again; the rest becomes a batch       targets + batch = source
//! ```
//!
//! The batch is committed together with the new map, so that at no moment, and after no crash, does a document live in
//! none or two of the partitions clients can reach.
//!
//! # How rows are carried over
//!
//! A document keeps its ordinal (so `_rid` and every continuation stay valid), its LSN and its text (so its ETag does).
//! Its rows in the target are made from it by the function that writes them everywhere
//! ([`crate::write::rows::place`]): the index of a target equals a rebuild by construction. Rows of a logical partition
//! and of the history are moved as they are. Ordinals a target hands out itself begin with its own, higher id.
//!
//! # Catching up
//!
//! The latest-version feed names each changed document once, at its last version; tombstones name those that went.
//! What the targets hold of all of them is cleared first, then the new versions are placed. One by one would not do:
//! document X may give up a unique value, or an id, that Y takes, and come after Y in the feed.
//!
//! ```text
//! position 10   X@4 {v:1}              targets hold X@4
//! 11            X@11 {v:2}
//! 12            Y@12 {v:1}
//! 13            X@13 {v:3}             feed behind 10: Y@12, X@13
//! ```
//!
//! # Invariants
//!
//! * Nothing reads a target before its map is installed, so a transfer may be dropped anywhere: the source never
//!   stopped being the truth. What is left are the targets' spaces (dropped by whoever made them) and tombstones
//!   (removed by the next transfer).
//! * [`Transfer::finish`] compares what it has carried over with the source's own counters and refuses to go on if
//!   they differ.
//! * A transfer works by one definition of the container. If that changes, the coordinator begins anew.
//!
//! Left out: which partition to split and when, spaces, maps, pace. The router decides those.

mod balance;
mod transfer;

pub use balance::Balance;
pub use transfer::{Finished, Portion, Transfer};

use crate::error::{ReadError, WriteError};
use crate::layout::{Counters, Key, LayoutError};
use tesela_model::epk::{Epk, EpkRange};
use tesela_store::{Batch, SpaceId};

/// A partition to be: an empty key space, and the range it will own.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub space: SpaceId,
    pub range: EpkRange,
}

/// How much was carried over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub documents: u64,
    /// UTF-8 bytes of their texts without system properties.
    pub bytes: u64,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.documents += other.documents;
        self.bytes += other.bytes;
    }

    fn came(&mut self, bytes: u32) {
        self.documents += 1;
        self.bytes += u64::from(bytes);
    }

    fn went(&mut self, bytes: u32) {
        self.documents -= 1;
        self.bytes -= u64::from(bytes);
    }
}

/// Puts the counters a target begins with. `lsn` is above every LSN of its sources: session tokens and change feed
/// positions of theirs are then behind it.
pub fn put_counters(batch: &mut Batch, space: SpaceId, lsn: u64, tally: Tally) {
    let counters = Counters { lsn, documents: tally.documents, bytes: tally.bytes, issued: 0 };
    batch.put(space, Key::counters(), counters.encode());
}

/// Why a transfer came to nothing. The source is as it was.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TransferError {
    #[error("the copy of partition {partition} holds {copied:?}, the partition itself {held:?}")]
    Unequal { partition: u32, copied: Tally, held: Tally },
    #[error("partition {partition} holds the key {epk}, which no target takes")]
    NoTarget { partition: u32, epk: Epk },
    #[error(transparent)]
    Rows(#[from] WriteError),
}

impl From<tesela_store::Error> for TransferError {
    fn from(error: tesela_store::Error) -> Self {
        Self::Rows(error.into())
    }
}

impl From<LayoutError> for TransferError {
    fn from(error: LayoutError) -> Self {
        Self::Rows(error.into())
    }
}

impl From<ReadError> for TransferError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Layout(error) => error.into(),
            ReadError::Store(error) => error.into(),
        }
    }
}
