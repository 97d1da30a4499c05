//! The default engine: an LSM tree in the data folder, with group commit.
//!
//! ```text
//!  commit ──> queue ──> committer thread ──> one log write + fsync ──> memtables ──> publish view
//!                         (merges what waits)                                            │
//!  snapshot, get, scan  <── on the caller's thread, from the view published last  <──────┘
//! ```
//!
//! * `queue`: bounded, where commits gather while the disk is busy.
//! * `committer`: the one writer; group commit, spaces, poisoning.
//! * `view`: the moment readers see; `get` and `scan`.
//! * `folder`: lock, format version, "never a silent reset".
//! * `log`, `manifest`: the engine's commit log and lists of tables, judged before it reads them.
//! * `engine`: the LSM tree library (fjall) and its settings.
//! * `options`: what can be tuned.
//!
//! The bytes on disk are described in `docs/internals/on_disk_format.md`.

mod committer;
mod engine;
mod folder;
mod log;
mod manifest;
mod options;
mod queue;
mod view;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use tesela_store::{Batch, Result, SpaceId, Store};

use committer::Committer;
use queue::{Queue, Work};
use view::{Published, View};

pub use folder::{FORMAT_VERSION, OpenError};
pub use options::{BUFFERED_BYTES_MAX, Durability, Options};
pub use view::EmbeddedSnapshot;

/// A store in a folder of this machine. Clones are handles to the same store; it is closed when
/// the last one is gone, and the folder is unlocked when the last snapshot is gone, too.
#[derive(Clone)]
pub struct EmbeddedStore(Arc<Handle>);

struct Handle {
    queue: Arc<Queue>,
    published: Published,
    options: Options,
    committer: Option<JoinHandle<()>>,
}

impl EmbeddedStore {
    /// Opens the store in `path`, making the folder if there is none. Blocks: a store that was not
    /// closed reads back its commit log first.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let (folder, (database, spaces)) =
            folder::Folder::open(path, options.durability, |store| engine::open_database(store, &options))?;
        let (folder, spaces) = (Arc::new(folder), Arc::new(spaces));
        let view = View { moment: database.snapshot(), spaces: spaces.clone(), _folder: folder.clone() };
        let published = Published::new(view);
        let queue = Arc::new(Queue::new());
        let committer = Committer {
            database,
            spaces,
            options: options.clone(),
            published: published.clone(),
            queue: queue.clone(),
            folder,
            unsynced_bytes: 0,
            unweighed_bytes: 0,
            poisoned: None,
        };
        let committer = std::thread::Builder::new()
            .name("tesela-committer".into())
            .spawn(move || committer.run())
            .map_err(|source| OpenError::Io { path: path.to_owned(), source })?;
        Ok(Self(Arc::new(Handle { queue, published, options, committer: Some(committer) })))
    }
}

impl Drop for Handle {
    /// Serves what waits, syncs, and ends the thread.
    fn drop(&mut self) {
        self.queue.close();
        if let Some(committer) = self.committer.take() {
            committer.join().ok();
        }
    }
}

impl Store for EmbeddedStore {
    type Snapshot = EmbeddedSnapshot;

    async fn create_space(&self, space: SpaceId) -> Result<()> {
        self.0.queue.ask(Work::CreateSpace(space)).await
    }

    async fn drop_space(&self, space: SpaceId) -> Result<()> {
        self.0.queue.ask(Work::DropSpace(space)).await
    }

    async fn spaces(&self) -> Result<Vec<SpaceId>> {
        Ok(self.0.published.latest().spaces.keys().copied().collect())
    }

    fn snapshot(&self) -> EmbeddedSnapshot {
        EmbeddedSnapshot(self.0.published.latest())
    }

    async fn commit(&self, batch: Batch) -> Result<()> {
        batch.check()?;
        if batch.is_empty() {
            return Ok(());
        }
        self.0.queue.ask(Work::Commit(batch)).await
    }

    async fn flush(&self) -> Result<()> {
        self.0.queue.ask(Work::Flush).await
    }

    async fn size_bytes(&self, space: SpaceId) -> Result<u64> {
        let view = self.0.published.latest();
        let keyspace = view.space(space)?;
        Ok(engine::space_bytes(keyspace, &self.0.options))
    }
}
