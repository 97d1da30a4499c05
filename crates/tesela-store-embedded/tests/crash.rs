//! Processes killed under load, and disks that refuse: nothing acknowledged is lost, nothing is torn.
//!
//! A test starts its own executable again as a child ([`child`]), reads from the child's output what
//! was acknowledged, kills it with SIGKILL, and opens what it left. The children are the ignored
//! tests at the end of this file; run by hand, without their folder, they do nothing.
//!
//! `TESELA_CRASH_ROUNDS` sets the number of kills (default 12).
#![cfg(unix)]

mod noise;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use noise::noise;
use tesela_store::{Batch, Direction, Error, KeyRange, ScanLimit, Snapshot, SpaceId, Store, block_on};
use tesela_store_embedded::{Durability, EmbeddedStore, Options};

const ROUNDS_DEFAULT: u64 = 12;
const FOLDER: &str = "TESELA_CRASH_FOLDER";

const DOCUMENTS: SpaceId = SpaceId(1);
const TERMS: SpaceId = SpaceId(2);
const WRITERS: u64 = 4;
/// A writer deletes its rows again after this many commits.
const LIFETIME: u64 = 40;
/// Every so many commits a writer replaces its own space by a new one.
const SPACE_LIFETIME: u64 = 25;

/// Small buffers, so that kills hit flushes and merges, too.
fn options() -> Options {
    Options { memtable_bytes: 128 * 1024, ..Options::default() }
}

fn open(folder: &Path) -> EmbeddedStore {
    EmbeddedStore::open(folder, options()).expect("what a kill leaves can be opened")
}

/// This executable again, as the named child working in `folder`.
fn child(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("tests know their executable"));
    command.args([name, "--exact", "--ignored", "--nocapture"]);
    command.env(FOLDER, folder).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn folder_of_child() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(Into::into)
}

/// Written at once, so that it outlives the kill that may follow.
fn report(line: String) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{line}\n").as_bytes()).and_then(|()| out.flush()).expect("the parent listens");
}

/// Spread-out numbers, the same in every run.
fn varied(round: u64, below: u64) -> u64 {
    (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) % below
}

#[test]
fn acknowledged_commits_survive_kills_under_load() {
    let rounds = std::env::var("TESELA_CRASH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut acknowledged = BTreeMap::new();
    for round in 0..rounds.unwrap_or(ROUNDS_DEFAULT) {
        let mut writer = child("write_until_killed", folder.path()).spawn().expect("the child starts");
        kill_after(&mut writer, 1 + varied(round, 600), &mut acknowledged);
        verify(folder.path(), &acknowledged, round);
    }
    let commits: u64 = acknowledged.values().sum();
    assert!(commits > 0, "nothing was ever acknowledged");
}

/// Lets the child acknowledge so many commits, kills it, and notes the last one of each writer.
fn kill_after(process: &mut Child, acknowledgements: u64, acknowledged: &mut BTreeMap<u64, u64>) {
    let output = BufReader::new(process.stdout.take().expect("the output is piped"));
    let mut seen = 0;
    for line in output.lines() {
        let line = line.expect("output is text");
        // What the test harness prints around our lines is of no interest.
        let Some((writer, number)) = line.strip_prefix("done ").and_then(|rest| rest.split_once(' ')) else { continue };
        let (writer, number) = (writer.parse().expect("a writer"), number.parse().expect("a number"));
        acknowledged.insert(writer, number);
        seen += 1;
        if seen == acknowledgements {
            process.kill().expect("the child is ours to kill");
        }
    }
    process.wait().expect("the child ends");
    assert!(seen >= acknowledgements, "the child ended by itself after {seen} commits");
}

/// Each writer's commits form a line, one after the other, so the store must hold exactly the
/// effects of its commits up to some last one: the last acknowledged or, if the kill came between
/// the disk and the answer, the one after it.
fn verify(folder: &Path, acknowledged: &BTreeMap<u64, u64>, round: u64) {
    let store = open(folder);
    let snapshot = store.snapshot();
    let mut documents = BTreeMap::new();
    let mut terms = BTreeMap::new();
    for writer in 0..WRITERS {
        let last = last_commit(&snapshot, writer);
        let acknowledged = acknowledged.get(&writer).copied().unwrap_or(0);
        let allowed = acknowledged..=acknowledged + 1;
        assert!(allowed.contains(&last), "round {round}, writer {writer}: {last} kept, {acknowledged} acknowledged");
        for number in last.saturating_sub(LIFETIME - 1).max(1)..=last {
            documents.extend(document_rows(writer, number));
            terms.extend(term_rows(writer, number));
        }
        documents.extend((last > 0).then(|| (last_key(writer), number_value(last))));
        verify_own_space(&store, writer, last, round);
    }
    assert!(rows(&snapshot, DOCUMENTS) == documents, "round {round}: documents are lost or torn");
    assert!(rows(&snapshot, TERMS) == terms, "round {round}: terms are lost or torn");
}

/// The writer's own space holds one row, of the last replacement. If the next commit was to replace
/// it, the kill may have come before, between or behind the three steps of that.
fn verify_own_space(store: &EmbeddedStore, writer: u64, last: u64, round: u64) {
    let space = own_space(writer);
    let exists = block_on(store.spaces()).expect("listable").contains(&space);
    let kept = exists.then(|| rows(&store.snapshot(), space));
    let made_by = |number: u64| Rows::from([("made by".into(), number_value(number))]);
    let replaced = last - last % SPACE_LIFETIME;
    let settled = (replaced > 0).then(|| made_by(replaced));
    let replacing = (last + 1).is_multiple_of(SPACE_LIFETIME);
    let halfway = [None, Some(Rows::new()), Some(made_by(last + 1))];
    assert!(
        kept == settled || replacing && halfway.contains(&kept),
        "round {round}, writer {writer}, commit {last}: own space holds {kept:?}"
    );
}

type Rows = BTreeMap<Bytes, Bytes>;

fn rows<S: Snapshot>(snapshot: &S, space: SpaceId) -> Rows {
    match block_on(snapshot.scan(space, KeyRange::all(), Direction::Forward, ScanLimit::NONE)) {
        Ok(page) => page.rows.into_iter().collect(),
        Err(Error::NoSuchSpace(_)) => Rows::new(),
        Err(error) => panic!("space {space} cannot be read: {error}"),
    }
}

fn last_commit<S: Snapshot>(snapshot: &S, writer: u64) -> u64 {
    match block_on(snapshot.get(DOCUMENTS, &last_key(writer))) {
        Ok(Some(number)) => u64::from_be_bytes(number[..].try_into().expect("a number was written")),
        Ok(None) | Err(Error::NoSuchSpace(_)) => 0,
        Err(error) => panic!("the last commit cannot be read: {error}"),
    }
}

fn last_key(writer: u64) -> Bytes {
    format!("last {writer}").into()
}

fn number_value(number: u64) -> Bytes {
    number.to_be_bytes().to_vec().into()
}

fn own_space(writer: u64) -> SpaceId {
    SpaceId(100 + writer)
}

fn document_rows(writer: u64, number: u64) -> Rows {
    // About 1 KB, different for every commit.
    let value = Bytes::from(format!("{writer} {number} ").repeat(100));
    Rows::from([(format!("document {writer} {number:08}").into(), value)])
}

fn term_rows(writer: u64, number: u64) -> Rows {
    (0..16).map(|term| (format!("term {term:02} {writer} {number:08}").into(), Bytes::new())).collect()
}

fn commit_of(writer: u64, number: u64) -> Batch {
    let mut batch = Batch::new();
    for (space, rows) in [(DOCUMENTS, document_rows(writer, number)), (TERMS, term_rows(writer, number))] {
        for (key, value) in rows {
            batch.put(space, key, value);
        }
    }
    if number > LIFETIME {
        for (space, rows) in
            [(DOCUMENTS, document_rows(writer, number - LIFETIME)), (TERMS, term_rows(writer, number - LIFETIME))]
        {
            for (key, _) in rows {
                batch.delete(space, key);
            }
        }
    }
    batch.put(DOCUMENTS, last_key(writer), number_value(number));
    batch
}

/// Goes on where the last one was killed.
#[test]
#[ignore = "a child process of acknowledged_commits_survive_kills_under_load"]
fn write_until_killed() {
    let Some(folder) = folder_of_child() else { return };
    let store = open(&folder);
    for space in [DOCUMENTS, TERMS] {
        block_on(store.create_space(space)).expect("creatable");
    }
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let store = store.clone();
            scope.spawn(move || {
                for number in last_commit(&store.snapshot(), writer) + 1.. {
                    if number.is_multiple_of(SPACE_LIFETIME) {
                        replace_own_space(&store, writer, number);
                    }
                    block_on(store.commit(commit_of(writer, number))).expect("accepted");
                    report(format!("done {writer} {number}"));
                }
            });
        }
    });
}

fn replace_own_space(store: &EmbeddedStore, writer: u64, number: u64) {
    let mut batch = Batch::new();
    batch.put(own_space(writer), "made by", number_value(number));
    block_on(async {
        store.drop_space(own_space(writer)).await?;
        store.create_space(own_space(writer)).await?;
        store.commit(batch).await
    })
    .expect("a space can be replaced");
}

/// The first start makes files in many steps; a kill between any two must not spoil the folder.
#[test]
fn a_first_start_killed_at_any_moment_can_be_repeated() {
    for step in 0..25_u32 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("data");
        let mut starter = child("start", &path).spawn().expect("the child starts");
        std::thread::sleep(Duration::from_micros(400) * step);
        starter.kill().expect("the child is ours to kill");
        starter.wait().expect("the child ends");
        let store = open(&path);
        for space in [DOCUMENTS, TERMS] {
            block_on(store.create_space(space)).expect("creatable");
        }
        block_on(store.commit(commit_of(0, 1))).expect("accepted");
    }
}

#[test]
#[ignore = "a child process of a_first_start_killed_at_any_moment_can_be_repeated"]
fn start() {
    let Some(folder) = folder_of_child() else { return };
    let store = open(&folder);
    block_on(store.create_space(DOCUMENTS)).expect("creatable");
    loop {
        std::thread::park();
    }
}

/// A write that fails ends writing for good; reading goes on, and a restart finds what was
/// acknowledged. The disk is made to refuse by a limit on the size of files.
#[test]
fn after_a_failed_write_everything_is_refused_until_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Between the log's reserved size and what the child writes; a unit is 512 or 1,024 bytes,
    // as the shell likes. XFSZ would kill instead of failing the write.
    let script = "trap '' XFSZ; ulimit -f 150000; exec \"$@\"";
    let plain = child("write_until_refused", folder.path());
    let mut limited = Command::new("sh");
    limited.args(["-c", script, "sh"]).arg(plain.get_program()).args(plain.get_args());
    limited.env(FOLDER, folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let output = limited.output().expect("the child runs");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let count = output.lines().find_map(|line| line.strip_prefix("acknowledged "));
    let count: u64 = count.unwrap_or_else(|| panic!("the child failed: {output}")).parse().expect("a number");

    let store = open(folder.path());
    let kept = rows(&store.snapshot(), DOCUMENTS);
    assert!((count..=count + 1).contains(&(kept.len() as u64)), "{} kept, {count} acknowledged", kept.len());
    for number in 0..count {
        assert!(kept[&number_value(number)] == large_row(number), "row {number} differs");
    }
    let mut batch = Batch::new();
    batch.put(DOCUMENTS, "again", "accepted");
    block_on(store.commit(batch)).expect("after a restart writing goes on");
}

#[test]
#[ignore = "a child process of after_a_failed_write_everything_is_refused_until_a_restart"]
fn write_until_refused() {
    let Some(folder) = folder_of_child() else { return };
    // No tables, so that the log is the file that grows.
    let options = Options {
        durability: Durability::Sync,
        memtable_bytes: 1 << 30,
        memtables_bytes: 1 << 30,
        ..Options::default()
    };
    let store = EmbeddedStore::open(folder, options).expect("openable");
    block_on(store.create_space(DOCUMENTS)).expect("creatable");
    let put = |number: u64| {
        let mut batch = Batch::new();
        batch.put(DOCUMENTS, number_value(number), large_row(number));
        block_on(store.commit(batch))
    };
    let (refused, error) = (0..100)
        .find_map(|number| put(number).err().map(|error| (number, error)))
        .expect("the disk must refuse at last");
    assert!(matches!(error, Error::Poisoned { .. }) && error.may_have_applied(), "{error}");
    assert!(matches!(put(1_000), Err(Error::Poisoned { .. })), "no commit after the failed one");
    assert!(matches!(block_on(store.flush()), Err(Error::Poisoned { .. })), "no flush");
    assert!(matches!(block_on(store.create_space(TERMS)), Err(Error::Poisoned { .. })), "no new space");
    assert_eq!(rows(&store.snapshot(), DOCUMENTS).len() as u64, refused, "reads go on, and show what was acknowledged");
    drop(store);
    report(format!("acknowledged {refused}"));
}

/// Rows so large that the limit is soon reached.
fn large_row(number: u64) -> Bytes {
    noise(number, 4 << 20).into()
}
