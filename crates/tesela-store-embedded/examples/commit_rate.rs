//! What the engine alone can do: `cargo run --release -p tesela-store-embedded --example commit_rate`.
//!
//! A document is one atomic batch of a 1 KB value and 16 index keys of 60 bytes, as a write of a
//! partition is. Every figure is the median of three runs on fresh folders; the spread is printed
//! beside it. `shared` puts the documents of all partitions into one space under a prefix,
//! `per space` gives each partition a space of its own.
//!
//! Arguments: a folder to work in (default: the system's temporary folder; choose one on a real
//! disk, or fsync measures nothing).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tesela_store::{Batch, Direction, KeyRange, ScanLimit, Snapshot, SpaceId, Store};
use tesela_store_embedded::{Durability, EmbeddedStore, Options};
use tokio::runtime::Runtime;

const DOCUMENT_BYTES: usize = 1_000;
const INDEX_KEYS: u64 = 16;
const INDEX_KEY_BYTES: usize = 60;
const LOADED_DOCUMENTS: u64 = 60_000;
const PARTITIONS: u64 = 8;
const RUNS: usize = 3;
const COMMIT_TIME: Duration = Duration::from_secs(4);
const READ_TIME: Duration = Duration::from_secs(2);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Where the documents of a partition live.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    PerSpace,
    Shared,
}

impl Layout {
    fn space(self, partition: u64) -> SpaceId {
        SpaceId(if self == Self::PerSpace { 1 + partition } else { 1 })
    }

    fn key(self, partition: u64, kind: u8) -> Vec<u8> {
        let mut key = Vec::with_capacity(INDEX_KEY_BYTES + 16);
        if self == Self::Shared {
            key.extend_from_slice(&partition.to_be_bytes());
        }
        key.push(kind);
        key
    }

    fn document_key(self, number: u64) -> (SpaceId, Vec<u8>) {
        let partition = number % PARTITIONS;
        let mut key = self.key(partition, b'd');
        key.extend_from_slice(&number.to_be_bytes());
        (self.space(partition), key)
    }
}

fn main() -> Outcome<()> {
    let base = std::env::args().nth(1).map_or_else(std::env::temp_dir, Into::into);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(report_empty(&base))?;
    for (name, layout) in [("per space", Layout::PerSpace), ("shared", Layout::Shared)] {
        println!("\n{name}, {PARTITIONS} partitions");
        report_commits(&runtime, &base, layout)?;
        report_reads(&runtime, &base, layout)?;
    }
    Ok(())
}

/// Opening, spaces, memory: what an idle server costs.
async fn report_empty(base: &Path) -> Outcome<()> {
    let mut open_ms = Vec::new();
    let mut reopen_ms = Vec::new();
    for _ in 0..RUNS {
        let folder = tempfile::tempdir_in(base)?;
        let path = folder.path().join("data");
        open_ms.push(timed_ms(|| EmbeddedStore::open(&path, Options::default()))?);
        reopen_ms.push(timed_ms(|| EmbeddedStore::open(&path, Options::default()))?);
    }
    show("open, new folder", "ms", open_ms);
    show("open, empty folder", "ms", reopen_ms);

    let folder = tempfile::tempdir_in(base)?;
    let store = EmbeddedStore::open(folder.path(), Options::default())?;
    println!("{:<38} {:>10.1} MB", "memory of the process, empty store", resident_mb()?);
    let mut create_ms = Vec::new();
    for space in 0..300 {
        let start = now();
        store.create_space(SpaceId(space)).await?;
        create_ms.push(ms(start));
    }
    show("create a space (300)", "ms", create_ms);
    println!("{:<38} {:>10.1} MB", "memory of the process, 300 spaces", resident_mb()?);
    drop(store);
    let start = now();
    let store = EmbeddedStore::open(folder.path(), Options::default())?;
    println!("{:<38} {:>10.1} ms", "open, 300 spaces", ms(start));
    let mut drop_ms = Vec::new();
    for space in 0..300 {
        let start = now();
        store.drop_space(SpaceId(space)).await?;
        drop_ms.push(ms(start));
    }
    show("drop a space (300)", "ms", drop_ms);
    Ok(())
}

fn report_commits(runtime: &Runtime, base: &Path, layout: Layout) -> Outcome<()> {
    let cases = [
        (Durability::Sync, 1, "durable commits/s, 1 committer"),
        (Durability::Sync, 64, "durable commits/s, 64 committers"),
        (Durability::Buffered, 64, "buffered commits/s, 64 committers"),
    ];
    for (durability, committers, name) in cases {
        show_runs(name, || {
            let folder = tempfile::tempdir_in(base)?;
            let store = open(folder.path(), Options { durability, ..Options::default() }, runtime)?;
            // Opening and closing are not part of it.
            Run::measure(COMMIT_TIME, || runtime.block_on(commit_rate(&store, layout, committers)))
        })?;
    }
    Ok(())
}

async fn commit_rate(store: &EmbeddedStore, layout: Layout, committers: u64) -> Outcome<f64> {
    let next = Arc::new(AtomicU64::new(0));
    let start = now();
    let tasks: Vec<_> = (0..committers)
        .map(|_| {
            let (store, next) = (store.clone(), next.clone());
            tokio::spawn(async move {
                while start.elapsed() < COMMIT_TIME {
                    store.commit(document(layout, next.fetch_add(1, Ordering::Relaxed))).await?;
                }
                Ok::<_, tesela_store::Error>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(next.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64())
}

fn report_reads(runtime: &Runtime, base: &Path, layout: Layout) -> Outcome<()> {
    let folder = tempfile::tempdir_in(base)?;
    let options = Options { durability: Durability::Buffered, cache_bytes: 256 << 20, ..Options::default() };
    let store = open(folder.path(), options.clone(), runtime)?;
    runtime.block_on(async {
        for number in 0..LOADED_DOCUMENTS {
            store.commit(document(layout, number)).await?;
        }
        store.flush().await
    })?;
    println!("{:<38} {:>10.1} MB", "memory of the process, loaded", resident_mb()?);
    drop(store);
    let start = now();
    let store = EmbeddedStore::open(folder.path(), options)?;
    println!("{:<38} {:>10.1} ms", "open, loaded", ms(start));

    let store = &store;
    get_rate(store, layout, 0); // warms the cache
    let two_threads = || {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=2).map(|seed| scope.spawn(move || get_rate(store, layout, seed))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(0.0)).sum()
        })
    };
    let gets_1 = || Run::measure(READ_TIME, || Ok(get_rate(store, layout, 1)));
    let gets_2 = || Run::measure(READ_TIME, || Ok(two_threads()));
    let scans = |page_rows| Run::measure(READ_TIME, || Ok(scan_rate(store, layout, page_rows)));
    show_runs("gets/s, 1 thread", gets_1)?;
    show_runs("gets/s, 2 threads", gets_2)?;
    show_runs("scanned rows/s, pages of 1,000", || scans(1_000))?;
    show_runs("scanned rows/s, pages of 100", || scans(100))
}

/// A store with a space for each partition of the layout.
fn open(path: &Path, options: Options, runtime: &Runtime) -> Outcome<EmbeddedStore> {
    let store = EmbeddedStore::open(path, options)?;
    for partition in 0..PARTITIONS {
        runtime.block_on(store.create_space(Layout::PerSpace.space(partition)))?;
    }
    Ok(store)
}

fn document(layout: Layout, number: u64) -> Batch {
    let (space, key) = layout.document_key(number);
    let mut batch = Batch::with_capacity(1 + INDEX_KEYS as usize);
    batch.put(space, key, text(number, DOCUMENT_BYTES));
    for path in 0..INDEX_KEYS {
        let mut key = layout.key(number % PARTITIONS, b'i');
        key.extend_from_slice(&path.to_be_bytes());
        let term_bytes = INDEX_KEY_BYTES - 16;
        key.extend_from_slice(&text(mixed(number ^ (path << 56)), term_bytes));
        key.extend_from_slice(&number.to_be_bytes());
        batch.put(space, key, "");
    }
    batch
}

/// JSON-like: digits of numbers and a repeating frame, compressible by about half.
fn text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 40);
    let mut number = seed;
    while text.len() < bytes {
        number = mixed(number);
        text.extend_from_slice(format!("{number:x},\"property\":").as_bytes());
    }
    text.truncate(bytes);
    text
}

fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number ^ (number >> 27)
}

fn get_rate(store: &EmbeddedStore, layout: Layout, seed: u64) -> f64 {
    let start = now();
    let mut number = seed;
    let mut gets = 0_u64;
    while start.elapsed() < READ_TIME {
        for _ in 0..100 {
            number = mixed(number);
            let (space, key) = layout.document_key(number % LOADED_DOCUMENTS);
            let value = tesela_store::block_on(store.snapshot().get(space, &key));
            assert_eq!(value.ok().flatten().map_or(0, |value| value.len()), DOCUMENT_BYTES);
        }
        gets += 100;
    }
    gets as f64 / start.elapsed().as_secs_f64()
}

fn scan_rate(store: &EmbeddedStore, layout: Layout, page_rows: usize) -> f64 {
    let start = now();
    let mut rows = 0;
    while start.elapsed() < READ_TIME {
        for partition in 0..PARTITIONS {
            let snapshot = store.snapshot();
            let mut range = KeyRange::prefix(&layout.key(partition, b'd'));
            loop {
                let limit = ScanLimit::rows(page_rows);
                let page = tesela_store::block_on(snapshot.scan(
                    layout.space(partition),
                    range.clone(),
                    Direction::Forward,
                    limit,
                ));
                let page = page.expect("a loaded store can be scanned");
                rows += page.rows.len();
                match page.rows.last() {
                    Some((key, _)) if page.more => range = range.after(key, Direction::Forward),
                    _ => break,
                }
            }
        }
    }
    rows as f64 / start.elapsed().as_secs_f64()
}

/// How many per second, and what each costs.
struct Run {
    rate: f64,
    cost_us: f64,
}

impl Run {
    /// `work` does something for `time` and returns how often per second.
    fn measure(time: Duration, work: impl FnOnce() -> Outcome<f64>) -> Outcome<Self> {
        let cpu_before = cpu_seconds()?;
        let rate = work()?;
        Ok(Self { rate, cost_us: (cpu_seconds()? - cpu_before) * 1e6 / (rate * time.as_secs_f64()) })
    }
}

fn show_runs(name: &str, run: impl FnMut() -> Outcome<Run>) -> Outcome<()> {
    let runs = std::iter::repeat_with(run).take(RUNS).collect::<Outcome<Vec<_>>>()?;
    show(name, "/s", runs.iter().map(|run| run.rate).collect());
    show("  processor time each", "us", runs.iter().map(|run| run.cost_us).collect());
    Ok(())
}

fn show(name: &str, unit: &str, mut runs: Vec<f64>) {
    runs.sort_by(f64::total_cmp);
    let (least, median, most) = (runs[0], runs[runs.len() / 2], runs[runs.len() - 1]);
    let digits = if median < 100.0 { 2 } else { 0 };
    println!("{name:<38} {median:>10.digits$} {unit}   ({least:.digits$} to {most:.digits$})");
}

fn timed_ms<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, E> {
    let start = now();
    let done = work()?;
    let elapsed = ms(start);
    drop(done);
    Ok(elapsed)
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

#[expect(clippy::disallowed_methods, reason = "a measurement reads the real clock")]
fn now() -> Instant {
    Instant::now()
}

/// Processor time of this process, where the system tells it: less moved by other load than rates.
fn cpu_seconds() -> Outcome<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name in parentheses may hold spaces; user and system time are fields 12 and 13 behind it.
    let (_, fields) = stat.rsplit_once(')').ok_or("no fields")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>()?;
    Ok(ticks / TICKS_PER_SECOND)
}

/// Resident memory of this process, where the system tells it.
fn resident_mb() -> Outcome<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
}
