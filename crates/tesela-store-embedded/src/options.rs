//! What an operator may tune, each with the default and its reason.

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// When a commit counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Durability {
    /// After fsync: survives a power cut. Commits that wait together share one fsync.
    #[default]
    Sync,
    /// After it reached the operating system: survives the end of the process, not that of the
    /// machine. Synced when the store has been quiet for a moment, or after [`BUFFERED_BYTES_MAX`].
    Buffered,
    /// At once: the end of the process may lose the last commits, never half of one.
    None,
}

/// Most bytes that `Durability::Buffered` leaves to the operating system before it syncs.
pub const BUFFERED_BYTES_MAX: u64 = 8 * MIB;

/// How an embedded store is opened. The defaults keep an idle server small: memory is taken when
/// rows are read or written, not when the store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    pub durability: Durability,
    /// Blocks of tables kept in memory, for all spaces together.
    pub cache_bytes: u64,
    /// A space's rows go from memory to a table when there are this many bytes of them.
    pub memtable_bytes: u64,
    /// When the rows in memory of all spaces reach this together, the largest goes to a table, so
    /// that hundreds of busy spaces do not hold a memtable each.
    pub memtables_bytes: u64,
    /// Background threads that write and merge tables. One always serves the first of the two, so
    /// that a long merge does not stall commits; hence at least 2.
    pub worker_threads: usize,
    /// Table files kept open.
    pub open_files: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            cache_bytes: 64 * MIB,
            memtable_bytes: 8 * MIB,
            memtables_bytes: 32 * MIB,
            worker_threads: 2,
            open_files: 512,
        }
    }
}

/// Log of commits not yet in tables; reopening reads at most this plus one log file. The smallest
/// the engine allows, because a quick start matters more here than rare flushes.
pub(crate) const JOURNALS_BYTES: u64 = 64 * MIB;

/// Size of the blocks that are read, cached and compressed as one. Measured in ADR 0003: larger
/// blocks scan faster, smaller ones cost less per cold read.
pub(crate) const BLOCK_BYTES: u32 = 4 * 1024;

/// Most bytes of commits merged into one write: bounds how long the first of a group waits.
pub(crate) const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Most bytes of commits waiting for the committer; callers beyond it wait their turn outside.
pub(crate) const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Memtables on their way to tables, of all spaces together, beyond which the committer waits.
pub(crate) const BACKLOG_MEMTABLES_MAX: usize = 8;

/// How long it waits at most before it writes on: a stuck disk must not look like a hanging store.
pub(crate) const BACKLOG_TICKS_MAX: u32 = 100;
pub(crate) const BACKLOG_TICK: std::time::Duration = std::time::Duration::from_millis(1);

/// Closing writes larger memtables to tables, because reading them back from the log is what makes
/// the next start slow; smaller ones read back in no time.
pub(crate) const CLOSE_MEMTABLE_BYTES_MAX: u64 = MIB;

/// How long closing waits for that at most, as steps of a tick. Beyond it the log is read instead.
pub(crate) const CLOSE_TICKS_MAX: u32 = 1_000;
pub(crate) const CLOSE_TICK: std::time::Duration = std::time::Duration::from_millis(10);

/// Quiet time after which `Durability::Buffered` syncs.
pub(crate) const QUIET: std::time::Duration = std::time::Duration::from_millis(100);

const _: () = assert!(QUEUE_BYTES_MAX >= GROUP_BYTES_MAX, "a full group must fit into the queue");
