//! R9, R10: every EPK is owned exactly once, in every epoch.

use super::*;
use proptest::prelude::*;
use tesela_model::json;
use tesela_model::partition_key::PartitionKeyDefinition;
use tesela_model::rid::ResourceId;

fn spaces(count: u64) -> Vec<SpaceId> {
    (1..=count).map(SpaceId).collect()
}

fn v2() -> PartitionKeyDefinition {
    PartitionKeyDefinition::hash("/pk", Some(2))
}

fn bounds(map: &PartitionMap) -> Vec<String> {
    map.partitions().iter().map(|partition| partition.range.max().to_hex()).collect()
}

#[test]
fn a_new_container_is_divided_as_sdks_expect() {
    for (ru, count) in [(400, 1), (6_000, 1), (6_001, 2), (10_100, 2), (11_000, 2), (12_000, 2), (30_000, 5), (0, 1)] {
        assert_eq!(initial_partitions(ru, 6_000), count, "{ru} RU/s");
    }
    assert_eq!(bounds(&PartitionMap::divide(&v2(), &spaces(1))), ["FF"]);
    assert_eq!(bounds(&PartitionMap::divide(&v2(), &spaces(2))), ["1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "FF"]);
    let five = PartitionMap::divide(&v2(), &spaces(5));
    assert_eq!(
        bounds(&five),
        [
            "0CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC",
            "19999999999999999999999999999998",
            "26666666666666666666666666666664",
            "33333333333333333333333333333330",
            "FF"
        ]
    );
    assert_eq!(five.partitions().iter().map(|partition| partition.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    // A version 1 boundary seen in the data of an official SDK.
    let first = PartitionMap::divide(&PartitionKeyDefinition::hash("/pk", None), &spaces(5));
    assert_eq!(bounds(&first)[1], "05C1D9CD673398");
}

/// Keys of a real account and the half of the space they were in.
#[test]
fn known_keys_fall_into_their_half() {
    use tesela_model::epk::effective_partition_key;
    use tesela_model::partition_key::{Component, PartitionKeyValue};
    let map = PartitionMap::divide(&v2(), &spaces(2));
    let upper: Vec<u32> = (0..10)
        .filter(|number| {
            let key = PartitionKeyValue::new(vec![Component::String(format!("partition{number}"))]);
            map.owner(&effective_partition_key(&key, &v2())).id == 1
        })
        .collect();
    assert_eq!(upper, [1, 6, 8]);
}

#[test]
fn splits_and_merges_keep_history() {
    let half = Epk::from_hex("1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF").unwrap();
    let later = Epk::from_hex("30").unwrap();
    let one = PartitionMap::divide(&v2(), &spaces(1));
    let two = one.split(0, &half, [SpaceId(2), SpaceId(3)]).unwrap();
    let three = two.split(2, &later, [SpaceId(4), SpaceId(5)]).unwrap();
    let merged = three.merge(3, 1, SpaceId(6)).unwrap();
    assert_eq!((one.epoch(), merged.epoch()), (1, 4));
    let shape = |map: &PartitionMap| -> Vec<(u32, Vec<u32>)> {
        map.partitions().iter().map(|partition| (partition.id, partition.parents.clone())).collect()
    };
    assert_eq!(shape(&two), [(1, vec![0]), (2, vec![0])]);
    assert_eq!(shape(&three), [(1, vec![0]), (3, vec![0, 2]), (4, vec![0, 2])]);
    assert_eq!(shape(&merged), [(5, vec![0, 1, 2, 3]), (4, vec![0, 2])]);
    assert_eq!(three.partitions()[0].throughput_fraction, 1.0 / 3.0);
    assert_eq!(three.by_id(2), None);
    assert_eq!(three.descendants(2).map(|partition| partition.id).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(three.descendants(0).count(), 3);

    assert_eq!(two.split(0, &half, [SpaceId(8), SpaceId(9)]), Err(MapError::NoPartition(0)));
    for outside in [half.clone(), Epk::min(), later] {
        let refused = two.split(1, &outside, [SpaceId(8), SpaceId(9)]);
        assert_eq!(refused, Err(MapError::OutsideRange { id: 1, at: outside }));
    }
    assert_eq!(three.merge(1, 4, SpaceId(9)), Err(MapError::NoNeighbours(1, 4)));
    assert_eq!(three.merge(1, 1, SpaceId(9)), Err(MapError::NoNeighbours(1, 1)));
    assert_eq!(two.split(1, &Epk::from_hex("0A").unwrap(), [SpaceId(3), SpaceId(9)]), Err(MapError::SharedSpace));
    let splitting = two.with_status(2, PartitionStatus::Splitting).unwrap();
    assert_eq!((splitting.by_id(2).unwrap().status, splitting.epoch()), (PartitionStatus::Splitting, 3));
}

#[test]
fn moved_throughput_follows_the_data() {
    let mut partitions = PartitionMap::divide(&v2(), &spaces(2)).partitions().to_vec();
    partitions[0].throughput_fraction = 0.8;
    partitions[1].throughput_fraction = 0.2;
    let map = PartitionMap::from_parts(2, 2, partitions).unwrap();
    let map = map.split(0, &Epk::from_hex("08").unwrap(), [SpaceId(8), SpaceId(9)]).unwrap();
    let fractions = |map: &PartitionMap| -> Vec<f64> {
        map.partitions().iter().map(|partition| partition.throughput_fraction).collect()
    };
    assert_eq!(fractions(&map), [0.4, 0.4, 0.2]);
    assert_eq!(fractions(&map.merge(3, 1, SpaceId(10)).unwrap()), [0.4, 0.4 + 0.2]);
}

#[test]
fn a_map_that_breaks_a_promise_is_refused() {
    let good = PartitionMap::divide(&v2(), &spaces(3)).partitions().to_vec();
    let refused = |change: &dyn Fn(&mut Vec<PhysicalPartition>)| {
        let mut partitions = good.clone();
        change(&mut partitions);
        PartitionMap::from_parts(1, 3, partitions).unwrap_err()
    };
    assert!(matches!(refused(&|partitions| drop(partitions.remove(1))), MapError::NotTiled { .. }));
    assert!(matches!(refused(&|partitions| drop(partitions.pop())), MapError::NotTiled { .. }));
    assert!(matches!(refused(&Vec::clear), MapError::NotTiled { .. }));
    assert_eq!(refused(&|partitions| partitions[1].id = 0), MapError::RepeatedId);
    assert_eq!(refused(&|partitions| partitions[1].id = 3), MapError::RepeatedId);
    assert_eq!(refused(&|partitions| partitions[1].space = SpaceId(1)), MapError::SharedSpace);
    assert!(matches!(refused(&|partitions| partitions[1].throughput_fraction = 0.9), MapError::Fractions { .. }));
}

#[test]
fn the_feed_is_what_clients_read() {
    let container = ResourceId::container(1, 1);
    let map = PartitionMap::divide(&v2(), &spaces(2)).split(1, &Epk::from_hex("30").unwrap(), [SpaceId(8), SpaceId(9)]);
    let map = map.unwrap();
    let feed = ranges_feed(&container, "dbs/d/colls/c/", &map, 7);
    let feed = json::parse(feed.as_bytes()).unwrap();
    assert_eq!(feed.get("_count").unwrap().as_i64(), Some(3));
    assert_eq!(feed.get("_rid").unwrap().as_str(), Some("AAAAAYAAAAE="));
    let last = &feed.get("PartitionKeyRanges").unwrap().as_array().unwrap()[2];
    let wanted = concat!(
        r#"{"_rid":"AAAAAYAAAAEEAAAAAAAAUA==","id":"3","_etag":"\"AAAAAYAAAAE=-2\"","minInclusive":"30","#,
        r#""maxExclusive":"FF","ridPrefix":3,"_self":"dbs/d/colls/c/pkranges/AAAAAYAAAAEEAAAAAAAAUA==/","#,
        r#""throughputFraction":0.3333333333333333,"status":"online","parents":["1"],"ownedArchivalPKRangeIds":[],"#,
        r#""_ts":7,"lsn":2}"#
    );
    assert_eq!(json::to_string(last), wanted);
}

/// A change to try; numbers pick partitions and places.
#[derive(Clone, Debug)]
enum Step {
    Split(usize, [u8; 16]),
    Merge(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (any::<usize>(), any::<[u8; 16]>()).prop_map(|(which, at)| Step::Split(which, at)),
        1 => any::<usize>().prop_map(Step::Merge),
    ]
}

fn apply(map: &PartitionMap, step: &Step, next_space: &mut u64) -> Result<PartitionMap, MapError> {
    let mut space = || {
        *next_space += 1;
        SpaceId(*next_space)
    };
    let partitions = map.partitions();
    match step {
        Step::Split(which, at) => {
            let mut at = *at;
            at[0] &= 0x3F;
            let partition = &partitions[which % partitions.len()];
            map.split(partition.id, &Epk::from_bytes(at), [space(), space()])
        }
        Step::Merge(which) => {
            let low = which % partitions.len();
            let high = (low + 1) % partitions.len();
            map.merge(partitions[high].id, partitions[low].id, space())
        }
    }
}

proptest! {
    /// Invariant 1 of the architecture, over histories of splits and merges.
    #[test]
    fn every_point_is_owned_once_in_every_epoch(
        start in 1_u64..6,
        version in 1_u8..3,
        steps in prop::collection::vec(any_step(), 0..30),
        points in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 1..20),
    ) {
        let mut next_space = start;
        let mut map = PartitionMap::divide(&PartitionKeyDefinition::hash("/pk", Some(version)), &spaces(start));
        let mut points: Vec<Epk> = points.into_iter().map(Epk::from_bytes).filter(|point| *point < Epk::max()).collect();
        let mut used: Vec<u32> = map.partitions().iter().map(|partition| partition.id).collect();
        for step in &steps {
            let Ok(next) = apply(&map, step, &mut next_space) else { continue };
            prop_assert_eq!(next.epoch(), map.epoch() + 1);
            for partition in next.partitions() {
                let old = map.by_id(partition.id);
                prop_assert!(old.is_some() || !used.contains(&partition.id), "an id came back");
                prop_assert!(partition.parents.is_sorted() && partition.parents.iter().all(|id| *id < partition.id));
                if old.is_none() {
                    used.push(partition.id);
                }
            }
            points.extend(next.partitions().iter().map(|partition| partition.range.min().clone()));
            for point in &points {
                let owners: Vec<u32> = next.partitions().iter()
                    .filter(|partition| partition.range.contains(point)).map(|partition| partition.id).collect();
                prop_assert_eq!(&owners[..], &[next.owner(point).id][..]);
                // What held the point before is the new owner, or one of its ancestors.
                let before = map.owner(point).id;
                let after = next.owner(point);
                prop_assert!(after.id == before || after.parents.contains(&before));
            }
            map = next;
        }
        for pair in points.windows(2) {
            let Some(range) = EpkRange::new(pair[0].clone().min(pair[1].clone()), pair[0].clone().max(pair[1].clone()))
                else { continue };
            let found: Vec<u32> = map.overlapping(&range).iter().map(|partition| partition.id).collect();
            let wanted: Vec<u32> = map.partitions().iter()
                .filter(|partition| partition.range.intersection(&range).is_some()).map(|partition| partition.id).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
