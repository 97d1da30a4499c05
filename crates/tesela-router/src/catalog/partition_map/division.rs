//! The first division of a new container: equal parts of what keys hash to, not of the declared space.
//!
//! Version 2 hashes are 126-bit numbers, so part k of n begins at `k · ⌊(2^126 − 1) / n⌋`, as 32 hexadecimal digits.
//! Version 1 hashes are 32-bit numbers written in the ordered form of numbers, so part k begins at the ordered form of
//! `k · ⌊(2^32 − 1) / n⌋`. Five parts:
//!
//! ```text
//! version 2   "" 0CCC…CCC 1999…998 2666…664 3333…330 FF
//! version 1   "" 05C1C999… 05C1D9CD673398 … FF
//! ```

use super::{PartitionMap, PartitionStatus, PhysicalPartition};
use tesela_model::epk::{Epk, EpkRange, effective_partition_key};
use tesela_model::limits::CONTAINER_PARTITIONS_MAX;
use tesela_model::partition_key::{Component, PartitionKeyDefinition, PartitionKeyKind, PartitionKeyValue};
use tesela_store::SpaceId;

const HASH_V2_MAX: u128 = (1 << 126) - 1;

/// How many partitions a new container gets: one for each `partition_ru` of its throughput.
pub fn initial_partitions(ru: u32, partition_ru: u32) -> u32 {
    ru.div_ceil(partition_ru).clamp(1, CONTAINER_PARTITIONS_MAX)
}

impl PartitionMap {
    /// Equal parts, one for each key space; ids from 0 in the order of the ranges.
    pub fn divide(key: &PartitionKeyDefinition, spaces: &[SpaceId]) -> Self {
        let count = u32::try_from(spaces.len()).expect("partitions are counted in 32 bits");
        assert!(count > 0, "a container has at least one partition");
        let mut bounds: Vec<Epk> = (1..count).map(|part| boundary(key, part, count)).collect();
        bounds.insert(0, Epk::min());
        bounds.push(Epk::max());
        let partition = |(id, (space, pair)): (u32, (&SpaceId, &[Epk]))| PhysicalPartition {
            id,
            space: *space,
            range: EpkRange::new(pair[0].clone(), pair[1].clone()).expect("boundaries ascend"),
            parents: Vec::new(),
            status: PartitionStatus::Online,
            throughput_fraction: 1.0 / f64::from(count),
        };
        let partitions = (0..count).zip(spaces.iter().zip(bounds.windows(2))).map(partition).collect();
        Self::from_parts(FIRST_EPOCH, count, partitions).expect("equal parts tile the space")
    }
}

const FIRST_EPOCH: u64 = 1;

/// The point that divides a range into two equal parts of what keys hash to; `None` when no key lies inside.
///
/// A range inside one first-level value of a hierarchical key is halved on the second level, and so on.
pub fn halfway(key: &PartitionKeyDefinition, range: &EpkRange) -> Option<Epk> {
    let middle = match key.kind == PartitionKeyKind::Hash && key.version_number() == 1 {
        true => halfway_v1(key, range),
        false => halfway_v2(range.min().as_bytes(), Some(range.max().as_bytes()), key.paths.len()),
    };
    middle.filter(|point| range.min() < point && point < range.max())
}

/// Hash numbers are few enough to be searched: their ordered form ascends with them.
fn halfway_v1(key: &PartitionKeyDefinition, range: &EpkRange) -> Option<Epk> {
    let first_at_least = |bound: &Epk| {
        let (mut low, mut high) = (0_u64, u64::from(u32::MAX) + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if boundary_v1(key, middle as u32) < *bound { low = middle + 1 } else { high = middle }
        }
        low
    };
    let (low, high) = (first_at_least(range.min()), first_at_least(range.max()).min(u64::from(u32::MAX)));
    (low < high).then(|| boundary_v1(key, (low + (high - low) / 2) as u32))
}

/// `max` is `None` where everything that begins as the level before is inside.
fn halfway_v2(min: &[u8], max: Option<&[u8]>, levels: usize) -> Option<Epk> {
    const LEVEL_BYTES: usize = 16;
    if levels == 0 {
        return None;
    }
    let number = |bytes: &[u8]| {
        let mut level = [0; LEVEL_BYTES];
        let length = bytes.len().min(LEVEL_BYTES);
        level[..length].copy_from_slice(&bytes[..length]);
        u128::from_be_bytes(level)
    };
    let low = number(min);
    let high = max.map_or(HASH_V2_MAX, number).min(HASH_V2_MAX);
    let middle = low + high.saturating_sub(low) / 2;
    if middle > low {
        return Some(Epk::from_bytes(middle.to_be_bytes()));
    }
    let below = |bytes: &[u8]| bytes.get(LEVEL_BYTES..).unwrap_or_default().to_vec();
    let max = max.filter(|max| number(max) == low).map(below);
    let rest = halfway_v2(&below(min), max.as_deref(), levels - 1)?;
    Some(Epk::from_bytes([&low.to_be_bytes()[..], rest.as_bytes()].concat()))
}

fn boundary(key: &PartitionKeyDefinition, part: u32, parts: u32) -> Epk {
    if key.kind == PartitionKeyKind::Hash && key.version_number() == 1 {
        return boundary_v1(key, part * (u32::MAX / parts));
    }
    let hash = u128::from(part) * (HASH_V2_MAX / u128::from(parts));
    Epk::from_bytes(hash.to_be_bytes())
}

fn boundary_v1(key: &PartitionKeyDefinition, hash: u32) -> Epk {
    let ordered = PartitionKeyDefinition { kind: PartitionKeyKind::Range, ..key.clone() };
    effective_partition_key(&PartitionKeyValue::new(vec![Component::Number(f64::from(hash))]), &ordered)
}
