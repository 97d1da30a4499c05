//! What any release wrote, the next can read: `format_1` is a data folder as format 1 writes it, with
//! rows in a table, rows in the commit log, a deleted row and a dropped space.
//!
//! To make the fixture of a new format: `TESELA_WRITE_FIXTURE=<folder> cargo test --test format`.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use tesela_store::{Batch, Direction, KeyRange, ScanLimit, Snapshot, SpaceId, Store, block_on};
use tesela_store_embedded::{EmbeddedStore, FORMAT_VERSION, Options};

const SPACE: SpaceId = SpaceId(255);
const DROPPED: SpaceId = SpaceId(9);
const FIXTURES: [&str; 1] = ["tests/format_1"];

#[test]
fn every_format_can_be_read_and_written_on() {
    assert_eq!(FIXTURES.len(), FORMAT_VERSION as usize, "each format has its fixture");
    for fixture in FIXTURES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture), folder.path());
        // Version control keeps no empty folders.
        fs::create_dir_all(folder.path().join("store/keyspaces/1/tables")).expect("creatable");
        for more in 0..2 {
            let store = EmbeddedStore::open(folder.path(), Options::default()).expect("an old folder opens");
            assert_eq!(block_on(store.spaces()).expect("listable"), [SpaceId::CATALOG, SPACE], "{fixture}");
            assert_eq!(rows(&store, SpaceId::CATALOG), [("only in the log".into(), "v".into())], "{fixture}");
            assert_eq!(rows(&store, SPACE), expected_rows(more), "{fixture}");
            let mut batch = Batch::new();
            batch.put(SPACE, format!("more {more}"), "v");
            block_on(store.commit(batch)).expect("accepted");
        }
    }
}

fn expected_rows(more: u32) -> Vec<(Bytes, Bytes)> {
    let mut rows = written_rows();
    rows.remove(3);
    rows.extend((0..more).map(|number| (format!("more {number}").into(), "v".into())));
    rows
}

fn written_rows() -> Vec<(Bytes, Bytes)> {
    (0..20_u8).map(|number| (vec![number, 0, 0xff].into(), vec![number; 400].into())).collect()
}

fn rows(store: &EmbeddedStore, space: SpaceId) -> Vec<(Bytes, Bytes)> {
    let all = store.snapshot();
    block_on(all.scan(space, KeyRange::all(), Direction::Forward, ScanLimit::NONE)).expect("scannable").rows
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("creatable");
    for entry in fs::read_dir(from).expect("listable").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copyable");
        }
    }
}

#[test]
fn write_fixture() {
    let Some(folder) = std::env::var_os("TESELA_WRITE_FIXTURE") else { return };
    let open =
        || EmbeddedStore::open(&folder, Options { memtable_bytes: 4096, ..Options::default() }).expect("openable");
    let store = open();
    block_on(async {
        for space in [SpaceId::CATALOG, SPACE, DROPPED] {
            store.create_space(space).await?;
        }
        for (key, value) in written_rows() {
            let mut batch = Batch::new();
            batch.put(SPACE, key, value);
            store.commit(batch).await?;
        }
        let mut batch = Batch::new();
        batch.put(SpaceId::CATALOG, "only in the log", "v");
        batch.put(DROPPED, "k", "v");
        batch.delete(SPACE, vec![3, 0, 0xff]);
        store.commit(batch).await?;
        store.drop_space(DROPPED).await
    })
    .expect("writable");
    drop(store);
    // Opening again cuts the reserved zeros off the log, which would make a large fixture.
    drop(open());
}
