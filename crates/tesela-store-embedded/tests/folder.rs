//! A data folder is used by one process, understood or refused, and never reset silently.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tesela_store::{Batch, Snapshot, SpaceId, Store, block_on};
use tesela_store_embedded::{EmbeddedStore, FORMAT_VERSION, OpenError, Options};

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

/// Every file with its content, apart from the lock, which names the last process.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("listable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != "LOCK") {
                files.insert(path.display().to_string(), fs::read(&path).expect("readable"));
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
        ("no log", |path| fs::remove_file(path.join("store/0.jnl")), "store holds no commit log"),
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

/// A changed byte in the commit log is noticed by its checksum.
#[test]
fn a_changed_row_in_the_log_is_refused() {
    let folder = used_folder();
    let log = folder.path().join("store/0.jnl");
    let mut bytes = fs::read(&log).expect("readable");
    let row = bytes.windows(100).position(|window| window == [b'v'; 100]).expect("the row is in the log");
    bytes[row + 50] ^= 1;
    fs::write(&log, bytes).expect("writable");
    let error = open(folder.path()).map(drop).expect_err("damage must be noticed").to_string();
    assert!(error.contains("is damaged") && error.contains("ChecksumMismatch"), "{error}");
}

/// Whatever byte is changed wherever: a store or an error, never a panic, never a wrong row.
#[test]
fn a_changed_byte_anywhere_never_panics_and_never_invents() {
    let original = used_folder();
    write_a_table(original.path());
    let files = contents(original.path());
    let is_table = |name: &String| name.contains("/tables/");
    assert!(files.keys().filter(|name| is_table(name)).count() > 1, "tables of rows must be among {:?}", files.keys());
    for (name, content) in &files {
        let written = written_bytes(content);
        for at in (0..written).step_by(1 + written / 12) {
            let folder = tempfile::tempdir().expect("a temporary folder");
            for (name, content) in &files {
                write(&moved(name, original.path(), folder.path()), content);
            }
            let mut changed = content.clone();
            changed[at] ^= 0x55;
            write(&moved(name, original.path(), folder.path()), &changed);
            let Ok(store) = open(folder.path()) else { continue };
            let row = block_on(store.snapshot().get(SPACE, b"k"));
            let is_fine = row.as_ref().map_or(true, |row| row.as_ref().is_none_or(|row| row[..] == [b'v'; 500]));
            assert!(is_fine, "byte {at} of {name}: {row:?}");
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

/// Logs are longer than what is in them.
fn written_bytes(content: &[u8]) -> usize {
    content.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)
}

fn moved(name: &str, from: &Path, to: &Path) -> PathBuf {
    to.join(Path::new(name).strip_prefix(from).expect("it was found there"))
}

/// Leaves the zeros behind the written bytes as a hole.
fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("creatable");
    fs::write(path, &content[..written_bytes(content)]).expect("writable");
    let file = fs::OpenOptions::new().write(true).open(path).expect("writable");
    file.set_len(content.len() as u64).expect("writable");
}
