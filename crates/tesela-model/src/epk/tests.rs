//! The official vectors when they are at hand, a handful of our own in any case.

use super::*;
use crate::json::{self, Value};

fn component(value: &Value) -> Component {
    match value {
        Value::Object(object) => match object.get("$number").and_then(Value::as_str) {
            // The NaN of the vectors is .NET's, whose sign bit is set. No JSON can carry one.
            Some("nan") => Component::Number(f64::from_bits(0xFFF8_0000_0000_0000)),
            Some(text) => Component::Number(text.parse().unwrap()),
            None => Component::Undefined,
        },
        other => Component::from_json(other),
    }
}

fn value_of(case: &Value) -> PartitionKeyValue {
    PartitionKeyValue::new(case.get("value").unwrap().as_array().unwrap().iter().map(component).collect())
}

/// Some vectors hash more components than a container may have, so the definition is not validated here.
fn definition_of(case: &Value) -> PartitionKeyDefinition {
    let kind = match case.get("kind").and_then(Value::as_str).unwrap() {
        "MultiHash" => PartitionKeyKind::MultiHash,
        "Range" => PartitionKeyKind::Range,
        _ => PartitionKeyKind::Hash,
    };
    let version = case.get("version").and_then(Value::as_i64).map(|version| version as u8);
    PartitionKeyDefinition { kind, version, ..PartitionKeyDefinition::hash("/unused", None) }
}

fn raw_hash(case: &Value) -> [String; 2] {
    let mut hashes = [String::new(), String::new()];
    for one in value_of(case).components() {
        let mut bytes = Vec::new();
        write_hashed(&cut_v1(one), 0x00, &mut bytes);
        hashes[0] += &format!("{:032X}", murmur3_32(&bytes));
        bytes.clear();
        write_hashed(one, 0xFF, &mut bytes);
        hashes[1] += &Epk::from_bytes(murmur3_128(&bytes).to_be_bytes()).to_hex();
    }
    hashes
}

/// R9: every open vector, version 1, version 2 and hierarchical, and the raw hashes.
#[test]
fn official_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance/open/epk.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: {path} is not on this machine");
        return;
    };
    let mut checked = 0;
    for line in text.lines() {
        let case = json::parse(line.as_bytes()).unwrap();
        let expected = case.get("expected").unwrap();
        if case.get("form").and_then(Value::as_str) == Some("raw_hash") {
            let hashes = raw_hash(&case);
            for (name, hash) in ["murmur32", "murmur128"].into_iter().zip(hashes) {
                if let Some(wanted) = expected.get(name).and_then(Value::as_str) {
                    assert_eq!(hash, wanted, "{line}");
                }
            }
        } else {
            let definition = definition_of(case.get("partition_key").unwrap());
            let value = value_of(&case);
            assert_eq!(effective_partition_key(&value, &definition).to_hex(), expected.as_str().unwrap(), "{line}");
            if let Some(range) = case.get("range") {
                let found = prefix_range(&value, &definition);
                assert_eq!(found.min.to_hex(), range.get("min").unwrap().as_str().unwrap(), "{line}");
                assert_eq!(found.max.to_hex(), range.get("max").unwrap().as_str().unwrap(), "{line}");
            }
        }
        checked += 1;
    }
    assert!(checked > 100, "the vector file holds only {checked} cases");
}

/// R9, without the corpus: values seen on the wire of the Python SDK.
#[test]
fn known_points() {
    let v1 = PartitionKeyDefinition::hash("/pk", Some(1));
    let undefined = PartitionKeyValue::new(vec![Component::Undefined]);
    assert_eq!(effective_partition_key(&undefined, &v1).to_hex(), "05C1D529E345DC00");
    assert_eq!(murmur3_128(b""), 0);
    assert_eq!(murmur3_32(b""), 0);
}

#[test]
fn ranges_are_half_open_and_never_empty() {
    let point = |hex| Epk::from_hex(hex).unwrap();
    assert!(EpkRange::new(point("10"), point("10")).is_none());
    let low = EpkRange::new(Epk::min(), point("1F")).unwrap();
    let high = EpkRange::new(point("1F"), Epk::max()).unwrap();
    assert!(low.contains(&point("1EFF")) && !low.contains(&point("1F")) && high.contains(&point("1F")));
    assert_eq!(low.intersection(&high), None);
    assert!(EpkRange::full().covers(&low));
}

#[test]
fn hex_is_strict() {
    assert_eq!(Epk::from_hex("1fA0").unwrap().to_hex(), "1FA0");
    assert!(Epk::from_hex("1").is_none() && Epk::from_hex("1g").is_none() && Epk::from_hex("é").is_none());
}
