//! Consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, 2016), over buckets.
//!
//! In the paper balls walk the ring until a bin has room. A stored document cannot walk: the reader would have to
//! know who was full when it was written. So what walks here are the B fixed buckets, when the map is made:
//! each starts where its number hashes to on the ring and goes on to the next node until its collection
//! holds fewer than the limit. The result depends on the members, weights, limit and hash alone — never on history —
//! and a lookup is one table access.
//!
//! Invariant: no collection owns more than `ceil(limit × its fair share)` buckets.
//!
//! Price: an addition changes the room of all, so some buckets move between old collections. The paper bounds
//! them by O(1/ε²) per change of one bucket's worth; the bench counts them. Where no needless move is
//! acceptable, take [`super::BucketMap`].

use super::buckets::{BucketTable, check_bucket_count};
use super::{Members, Ring, Stretch};
use crate::error::ConfigError;
use crate::hash::Hasher;
use crate::limits::VIRTUAL_NODES_DEFAULT;

/// Buckets that were walked round a ring until a collection had room.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedLoad {
    members: Members,
    limit_percent: u32,
    table: BucketTable,
}

impl BoundedLoad {
    /// `limit_percent` is the most a collection may hold, in percent of its fair share: above 100.
    pub fn new(hasher: &Hasher, members: Members, buckets: u32, limit_percent: u32) -> Result<Self, ConfigError> {
        let buckets = check_bucket_count(buckets as usize, members.len())?;
        if limit_percent <= 100 {
            return Err(ConfigError::LoadLimit { found: limit_percent });
        }
        let ring = Ring::new(hasher, members.clone(), VIRTUAL_NODES_DEFAULT)?;
        let nodes: Vec<(u128, usize)> = ring.nodes().collect();
        let mut room = rooms(&members, buckets, limit_percent);
        let mut owners = Vec::with_capacity(buckets as usize);
        for bucket in 0..buckets {
            let point = hasher.point(&bucket.to_le_bytes());
            let first = nodes.partition_point(|(node, _)| *node <= point);
            let owner = (0..nodes.len())
                .map(|step| nodes[(first + step) % nodes.len()].1)
                .find(|&owner| room[owner] > 0)
                .expect("rooms add up to more than the buckets");
            room[owner] -= 1;
            owners.push(owner as u32);
        }
        Ok(Self { members, limit_percent, table: BucketTable::new(owners) })
    }

    pub(super) fn with_members(&self, hasher: &Hasher, members: Members) -> Result<Self, ConfigError> {
        Self::new(hasher, members, self.buckets(), self.limit_percent)
    }

    /// The collections.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> u32 {
        self.table.owners().len() as u32
    }

    /// The most a collection may hold, in percent of its fair share.
    pub fn limit_percent(&self) -> u32 {
        self.limit_percent
    }

    /// Index of the collection that owns a scaled point.
    #[inline]
    pub fn owner(&self, scaled: u64) -> usize {
        self.table.owner(scaled)
    }

    pub(super) fn stretches(&self, hasher: &Hasher) -> Vec<Stretch> {
        self.table.stretches(hasher)
    }
}

/// Buckets each member may hold: the limit times its fair share, rounded up.
fn rooms(members: &Members, buckets: u32, limit_percent: u32) -> Vec<u64> {
    let weights = u128::from(members.total_weight());
    let room = |weight: u32| {
        (u128::from(buckets) * u128::from(limit_percent) * u128::from(weight)).div_ceil(100 * weights) as u64
    };
    members.iter().map(|member| room(member.weight)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Member;
    use super::*;

    #[test]
    fn no_collection_holds_more_than_its_limit() {
        for (limit, weights) in [(101, vec![1; 7]), (125, vec![1; 100]), (105, vec![3, 1, 2, 5])] {
            let members = weights.iter().enumerate().map(|(n, &weight)| Member::weighted(format!("c{n}"), weight));
            let members = Members::new(members).unwrap();
            let placed = BoundedLoad::new(&Hasher::murmur3_128(), members.clone(), 4096, limit).unwrap();
            let mut counts = vec![0u64; members.len()];
            for &owner in placed.table.owners() {
                counts[owner as usize] += 1;
            }
            let rooms = rooms(&members, 4096, limit);
            assert!(counts.iter().zip(&rooms).all(|(count, room)| count <= room), "{counts:?} {rooms:?}");
            assert!(
                counts.iter().zip(&rooms).any(|(count, room)| count == room),
                "the limit {limit} never bit: {counts:?} {rooms:?}"
            );
        }
    }

    #[test]
    fn a_limit_at_the_mean_is_refused() {
        let made = BoundedLoad::new(&Hasher::md5(), Members::new(["a"]).unwrap(), 16, 100);
        assert_eq!(made, Err(ConfigError::LoadLimit { found: 100 }));
    }
}
