//! Spaces give their room back, and many of them share one budget.

mod noise;

use std::fs;
use std::path::Path;
use std::time::Duration;

use noise::noise;
use tesela_store::{Batch, Snapshot, SpaceId, Store, block_on};
use tesela_store_embedded::{Durability, EmbeddedStore, Options};

const KEPT: SpaceId = SpaceId(0);
const DROPPED: SpaceId = SpaceId(1);

fn options() -> Options {
    Options {
        durability: Durability::Buffered,
        memtable_bytes: 4 << 20,
        memtables_bytes: 8 << 20,
        ..Options::default()
    }
}

fn put(store: &EmbeddedStore, space: SpaceId, number: u32, bytes: usize) {
    let mut batch = Batch::new();
    batch.put(space, number.to_be_bytes().to_vec(), noise(u64::from(number), bytes));
    block_on(store.commit(batch)).expect("accepted");
}

/// Bytes of table files, of all trees together.
fn tables(folder: &Path) -> u64 {
    let mut total = 0;
    for tree in fs::read_dir(folder.join("store/keyspaces")).expect("listable").flatten() {
        let Ok(tables) = fs::read_dir(tree.path().join("tables")) else { continue };
        for table in tables.flatten() {
            total += table.metadata().map_or(0, |table| table.len());
        }
    }
    total
}

/// Polls, because files are removed in the background.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..500 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{what} does not happen");
}

/// Enough is written that tables of the space exist.
#[test]
fn a_dropped_space_gives_its_room_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = EmbeddedStore::open(folder.path(), options()).expect("openable");
    for space in [KEPT, DROPPED] {
        block_on(store.create_space(space)).expect("creatable");
    }
    put(&store, KEPT, 0, 100);
    let mut number = 0;
    while tables(folder.path()) <= 40 << 20 {
        put(&store, DROPPED, number, 1 << 20);
        number += 1;
        assert!(number < 500, "no tables were written");
    }
    let snapshot = store.snapshot();
    put(&store, KEPT, 1, 100);
    block_on(store.drop_space(DROPPED)).expect("droppable");

    assert!(
        block_on(snapshot.get(DROPPED, &5_u32.to_be_bytes())).expect("readable").is_some(),
        "an old snapshot reads on"
    );
    drop(snapshot);
    wait_until("removal of the dropped tables", || tables(folder.path()) < 1 << 20);
    for number in 0..2_u32 {
        let row = block_on(store.snapshot().get(KEPT, &number.to_be_bytes())).expect("readable");
        assert_eq!(row.map(|row| row.len()), Some(100), "the other space is untouched");
    }
}

/// No single space is full, but together they are beyond the budget.
#[test]
fn many_spaces_share_one_budget_of_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = EmbeddedStore::open(folder.path(), options()).expect("openable");
    for space in 0..12 {
        block_on(store.create_space(SpaceId(space))).expect("creatable");
        for number in 0..10 {
            put(&store, SpaceId(space), number, 200_000);
        }
    }
    wait_until("writing of tables", || tables(folder.path()) > 8 << 20);
    for space in 0..12 {
        for number in 0..10_u32 {
            let row = block_on(store.snapshot().get(SpaceId(space), &number.to_be_bytes())).expect("readable");
            assert_eq!(row.map(|row| row.len()), Some(200_000));
        }
    }
}
