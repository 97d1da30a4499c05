//! R28: data that the legacy Python package placed is found.
//!
//! `pydocumentdb/placements.tsv` holds what the package itself answered for 10,000 keys on eight rings; the
//! script beside it makes the table and, given the package, checks that it still holds.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use tesela_model::json;
use tesela_resolver::hash::Hasher;
use tesela_resolver::{HashResolver, KeyExtractor, PartitionResolver as _, Scheme};

const TABLE: &str = include_str!("pydocumentdb/placements.tsv");

fn ring(name: &str) -> (String, HashResolver) {
    let (count, virtual_nodes) = name.split_once('x').expect("COLLECTIONSxVIRTUAL_NODES");
    let count: usize = count.parse().expect("a number of collections");
    let links = (0..count).map(|number| format!("dbs/shop/colls/users{number}"));
    let scheme = Scheme::Ring { virtual_nodes: virtual_nodes.parse().expect("a number of nodes") };
    let extractor = KeyExtractor::path("/key").expect("a path");
    (name.to_owned(), HashResolver::new(extractor, Hasher::murmur3_32(), scheme, links).expect("a ring"))
}

#[test]
fn r28_placement_equals_pydocumentdb_for_10_000_keys() {
    let mut lines = TABLE.lines();
    let rings: Vec<_> = lines.next().unwrap().split('\t').skip(1).map(ring).collect();
    assert_eq!(rings.len(), 8);
    let mut compared = 0;
    for line in lines {
        let mut cells = line.split('\t');
        let key = json::parse(cells.next().unwrap().as_bytes()).unwrap();
        let document = json::Object::from_iter([("key", key.clone())]).into();
        for ((name, resolver), expected) in rings.iter().zip(cells.by_ref()) {
            let placed = resolver.resolve_for_create(&resolver.partition_key(&document).unwrap()).unwrap();
            assert_eq!(placed.as_str(), format!("dbs/shop/colls/users{expected}"), "{key:?} on ring {name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 10_000 * rings.len());
}

#[test]
fn r28_the_package_s_defaults_have_a_name() {
    let links = (0..5).map(|number| format!("dbs/shop/colls/users{number}"));
    let named = HashResolver::pydocumentdb(KeyExtractor::path("/key").unwrap(), links).unwrap();
    assert_eq!(named, ring("5x128").1);
}

#[test]
#[ignore = "needs a Python with pydocumentdb, named by TESELA_PYDOCUMENTDB_PYTHON"]
fn r28_the_table_is_what_the_package_says() {
    let python = std::env::var("TESELA_PYDOCUMENTDB_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pydocumentdb/placements.py");
    let run = std::process::Command::new(python).arg(script).arg("--check").output().expect("python starts");
    assert!(run.status.success(), "{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
}
