//! Where a range is halved.

use crate::catalog::{PartitionMap, halfway};
use tesela_model::epk::{Epk, EpkRange, effective_partition_key};
use tesela_model::json;
use tesela_model::partition_key::{Component, PartitionKeyDefinition, PartitionKeyValue};
use tesela_store::SpaceId;

fn range(min: &str, max: &str) -> EpkRange {
    EpkRange::new(Epk::from_hex(min).unwrap(), Epk::from_hex(max).unwrap()).unwrap()
}

#[test]
fn halves_are_even_parts_of_what_keys_hash_to() {
    let v2 = PartitionKeyDefinition::hash("/pk", Some(2));
    for (min, max, middle) in [
        ("", "FF", Some("1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF")),
        ("", "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", Some("0FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF")),
        ("1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "FF", Some("2FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF")),
        ("10", "11", Some("10800000000000000000000000000000")),
        ("40", "FF", None),
        ("10000000000000000000000000000000", "10000000000000000000000000000001", None),
    ] {
        assert_eq!(halfway(&v2, &range(min, max)), middle.and_then(Epk::from_hex), "{min}-{max}");
    }
}

/// A division into two by throughput and a split of the whole are the same.
#[test]
fn a_half_is_what_a_new_container_would_have() {
    for definition in [PartitionKeyDefinition::hash("/pk", None), PartitionKeyDefinition::hash("/pk", Some(2))] {
        let map = PartitionMap::divide(&definition, &[SpaceId(1), SpaceId(2)]);
        assert_eq!(halfway(&definition, &EpkRange::full()).as_ref(), Some(map.partitions()[0].range.max()));
        for half in map.partitions() {
            let middle = halfway(&definition, &half.range).unwrap();
            assert!(half.range.min() < &middle && &middle < half.range.max());
        }
    }
}

/// A range inside one value of the first level is halved below it.
#[test]
fn hierarchical_keys_are_halved_inside_a_level() {
    let text = br#"{"paths":["/a","/b"],"kind":"MultiHash","version":2}"#;
    let definition = PartitionKeyDefinition::from_json(&json::parse(text).unwrap()).unwrap();
    let key = |components: &[&str]| {
        let components = components.iter().map(|text| Component::String((*text).to_owned()));
        effective_partition_key(&PartitionKeyValue::new(components.collect()), &definition)
    };
    let prefix = key(&["tenant"]);
    let end = Epk::from_bytes([prefix.as_bytes(), &[0xFF]].concat());
    let inside = EpkRange::new(prefix.clone(), end).unwrap();
    let middle = halfway(&definition, &inside).unwrap();
    assert!(middle.as_bytes().starts_with(prefix.as_bytes()));
    assert_eq!(middle.to_hex()[32..], *"1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF");
    let below = (0..100).filter(|user| key(&["tenant", &user.to_string()]) < middle).count();
    assert!((25..75).contains(&below), "{below} of 100 keys are below the middle");
}
