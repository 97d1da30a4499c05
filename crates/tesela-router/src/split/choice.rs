//! Which partition is split, and where.
//!
//! For throughput every partition is as good as another, since all get equal parts of it: the one with most data is
//! taken, then the widest, then the oldest, so that a container without data grows evenly too.
//!
//! The point: half of the partition's hash range while that is a fair division of its data, else the beginning of the
//! logical partition that divides the bytes best. A logical partition is one point of the hash space, so no choice
//! cuts one; a hierarchical key may be divided inside its first level.

use super::{ReshapeError, SplitPoint};
use crate::catalog::{Container, PhysicalPartition, halfway};
use crate::router::Router;
use tesela_model::epk::{Epk, EpkRange};
use tesela_partition::split::Balance;
use tesela_store::Store;

/// A division is fair while the larger side has no more than this part of the bytes. Ours: hashes of a few hundred keys
/// stay below it, a hot key does not.
const FAIR_SHARE: f64 = 2.0 / 3.0;

impl<S: Store> Router<S> {
    /// The partition to split when a container needs one more.
    pub(super) async fn partition_to_split(&self, container: &Container) -> Result<u32, ReshapeError> {
        let mut best: Option<(u64, u64, u32)> = None;
        for physical in container.partitions.partitions() {
            let bytes = self.partition(container, physical).await?.counters().bytes;
            let candidate = (bytes, width(&physical.range), physical.id);
            let better = |(bytes, width, id): (u64, u64, u32)| {
                (candidate.0, candidate.1) > (bytes, width)
                    || (candidate.0, candidate.1) == (bytes, width) && candidate.2 < id
            };
            if best.is_none_or(better) {
                best = Some(candidate);
            }
        }
        Ok(best.expect("a map has partitions").2)
    }

    /// The point to split a partition at.
    pub(super) async fn split_point(
        &self,
        container: &Container,
        physical: &PhysicalPartition,
        wanted: &SplitPoint,
    ) -> Result<Epk, ReshapeError> {
        if let SplitPoint::At(point) = wanted {
            return Ok(point.clone());
        }
        let half = halfway(&container.definition.partition_key, &physical.range);
        let partition = self.partition(container, physical).await?;
        let balance = partition.balance(half.as_ref().unwrap_or(physical.range.max())).await?;
        let point = choose(half, balance, *wanted == SplitPoint::BySize);
        // The first logical partition may begin where the range does.
        let point = point.filter(|point| physical.range.min() < point && point < physical.range.max());
        point.ok_or(ReshapeError::Indivisible { id: physical.id })
    }
}

/// Half of the range, unless the data says otherwise.
fn choose(half: Option<Epk>, balance: Balance, by_size: bool) -> Option<Epk> {
    let share = |below: u64| below.max(balance.bytes.saturating_sub(below)) as f64 / balance.bytes.max(1) as f64;
    let of_half = half.map(|point| (share(balance.below), point));
    let of_data = balance.best.map(|(point, below)| (share(below), point));
    match (of_half, of_data) {
        (Some((share, half)), _) if share <= FAIR_SHARE => Some(half),
        (Some((half_share, half)), Some((share, point))) => Some(if share < half_share { point } else { half }),
        (None, Some((_, point))) => Some(point),
        // Everything is in one logical partition, or there is nothing: a split still halves the hash range.
        (Some((_, half)), None) => (!by_size).then_some(half),
        (None, None) => None,
    }
}

/// About how much of the space a range covers. Rounded, since halves of an odd number are not equal.
fn width(range: &EpkRange) -> u64 {
    const ROUNDED_BITS: u32 = 32;
    let start = |epk: &Epk| {
        let mut bytes = [0; 8];
        let length = epk.as_bytes().len().min(8);
        bytes[..length].copy_from_slice(&epk.as_bytes()[..length]);
        // No key hashes to more: the space is declared four times as large as it is used.
        u64::from_be_bytes(bytes).min(u64::MAX >> 2)
    };
    (start(range.max()) - start(range.min())).saturating_add(1 << (ROUNDED_BITS - 1)) >> ROUNDED_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_half_is_taken_while_it_is_fair() {
        let half = || Epk::from_hex("20");
        let other = |below| Some((Epk::from_hex("0A").unwrap(), below));
        for (bytes, below, best, by_size, wanted) in [
            (0, 0, None, false, Some("20")),
            (0, 0, None, true, Some("20")),
            (300, 100, other(150), false, Some("20")),
            (300, 99, other(150), false, Some("0A")),
            (300, 300, other(298), false, Some("0A")),
            (300, 299, other(300), false, Some("20")),
            (300, 300, None, false, Some("20")),
            (300, 300, None, true, None),
        ] {
            let found = choose(half(), Balance { bytes, below, best: best.clone() }, by_size);
            assert_eq!(found, wanted.and_then(Epk::from_hex), "{bytes} {below} {best:?} {by_size}");
        }
        assert_eq!(choose(None, Balance { bytes: 9, below: 9, best: other(3) }, true), Epk::from_hex("0A"));
        assert_eq!(choose(None, Balance { bytes: 9, below: 9, best: None }, false), None);
    }
}
