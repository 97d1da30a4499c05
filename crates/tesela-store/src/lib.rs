//! The storage contract: ordered keys, atomic batches, snapshots; the memory engine and the suite every engine passes.
//!
//! # What it models
//!
//! A store holds *spaces*. A space is one ordered map from byte keys to byte values; space 0 is
//! the catalog, every other space is one physical partition. What the bytes mean is decided above
//! this seam, so the meaning exists once and every engine serves it. Three verbs cross the seam,
//! and each is worth a network round trip: [`Snapshot::get`], [`Snapshot::scan`] (a page at a
//! time) and [`Store::commit`]. They are asynchronous so that a networked engine fits, and
//! statically dispatched so that an engine in the same process answers with a future that is
//! ready at once.
//!
//! # Invariants every engine keeps (the `suite` module, behind the feature of that name, checks them)
//!
//! 1. A commit is all or nothing, over any number of spaces. No reader ever sees half of one.
//! 2. When `commit` resolves with `Ok`, every snapshot taken afterwards sees it.
//! 3. When it resolves with `Ok`, it survives a crash, if the engine runs in its durable mode.
//! 4. A snapshot sees one moment of all spaces, for as long as it lives.
//! 5. Commits that overlap in time take effect in some single order; two commits made one after
//!    the other take effect in that order.
//! 6. Dropping a space never touches another one.
//!
//! # A worked example
//!
//! ```
//! use tesela_store::{Batch, Direction, KeyRange, MemoryStore, ScanLimit, Snapshot, SpaceId, Store};
//! # tesela_store::block_on(async {
//! let store = MemoryStore::new();
//! let space = SpaceId(1);
//! store.create_space(space).await?;
//!
//! let mut batch = Batch::new();
//! batch.put(space, &b"doc/a"[..], &b"{}"[..]);
//! batch.put(space, &b"doc/b"[..], &b"{}"[..]);
//! let before = store.snapshot();
//! store.commit(batch).await?;
//!
//! assert_eq!(before.get(space, b"doc/a").await?, None);
//! let documents = KeyRange::prefix(b"doc/");
//! let page = store.snapshot().scan(space, documents, Direction::Forward, ScanLimit::rows(1)).await?;
//! assert_eq!(page.rows[0].0, "doc/a");
//! assert!(page.more);
//! # Ok::<(), tesela_store::Error>(())
//! # }).unwrap();
//! ```
//!
//! # What is left out
//!
//! No read-write transactions and no conditional commits: one writer owns a space and decides
//! above the seam what to write. No range deletion: not every engine can do it atomically; whole
//! spaces are dropped instead. No iterators held across calls: a page is resumed by its last key.

mod batch;
#[cfg(any(test, feature = "suite"))]
mod chance;
mod error;
#[cfg(any(test, feature = "suite"))]
pub mod faulty;
pub mod keycode;
mod memory;
mod range;
#[cfg(any(test, feature = "suite"))]
pub mod suite;

use std::future::Future;

use bytes::Bytes;

pub use batch::{Batch, Change, KEY_BYTES_MAX, VALUE_BYTES_MAX};
pub use error::{Error, Result};
pub use memory::{MemorySnapshot, MemoryStore};
pub use range::{Direction, KeyRange, Page, ScanLimit};

/// Names one ordered key space: 0 is the catalog, n is physical partition n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u64);

impl SpaceId {
    /// Where databases, containers and the partition map are kept.
    pub const CATALOG: Self = Self(0);
}

impl std::fmt::Display for SpaceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Spaces of ordered keys. A clone is another handle to the same store.
pub trait Store: Clone + Send + Sync + 'static {
    type Snapshot: Snapshot;

    /// Makes an empty space, durably. Does nothing if it exists.
    fn create_space(&self, space: SpaceId) -> impl Future<Output = Result<()>> + Send;

    /// Removes a space and all it holds, and in time gives its room back. Does nothing if there
    /// is none. Snapshots taken before may answer [`Error::NoSuchSpace`] from now on.
    fn drop_space(&self, space: SpaceId) -> impl Future<Output = Result<()>> + Send;

    /// The spaces that exist, ascending.
    fn spaces(&self) -> impl Future<Output = Result<Vec<SpaceId>>> + Send;

    /// This moment of all spaces. Cheap enough to take one per request; an engine may keep
    /// replaced rows for as long as a snapshot that sees them lives.
    fn snapshot(&self) -> Self::Snapshot;

    /// Applies all changes of the batch or none, in their order. `Ok` means visible, and durable
    /// by the engine's durability mode. After an error, [`Error::may_have_applied`] tells whether the
    /// batch is certainly not there.
    fn commit(&self, batch: Batch) -> impl Future<Output = Result<()>> + Send;

    /// Makes everything committed so far durable, whatever the durability mode.
    fn flush(&self) -> impl Future<Output = Result<()>> + Send;

    /// About how much room the space takes. Fit for quotas and statistics, not for accounting.
    fn size_bytes(&self, space: SpaceId) -> impl Future<Output = Result<u64>> + Send;
}

/// One moment of all spaces. A clone sees the same moment.
pub trait Snapshot: Clone + Send + Sync + 'static {
    fn get(&self, space: SpaceId, key: &[u8]) -> impl Future<Output = Result<Option<Bytes>>> + Send;

    /// Rows of the range in key order (`Forward`) or against it (`Backward`), until the range or
    /// the limit ends. A page holds at least one row if the range does and `limit.rows` is not 0,
    /// however large that row is; resume with [`KeyRange::after`] the last key.
    fn scan(
        &self,
        space: SpaceId,
        range: KeyRange,
        direction: Direction,
        limit: ScanLimit,
    ) -> impl Future<Output = Result<Page>> + Send;
}

/// Drives a future on this thread, parking while it waits: for tests, examples and tools that
/// have no runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}
