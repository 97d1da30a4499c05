//! Splits and merges: a container's partition map changes while clients read and write (R8–R10).
//!
//! # What it models
//!
//! A *reshape* replaces partitions by others: one by two (a split), two neighbours by one (a merge). Its data is moved by
//! [`tesela_partition::split`]; here is everything around that: when, which, where, and the moment of the change.
//!
//! ```text
//! begin     key spaces for the new partitions; a transfer for each old one
//! copy      page by page, at a pace; the old partitions serve
//! catch up  rounds, until one is short
//! cut       old writers held; rest + counters + new map in ONE commit; old writers closed
//! retire    old spaces kept for readers that still hold the old map, then dropped
//! ```
//!
//! # What clients see
//!
//! * Point operations: nothing. A write that waited for the cut, or that comes with the old map in hand, is told *gone*
//!   by the old partition and goes to the new owner ([`Router::owner_after`]). Reads of the old partition answer until
//!   it is dropped.
//! * Requests that name the old range id: 410/1002 from the cut on; the client fetches the new ranges.
//! * LSNs go on: a new partition begins one above the highest LSN of those it came from. So their session tokens are
//!   met, and their change feed positions name what has been seen: documents keep their LSN. After a merge, positions of
//!   the two parents belong to their own parts of the range, which is how clients keep them. The version in session
//!   tokens stays −1 since LSNs never go back.
//!
//! # Crashes
//!
//! The cut is one commit, so a restart finds either the old map or the new one. Spaces that no map names are dropped when
//! the catalog is opened; an offer whose partitions are missing is pending again, and the coordinator begins anew. If the
//! commit of the cut ends without an answer, the old writers stay closed until the catalog has looked at the store:
//! whatever that finds decides who serves ([`Router::owner_after`] asks it).
//!
//! # When
//!
//! By throughput: an offer that asks for more than its partitions can give (10,000 RU/s each). By size: a partition that
//! holds more than [`SplitOptions::partition_bytes_max`]. By command. Merges by command alone: a merged container that
//! grows again would split again. Where: `choice`.
//!
//! # Where to look
//!
//! `reshape` is one change of a map, step by step; `choice` which partition and which point; `coordinator` the triggers,
//! commands and the background.

mod choice;
mod coordinator;
mod reshape;
mod retired;

pub use coordinator::PartitionState;

use crate::catalog::{CatalogError, MapError};
use crate::error::RouterError;
use coordinator::Locks;
use parking_lot::Mutex;
use retired::Retired;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tesela_model::epk::Epk;
use tesela_model::limits::PARTITION_BYTES_MAX;
use tesela_model::rid::ResourceId;
use tesela_partition::error::ReadError;
use tesela_partition::split::{Portion, TransferError};
use tesela_store::SpaceId;
use tokio::sync::Semaphore;

/// Splits and merges that copy at the same time. Ours: each takes a part of the disk from those who are served.
const RESHAPES_AT_ONCE_MAX: usize = 2;

/// What a user can set.
#[derive(Clone, Copy, Debug)]
pub struct SplitOptions {
    /// A partition that holds more is split.
    pub partition_bytes_max: u64,
    /// How fast data is copied; `None` is as fast as it goes.
    pub copy_bytes_per_second: Option<u64>,
    /// How long a partition that was replaced answers readers which still hold the old map.
    pub grace: Duration,
    pub portion: Portion,
}

impl Default for SplitOptions {
    fn default() -> Self {
        Self {
            partition_bytes_max: PARTITION_BYTES_MAX,
            copy_bytes_per_second: None,
            // Longer than any request may take.
            grace: Duration::from_secs(60),
            portion: Portion::default(),
        }
    }
}

/// Why a map was not changed. Everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ReshapeError {
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    Map(#[from] MapError),
    #[error(transparent)]
    Transfer(#[from] TransferError),
    #[error(transparent)]
    Router(#[from] RouterError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("partition {id} cannot be divided at a point between two logical partitions")]
    Indivisible { id: u32 },
    #[error("partitions {a} and {b} cannot be merged: the container's throughput needs {needed} partitions")]
    Needed { a: u32, b: u32, needed: u32 },
    #[error("partitions {a} and {b} cannot be merged: together they hold {bytes} bytes, more than {max}")]
    TooLarge { a: u32, b: u32, bytes: u64, max: u64 },
    #[error("the container's definition changed while its data was copied")]
    DefinitionChanged,
}

/// What the router keeps about changes of maps.
pub(crate) struct Splits {
    options: SplitOptions,
    locks: Locks,
    copying: Semaphore,
    retired: Mutex<Vec<Retired>>,
    /// Containers somebody is settling in the background.
    settling: Mutex<HashSet<ResourceId>>,
    /// Partitions that were too large and could not be divided, with their size then.
    indivisible: Mutex<HashMap<SpaceId, u64>>,
}

impl Splits {
    pub(crate) fn new(options: SplitOptions) -> Self {
        Self {
            options,
            locks: Locks::default(),
            copying: Semaphore::new(RESHAPES_AT_ONCE_MAX),
            retired: Mutex::default(),
            settling: Mutex::default(),
            indivisible: Mutex::default(),
        }
    }
}

/// A point a split was asked for, or the best there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitPoint {
    /// For throughput, or because somebody says so: halves of the hash space unless the data is skewed.
    Best,
    /// For size: only a point that divides the data will do.
    BySize,
    At(Epk),
}

#[cfg(test)]
mod tests;
