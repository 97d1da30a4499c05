//! The LSM tree library (fjall) and how it is set up. Only this file, `view` and `committer` name it.
//!
//! Each space is a tree of its own ("keyspace"), so that dropping one removes its folder and touches
//! no other; all of them share one commit log, one block cache and the background threads. ADR 0003
//! has the measurements behind this and behind the sizes.

use std::path::Path;

use fjall::config::BlockSizePolicy;
use fjall::{AbstractTree, Database, Keyspace, KeyspaceCreateOptions};
use tesela_store::{Error, SpaceId};

use crate::folder::OpenError;
use crate::options::{BLOCK_BYTES, JOURNALS_BYTES, Options};
use crate::view::Spaces;

/// The least the engine accepts.
const OPEN_FILES_MIN: usize = 10;

pub(crate) fn open_database(path: &Path, options: &Options) -> Result<(Database, Spaces), OpenError> {
    let open = || -> fjall::Result<_> {
        let database = Database::builder(path)
            .cache_size(options.cache_bytes)
            .max_cached_files(Some(options.open_files.max(OPEN_FILES_MIN)))
            .max_journaling_size(JOURNALS_BYTES)
            .worker_threads(options.worker_threads.max(1))
            .manual_journal_persist(true)
            .open()?;
        let mut spaces = Spaces::new();
        for name in database.list_keyspace_names() {
            if let Some(space) = space_of_name(&name) {
                spaces.insert(space, open_keyspace(&database, space, options)?);
            }
        }
        Ok((database, spaces))
    };
    let damaged = |reason: String| OpenError::Damaged { path: path.to_owned(), reason };
    // Some of the engine's checks of its own files are assertions.
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(open)) {
        Ok(Ok(opened)) => Ok(opened),
        Ok(Err(fjall::Error::Io(source))) => Err(OpenError::Io { path: path.to_owned(), source }),
        Ok(Err(fjall::Error::Locked)) => Err(OpenError::Locked { path: path.to_owned(), pid: None }),
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(panic) => Err(damaged(panic_message(panic.as_ref()).to_owned())),
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("the engine could not read its files")
}

/// Opens the tree of a space, making it if there is none.
pub(crate) fn open_keyspace(database: &Database, space: SpaceId, options: &Options) -> fjall::Result<Keyspace> {
    database.keyspace(&name_of_space(space), || {
        KeyspaceCreateOptions::default()
            .max_memtable_size(options.memtable_bytes)
            .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
    })
}

/// Trees are named by the space's number in 16 hexadecimal digits.
fn name_of_space(space: SpaceId) -> String {
    format!("{:016x}", space.0)
}

fn space_of_name(name: &str) -> Option<SpaceId> {
    let space = SpaceId(u64::from_str_radix(name, 16).ok()?);
    (name_of_space(space) == name).then_some(space)
}

/// Bytes of rows that are in memory only and not yet on their way to a table.
pub(crate) fn memtable_bytes(keyspace: &Keyspace) -> u64 {
    keyspace.tree.active_memtable().size()
}

/// About what a space takes on disk and in memory. The engine does not tell the size of memtables
/// that are being written to tables; nearly all of them were sealed because they were full.
pub(crate) fn space_bytes(keyspace: &Keyspace, options: &Options) -> u64 {
    let sealed = keyspace.sealed_memtable_count() as u64;
    keyspace.disk_space() + memtable_bytes(keyspace) + sealed * options.memtable_bytes
}

pub(crate) fn engine_error(error: fjall::Error) -> Error {
    match error {
        fjall::Error::Io(error) => Error::from(error),
        fjall::Error::Poisoned => Error::Poisoned { reason: "an earlier write failed".into() },
        fjall::Error::Storage(fjall::LsmError::Io(error)) => Error::from(error),
        other => Error::Damaged { reason: other.to_string() },
    }
}
