//! Later maps: a split puts two partitions in the place of one, a merge one in the place of two neighbours.
//!
//! Throughput follows: while all fractions are equal they stay equal, so that a container's throughput is spread
//! evenly (R14); once somebody has moved throughput between partitions, children share their parent's part and a
//! merged partition gets the parts of both.

use super::{PartitionMap, PartitionStatus, PhysicalPartition};
use tesela_model::epk::{Epk, EpkRange};
use tesela_model::limits::PARTITION_ID_MAX;
use tesela_store::SpaceId;

/// Why there is no such map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MapError {
    #[error("there is no live partition {0}")]
    NoPartition(u32),
    #[error("partition {id} cannot be split at {at}: it is not inside its range")]
    OutsideRange { id: u32, at: Epk },
    #[error("partitions {0} and {1} are no neighbours")]
    NoNeighbours(u32, u32),
    #[error("the container has used up all {} partition ids", PARTITION_ID_MAX)]
    IdsUsedUp,
    #[error("the ranges leave a gap or overlap at {at}")]
    NotTiled { at: Epk },
    #[error("a partition id occurs twice, or is not below the next one")]
    RepeatedId,
    #[error("two partitions have the same key space")]
    SharedSpace,
    #[error("the throughput fractions add up to {whole}")]
    Fractions { whole: f64 },
}

impl PartitionMap {
    /// The map after partition `id` was split: `[min, at)` goes to the first space, `[at, max)` to the second.
    pub fn split(&self, id: u32, at: &Epk, spaces: [SpaceId; 2]) -> Result<Self, MapError> {
        let parent = self.by_id(id).ok_or(MapError::NoPartition(id))?;
        let outside = || MapError::OutsideRange { id, at: at.clone() };
        let low = EpkRange::new(parent.range.min().clone(), at.clone()).ok_or_else(outside)?;
        let high = EpkRange::new(at.clone(), parent.range.max().clone()).ok_or_else(outside)?;
        let mut parents = parent.parents.clone();
        parents.push(id);
        let fraction = parent.throughput_fraction / 2.0;
        let children = [(low, spaces[0]), (high, spaces[1])];
        self.replace(&[id], parents, children.map(|(range, space)| (range, space, fraction)).to_vec())
    }

    /// The map after two neighbours, in either order, became one.
    pub fn merge(&self, a: u32, b: u32, space: SpaceId) -> Result<Self, MapError> {
        let first = self.by_id(a).ok_or(MapError::NoPartition(a))?;
        let second = self.by_id(b).ok_or(MapError::NoPartition(b))?;
        let (low, high) = if first.range.min() < second.range.min() { (first, second) } else { (second, first) };
        if low.range.max() != high.range.min() {
            return Err(MapError::NoNeighbours(a, b));
        }
        let range = EpkRange::new(low.range.min().clone(), high.range.max().clone()).expect("neighbours ascend");
        // Ids grow with time, so ascending is oldest first.
        let mut parents = [low.parents.as_slice(), &high.parents, &[a, b]].concat();
        parents.sort_unstable();
        parents.dedup();
        let fraction = low.throughput_fraction + high.throughput_fraction;
        self.replace(&[a, b], parents, vec![(range, space, fraction)])
    }

    /// The map with one partition in another state.
    pub fn with_status(&self, id: u32, status: PartitionStatus) -> Result<Self, MapError> {
        let mut partitions = self.partitions.clone();
        let partition = partitions.iter_mut().find(|partition| partition.id == id).ok_or(MapError::NoPartition(id))?;
        partition.status = status;
        Self::from_parts(self.epoch + 1, self.next_id, partitions)
    }

    fn replace(&self, gone: &[u32], parents: Vec<u32>, new: Vec<(EpkRange, SpaceId, f64)>) -> Result<Self, MapError> {
        let even = self.is_even();
        let mut partitions: Vec<PhysicalPartition> =
            self.partitions.iter().filter(|partition| !gone.contains(&partition.id)).cloned().collect();
        let mut next_id = self.next_id;
        for (range, space, throughput_fraction) in new {
            if next_id > PARTITION_ID_MAX {
                return Err(MapError::IdsUsedUp);
            }
            let status = PartitionStatus::Online;
            let parents = parents.clone();
            partitions.push(PhysicalPartition { id: next_id, space, range, parents, status, throughput_fraction });
            next_id += 1;
        }
        if even {
            let fraction = 1.0 / partitions.len() as f64;
            partitions.iter_mut().for_each(|partition| partition.throughput_fraction = fraction);
        }
        Self::from_parts(self.epoch + 1, next_id, partitions)
    }

    fn is_even(&self) -> bool {
        let first = self.partitions[0].throughput_fraction;
        self.partitions.iter().all(|partition| partition.throughput_fraction == first)
    }
}
