//! The partition map of a container: which physical partition owns which part of the key-hash space (R8–R10).
//!
//! A map is immutable; a change makes a new one with the next epoch. A request that holds a map therefore sees one
//! consistent division however long it takes.
//!
//! ```text
//! epoch 1   |------------------ 0 ------------------|
//! epoch 2   |------- 1 -------|--------- 2 ---------|    split(0):  parents of 1 and 2: [0]
//! epoch 3   |------- 1 -------|---- 3 ----|--- 4 ---|    split(2):  parents of 3 and 4: [0, 2]
//! epoch 4   |------------- 5 -------------|--- 4 ---|    merge(1, 3): parents of 5: [0, 1, 2, 3]
//! ```
//!
//! Invariants (checked whenever a map is made)
//! * The ranges tile `["", "FF")`: every EPK has exactly one owner.
//! * Ids are handed out in ascending order and never again, so a client that names an old one is told it is gone.
//! * A key space belongs to one partition.
//! * The throughput fractions add up to 1.
//!
//! [`division`](PartitionMap::divide) makes the first map, [`change`] the later ones, [`feed`] the text clients read.
//!
//! Left out: moving data. Whoever changes a map copies first and installs afterwards.

mod change;
mod division;
mod feed;

pub use change::MapError;
pub use division::{halfway, initial_partitions};
pub use feed::{ranges_etag, ranges_feed};

use tesela_model::epk::{Epk, EpkRange};
use tesela_store::SpaceId;

/// One physical partition as the map knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct PhysicalPartition {
    /// Decimal on the wire.
    pub id: u32,
    /// Where its rows are; unique in the whole store.
    pub space: SpaceId,
    pub range: EpkRange,
    /// All ancestors, oldest first.
    pub parents: Vec<u32>,
    pub status: PartitionStatus,
    /// Its part of the container's throughput.
    pub throughput_fraction: f64,
}

/// What clients are told about a range; the words are the wire's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartitionStatus {
    Online,
    Splitting,
    Offline,
    Split,
}

impl PartitionStatus {
    const ALL: [Self; 4] = [Self::Online, Self::Splitting, Self::Offline, Self::Split];

    pub fn name(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Splitting => "splitting",
            Self::Offline => "offline",
            Self::Split => "split",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PartitionMap {
    epoch: u64,
    next_id: u32,
    /// By range.
    partitions: Vec<PhysicalPartition>,
    /// (id, index in `partitions`), by id.
    by_id: Vec<(u32, usize)>,
}

impl PartitionMap {
    /// From parts that came from somewhere else (the store); `Err` says which invariant they break.
    pub fn from_parts(epoch: u64, next_id: u32, mut partitions: Vec<PhysicalPartition>) -> Result<Self, MapError> {
        partitions.sort_by(|a, b| a.range.min().cmp(b.range.min()));
        let mut by_id: Vec<(u32, usize)> =
            partitions.iter().enumerate().map(|(index, partition)| (partition.id, index)).collect();
        by_id.sort_unstable();
        let map = Self { epoch, next_id, partitions, by_id };
        map.check()?;
        Ok(map)
    }

    fn check(&self) -> Result<(), MapError> {
        let mut at = Epk::min();
        for partition in &self.partitions {
            if *partition.range.min() != at {
                return Err(MapError::NotTiled { at });
            }
            at = partition.range.max().clone();
        }
        if at != Epk::max() {
            return Err(MapError::NotTiled { at });
        }
        if self.by_id.windows(2).any(|pair| pair[0].0 == pair[1].0)
            || self.by_id.last().is_none_or(|(id, _)| *id >= self.next_id)
        {
            return Err(MapError::RepeatedId);
        }
        let mut spaces: Vec<SpaceId> = self.spaces().collect();
        spaces.sort_unstable();
        if spaces.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(MapError::SharedSpace);
        }
        let whole: f64 = self.partitions.iter().map(|partition| partition.throughput_fraction).sum();
        if (whole - 1.0).abs() > FRACTION_ERROR_MAX {
            return Err(MapError::Fractions { whole });
        }
        Ok(())
    }

    /// Grows by one with every change.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The id the next new partition gets.
    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    /// In the order of their ranges.
    pub fn partitions(&self) -> &[PhysicalPartition] {
        &self.partitions
    }

    pub fn spaces(&self) -> impl Iterator<Item = SpaceId> + '_ {
        self.partitions.iter().map(|partition| partition.space)
    }

    /// The partition that holds this point. Points past the end of the space belong to the last one.
    pub fn owner(&self, point: &Epk) -> &PhysicalPartition {
        let behind = self.partitions.partition_point(|partition| partition.range.min() <= point);
        &self.partitions[behind - 1]
    }

    /// The partitions that hold points of this range, in its order.
    pub fn overlapping(&self, range: &EpkRange) -> &[PhysicalPartition] {
        let first = self.partitions.partition_point(|partition| partition.range.max() <= range.min());
        let end = self.partitions.partition_point(|partition| partition.range.min() < range.max());
        &self.partitions[first.min(end)..end]
    }

    /// `None` for an id that is gone or never was.
    pub fn by_id(&self, id: u32) -> Option<&PhysicalPartition> {
        let found = self.by_id.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.partitions[self.by_id[found].1])
    }

    /// The live partitions that hold what a partition that is gone held.
    pub fn descendants(&self, id: u32) -> impl Iterator<Item = &PhysicalPartition> + '_ {
        self.partitions.iter().filter(move |partition| partition.parents.contains(&id))
    }
}

/// Fractions are sums and halves of doubles.
const FRACTION_ERROR_MAX: f64 = 1e-6;

#[cfg(test)]
mod tests;
