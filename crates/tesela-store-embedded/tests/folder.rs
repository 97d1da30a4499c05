//! A data folder is used by one process, understood or refused, and never reset silently.

mod noise;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use noise::noise;
use tesela_store::{Batch, Snapshot, SpaceId, Store, block_on};
use tesela_store_embedded::{Durability, EmbeddedStore, FORMAT_VERSION, OpenError, Options};

const SPACE: SpaceId = SpaceId(1);

fn open(path: &Path) -> Result<EmbeddedStore, OpenError> {
    EmbeddedStore::open(path, Options::default())
}

/// A folder with one row in it, closed again.
fn used_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path()).expect("a new folder opens");
    let mut batch = Batch::new();
    batch.put(SPACE, "k", "v".repeat(500));
    block_on(async {
        store.create_space(SPACE).await?;
        store.commit(batch).await
    })
    .expect("a row can be written");
    folder
}

/// A file; logs are longer than what is written in them, the rest is a hole.
#[derive(Clone, PartialEq)]
struct Content {
    written: Vec<u8>,
    length: u64,
}

impl Content {
    fn read(path: &Path) -> Self {
        let mut written = fs::read(path).expect("readable");
        let length = written.len() as u64;
        // By words, because most of a log is zeros.
        let words = written.rchunks(4096).take_while(|piece| *piece == &[0; 4096][..piece.len()]).count();
        written.truncate(written.len().saturating_sub(words * 4096));
        written.truncate(written.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
        Self { written, length }
    }

    fn write(&self, path: &Path) {
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("creatable");
        fs::write(path, &self.written).expect("writable");
        let file = fs::OpenOptions::new().write(true).open(path).expect("writable");
        file.set_len(self.length).expect("writable");
    }
}

/// Every file by its path in the folder, apart from the lock, which names the last process.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Content> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("listable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != "LOCK") {
                let name = path.strip_prefix(folder).expect("it was found there").to_owned();
                files.insert(name, Content::read(&path));
            }
        }
    }
    files
}

#[test]
fn a_folder_in_use_is_refused_with_the_process_that_uses_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path()).expect("a new folder opens");
    let snapshot = store.snapshot();
    for moment in ["while the store is open", "while a snapshot lives"] {
        match open(folder.path()).map(drop) {
            Err(error @ OpenError::Locked { pid, .. }) => {
                assert_eq!(pid, Some(std::process::id()), "{moment}");
                assert!(error.to_string().contains(&format!("is used by process {}", std::process::id())), "{error}");
            }
            other => panic!("{moment}: {other:?}"),
        }
        if moment == "while the store is open" {
            block_on(store.flush()).expect("the refused start did no harm");
        }
    }
    drop((store, snapshot));
    open(folder.path()).expect("a closed folder opens again");
}

#[test]
fn the_format_file_is_as_documented() {
    let folder = used_folder();
    let format = fs::read_to_string(folder.path().join("FORMAT")).expect("readable");
    assert_eq!(format, "tesela data folder\nformat 1\nstate ready\n");
    assert_eq!(FORMAT_VERSION, 1);
}

#[test]
fn damaged_and_newer_folders_are_refused_and_left_alone() {
    type Damage = fn(&Path) -> std::io::Result<()>;
    let cases: [(&str, Damage, &str); 10] = [
        ("no format", |path| fs::remove_file(path.join("FORMAT")), "store is there, FORMAT is not"),
        ("empty format", |path| fs::write(path.join("FORMAT"), ""), "FORMAT is not one of ours"),
        ("foreign format", |path| fs::write(path.join("FORMAT"), "PK\x03\x04\u{0}"), "FORMAT is not one of ours"),
        (
            "cut format",
            |path| fs::write(path.join("FORMAT"), "tesela data folder\nformat 1\nstate rea"),
            "not one of ours",
        ),
        (
            "old format",
            |path| fs::write(path.join("FORMAT"), "tesela data folder\nformat 0\nstate ready\n"),
            "not one of ours",
        ),
        (
            "newer format",
            |path| fs::write(path.join("FORMAT"), "tesela data folder\nformat 2\nstate ready\nand = more\n"),
            "has format 2, this release reads up to 1: use a newer release",
        ),
        ("no store", |path| fs::remove_dir_all(path.join("store")), "store/version is missing"),
        ("no version", |path| fs::remove_file(path.join("store/version")), "store/version is missing"),
        ("no log", |path| fs::remove_file(path.join("store/0.jnl")), "there is no commit log"),
        ("no names", |path| fs::remove_dir_all(path.join("store/keyspaces/0")), "store/keyspaces/0 is missing"),
    ];
    for (name, damage, message) in cases {
        let folder = used_folder();
        damage(folder.path()).expect("damage can be done");
        let before = contents(folder.path());
        let error = open(folder.path()).map(drop).expect_err(name).to_string();
        assert!(error.contains(message), "{name}: {error}");
        assert!(error.contains(&folder.path().display().to_string()), "{name} does not name the folder: {error}");
        assert!(contents(folder.path()) == before, "{name}: the folder was changed");
    }
}

#[test]
fn an_interrupted_first_start_begins_again() {
    let folder = used_folder();
    fs::write(folder.path().join("FORMAT"), "tesela data folder\nformat 1\nstate creating\n").expect("writable");
    fs::remove_file(folder.path().join("store/version")).expect("removable");
    fs::write(folder.path().join("FORMAT.new"), "tes").expect("writable");
    let store = open(folder.path()).expect("nothing was acknowledged in that state");
    assert!(block_on(store.spaces()).expect("listable").is_empty());
}

#[test]
fn files_beside_the_store_are_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("certificate.pem"), "mine").expect("writable");
    drop(open(folder.path()).expect("a folder with other files is fine"));
    drop(open(folder.path()).expect("and again"));
    assert_eq!(fs::read_to_string(folder.path().join("certificate.pem")).expect("readable"), "mine");
}

const LOG: &str = "store/0.jnl";

/// A folder with three commits, and where in the log each begins and the last ends.
fn folder_with_three_commits() -> (tempfile::TempDir, Vec<usize>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path()).expect("a new folder opens");
    block_on(store.create_space(SPACE)).expect("creatable");
    let mut bounds = vec![0];
    for number in 0..3_u8 {
        let mut batch = Batch::new();
        // Longer than pages, and not shortened by compression.
        batch.put(SPACE, vec![number], noise(u64::from(number), 20_000));
        block_on(store.commit(batch)).expect("accepted");
        bounds.push(Content::read(&folder.path().join(LOG)).written.len());
    }
    (folder, bounds)
}

fn change_log(folder: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut log = Content::read(&folder.join(LOG));
    change(&mut log.written);
    log.write(&folder.join(LOG));
}

fn commits(store: &EmbeddedStore) -> Vec<u8> {
    let exists = |number: &u8| block_on(store.snapshot().get(SPACE, &[*number])).expect("readable").is_some();
    (0..=3).filter(exists).collect()
}

/// Pages of the last write are missing or half there: it was not acknowledged, the others were.
#[test]
fn a_torn_end_of_the_log_is_cut_off() {
    type Tear = fn(&mut [u8]);
    let tears: [(&str, Tear); 5] = [
        ("its head", |batch| batch[..40].fill(0)),
        ("its middle", |batch| batch[9_000..13_000].fill(0)),
        ("its end", |batch| batch[5_000..].fill(0)),
        ("its last byte", |batch| *batch.last_mut().expect("not empty") = 0),
        ("a garbled page", |batch| batch[9_000..13_000].fill(0xa5)),
    ];
    for (name, tear) in tears {
        let (folder, bounds) = folder_with_three_commits();
        change_log(folder.path(), |log| tear(&mut log[bounds[2]..bounds[3]]));
        let store = open(folder.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(commits(&store), [0, 1], "{name}");
        let mut batch = Batch::new();
        batch.put(SPACE, vec![3], "written behind the cut");
        block_on(store.commit(batch)).expect("accepted");
        drop(store);
        assert_eq!(commits(&open(folder.path()).expect("openable")), [0, 1, 3], "{name}");
    }
}

/// A commit that others follow was acknowledged: without it there is no silent going on, unless
/// acknowledged commits were not synced anyway.
#[test]
fn a_damaged_middle_of_the_log_is_refused() {
    for at in [0, 1, 13, 14, 30, 10_000] {
        let (folder, bounds) = folder_with_three_commits();
        change_log(folder.path(), |log| log[bounds[1] + at] ^= 0x10);
        let before = contents(folder.path());
        let error = open(folder.path()).map(drop).expect_err("damage must be noticed").to_string();
        let message = format!("acknowledged commits in {}", folder.path().join(LOG).display());
        assert!(
            error.contains(&message) && error.contains(&format!("from byte {} on", bounds[1])),
            "byte {at}: {error}"
        );
        assert!(contents(folder.path()) == before, "byte {at}: the folder was changed");

        let buffered = Options { durability: Durability::Buffered, ..Options::default() };
        let store = EmbeddedStore::open(folder.path(), buffered).expect("openable");
        assert_eq!(commits(&store), [0], "byte {at}");
    }
}

/// Whatever byte is changed wherever: the row or an error, never a panic, a wrong row or a lost one.
#[test]
fn a_changed_byte_anywhere_is_harmless_or_noticed() {
    let original = used_folder();
    write_a_table(original.path());
    let files = contents(original.path());
    let tables = files.keys().filter(|name| name.iter().any(|part| part == "tables")).count();
    assert!(tables > 1, "tables of rows must be among {:?}", files.keys());
    for (name, content) in &files {
        let written = content.written.len();
        for at in (0..written).step_by(1 + written / 8) {
            let folder = tempfile::tempdir().expect("a temporary folder");
            for (name, content) in &files {
                content.write(&folder.path().join(name));
            }
            let mut changed = content.clone();
            changed.written[at] ^= 0x55;
            changed.write(&folder.path().join(name));
            let Ok(store) = open(folder.path()) else { continue };
            let row = block_on(store.snapshot().get(SPACE, b"k"));
            let is_fine = row.as_ref().map_or(true, |row| row.as_deref() == Some(&[b'v'; 500]));
            assert!(is_fine, "byte {at} of {}: {row:?}", name.display());
        }
    }
}

/// Writes so much that closing puts it into a table.
fn write_a_table(folder: &Path) {
    let store = open(folder).expect("the folder opens");
    let mut batch = Batch::new();
    for number in 0..1_500_u32 {
        batch.put(SPACE, number.to_be_bytes().to_vec(), "w".repeat(1_000));
    }
    block_on(store.commit(batch)).expect("rows can be written");
}
