//! The one thread that writes: group commit.
//!
//! It takes all requests that wait, merges neighbouring commits into one engine batch, writes that
//! batch with one fsync, publishes the view behind it and then answers every caller. So 64 writers
//! share one fsync, and "answered" implies durable and visible.
//!
//! Spaces are created and dropped on the same thread, because the engine makes its newest number
//! visible when it does so, and that must not happen while a batch is half written.
//!
//! A commit that names an unknown space is refused alone; its neighbours in the group are written.
//! When a write or fsync fails, what the disk holds is unknown and trying again could lie about it
//! (the kernel may have dropped the pages it could not write). So the committer never writes again:
//! that group and all that follows is answered `Poisoned`, until a restart reads back the truth.

use std::sync::Arc;

use fjall::{Database, Keyspace, OwnedWriteBatch, PersistMode};
use tesela_store::{Change, Error, Result, SpaceId};

use crate::engine::{engine_error, memtable_bytes, open_keyspace};
use crate::folder::Folder;
use crate::options::{
    BACKLOG_MEMTABLES_MAX, BACKLOG_TICK, BACKLOG_TICKS_MAX, BUFFERED_BYTES_MAX, CLOSE_MEMTABLE_BYTES_MAX, CLOSE_TICK,
    CLOSE_TICKS_MAX, Durability, Options, QUIET,
};
use crate::queue::{Next, Queue, Request, Work};
use crate::view::{Published, Spaces, View};

pub(crate) struct Committer {
    pub database: Database,
    pub spaces: Arc<Spaces>,
    pub options: Options,
    pub published: Published,
    pub queue: Arc<Queue>,
    pub folder: Arc<Folder>,
    /// Bytes written since the last sync, if not every write syncs.
    pub unsynced_bytes: u64,
    /// Bytes written since memory was last looked at.
    pub unweighed_bytes: u64,
    /// Why nothing is written any more.
    pub poisoned: Option<String>,
}

/// Refuses later requests if the committer's thread unwinds, instead of leaving them to wait.
struct AbandonOnExit(Arc<Queue>);

impl Drop for AbandonOnExit {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Committer {
    /// Serves requests until the queue is closed and empty.
    pub fn run(mut self) {
        let _abandon = AbandonOnExit(self.queue.clone());
        loop {
            let wants_sync = self.options.durability == Durability::Buffered && self.unsynced_bytes > 0;
            match self.queue.next(wants_sync.then_some(QUIET)) {
                Next::Group(requests) => self.serve(requests),
                // A failure poisons, and the next caller hears of it.
                Next::Quiet => drop(self.sync()),
                Next::Closed => break,
            }
        }
        self.close();
    }

    /// Leaves little to do for the next start. Nothing acknowledged depends on it.
    fn close(&mut self) {
        if self.options.durability == Durability::None || self.sync().is_err() {
            return;
        }
        let large = |keyspace: &&Keyspace| memtable_bytes(keyspace) > CLOSE_MEMTABLE_BYTES_MAX;
        let large: Vec<_> = self.spaces.values().filter(large).cloned().collect();
        for keyspace in &large {
            self.guarded(|_| keyspace.rotate_memtable()).ok();
        }
        for _ in 0..CLOSE_TICKS_MAX {
            if large.iter().all(|keyspace| keyspace.sealed_memtable_count() == 0) {
                break;
            }
            std::thread::sleep(CLOSE_TICK);
        }
    }

    fn serve(&mut self, requests: Vec<Request>) {
        let mut commits = Vec::with_capacity(requests.len());
        for request in requests {
            if !matches!(request.work, Work::Commit(_)) {
                self.write(std::mem::take(&mut commits));
            }
            let outcome = match request.work {
                Work::Commit(_) => {
                    commits.push(request);
                    continue;
                }
                Work::CreateSpace(space) => self.create_space(space),
                Work::DropSpace(space) => self.drop_space(space),
                Work::Flush => self.sync(),
            };
            request.answer(outcome);
        }
        self.write(commits);
    }

    /// Writes all commits as one batch, then answers them.
    fn write(&mut self, commits: Vec<Request>) {
        let mut written = Vec::with_capacity(commits.len());
        let mut changes = Vec::new();
        let mut bytes = 0;
        for mut request in commits {
            let Work::Commit(batch) = &mut request.work else { unreachable!("only commits are collected") };
            let batch = std::mem::take(batch);
            if let Some(unknown) = batch.changes().iter().find(|change| !self.spaces.contains_key(&change.space)) {
                request.answer(Err(Error::NoSuchSpace(unknown.space)));
                continue;
            }
            bytes += batch.bytes() as u64;
            changes.extend(batch);
            written.push(request);
        }
        if written.is_empty() {
            return;
        }
        let batch = self.merge(changes);
        let outcome = self.guarded(|_| batch.commit());
        if outcome.is_ok() {
            self.unsynced_bytes += bytes;
            self.unweighed_bytes += bytes;
            self.publish();
        }
        for request in written {
            request.answer(outcome.clone());
        }
        if self.options.durability == Durability::Buffered && self.unsynced_bytes > BUFFERED_BYTES_MAX {
            self.sync().ok();
        }
        if self.unweighed_bytes > self.options.memtable_bytes / 8 {
            self.unweighed_bytes = 0;
            self.weigh_memtables();
        }
    }

    /// One engine batch of all changes, in their order, so that the last change of a key wins.
    fn merge(&self, changes: Vec<Change>) -> OwnedWriteBatch {
        let mut batch = OwnedWriteBatch::with_capacity(self.database.clone(), changes.len());
        for change in changes {
            let keyspace = self.spaces.get(&change.space).expect("commits with unknown spaces were refused");
            match change.value {
                Some(value) => batch.insert(keyspace, change.key, value),
                None => batch.remove(keyspace, change.key),
            }
        }
        batch.durability(self.persist_mode())
    }

    /// Bounds the rows in memory: of active memtables by sending the largest to a table, of those
    /// on their way by waiting a little for the disk, so that callers feel it, too.
    fn weigh_memtables(&mut self) {
        let active_bytes: u64 = self.spaces.values().map(memtable_bytes).sum();
        if active_bytes > self.options.memtables_bytes {
            let largest = self.spaces.values().max_by_key(|keyspace| memtable_bytes(keyspace)).cloned();
            if let Some(largest) = largest {
                self.guarded(|_| largest.rotate_memtable()).ok();
            }
        }
        for _ in 0..BACKLOG_TICKS_MAX {
            let backlog: usize = self.spaces.values().map(Keyspace::sealed_memtable_count).sum();
            if backlog <= BACKLOG_MEMTABLES_MAX {
                break;
            }
            std::thread::sleep(BACKLOG_TICK);
        }
    }

    fn create_space(&mut self, space: SpaceId) -> Result<()> {
        if self.spaces.contains_key(&space) {
            return Ok(());
        }
        let keyspace = self.guarded(|committer| open_keyspace(&committer.database, space, &committer.options))?;
        Arc::make_mut(&mut self.spaces).insert(space, keyspace);
        self.publish();
        Ok(())
    }

    fn drop_space(&mut self, space: SpaceId) -> Result<()> {
        let Some(keyspace) = self.spaces.get(&space).cloned() else { return Ok(()) };
        self.guarded(|committer| committer.database.delete_keyspace(keyspace))?;
        Arc::make_mut(&mut self.spaces).remove(&space);
        self.publish();
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.guarded(|committer| committer.database.persist(PersistMode::SyncAll))?;
        self.unsynced_bytes = 0;
        Ok(())
    }

    /// Runs a write, unless one failed before; a failure is the last one.
    fn guarded<T>(&mut self, write: impl FnOnce(&Self) -> fjall::Result<T>) -> Result<T> {
        if let Some(reason) = &self.poisoned {
            return Err(Error::Poisoned { reason: reason.clone() });
        }
        write(self).map_err(|error| {
            let reason = engine_error(error).to_string();
            self.poisoned = Some(reason.clone());
            Error::Poisoned { reason }
        })
    }

    fn persist_mode(&self) -> Option<PersistMode> {
        match self.options.durability {
            // The length of the log is part of what fdatasync writes; times are not needed.
            Durability::Sync => Some(PersistMode::SyncData),
            Durability::Buffered => Some(PersistMode::Buffer),
            Durability::None => None,
        }
    }

    fn publish(&self) {
        self.published.publish(View {
            moment: self.database.snapshot(),
            spaces: self.spaces.clone(),
            _folder: self.folder.clone(),
        });
    }
}
