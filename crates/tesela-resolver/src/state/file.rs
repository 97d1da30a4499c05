//! A map in a file.
//!
//! A save writes a temporary file beside it, syncs it, renames it over the map and syncs the folder: a crash
//! leaves the old map or the new one, whole. Between processes a lock on `<file>.lock` orders "compare the
//! etag" and "rename"; the operating system releases it when its holder dies. Loads take no lock, because a
//! rename is atomic.
//!
//! The etag is the MD5 of the content. A revision inside the content grows with every change, so a map never comes
//! back to an earlier etag.
//!
//! The futures do their file access at once and never wait: a map is small and local. Network file systems without
//! working locks are not supported.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::{StateStore, StoreError, StoredState};
use crate::hash::Hasher;
use crate::limits::STATE_BYTES_MAX;
use crate::resolvers::BoxFuture;

/// A map in one file.
#[derive(Clone, Debug)]
pub struct FileStore {
    path: PathBuf,
}

impl FileStore {
    /// The map at `path`, whose folder must exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    }

    fn read(&self) -> Result<Option<StoredState>, StoreError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut text = Vec::new();
        file.take(STATE_BYTES_MAX as u64 + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() > STATE_BYTES_MAX {
            return Err(StoreError::TooLarge { found: text.len() });
        }
        let etag = etag(&text);
        Ok(Some(StoredState { text, etag }))
    }

    fn replace(&self, text: &[u8], expected: Option<&str>) -> Result<String, StoreError> {
        if text.len() > STATE_BYTES_MAX {
            return Err(StoreError::TooLarge { found: text.len() });
        }
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(self.beside(".lock"));
        let lock = lock.map_err(failed)?;
        lock.lock().map_err(failed)?;
        let found = self.read()?.map(|stored| stored.etag);
        if found.as_deref() != expected {
            return Err(StoreError::Conflict);
        }
        self.write_and_rename(text).map_err(failed)?;
        // Dropping the file gives up the lock.
        drop(lock);
        Ok(etag(text))
    }

    fn write_and_rename(&self, text: &[u8]) -> io::Result<()> {
        // One name is enough: only the holder of the lock writes it. What a crash left there is overwritten.
        let temporary = self.beside(".new");
        let mut file = File::create(&temporary)?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&temporary, &self.path)?;
        sync_folder(&self.path)
    }
}

/// Makes a rename durable. Only Unix can open a folder to sync it; elsewhere a rename is as durable as the
/// system makes it.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

fn etag(text: &[u8]) -> String {
    format!("{:032x}", Hasher::md5().point(text))
}

fn failed(error: io::Error) -> StoreError {
    StoreError::Provider(error.into())
}

impl StateStore for FileStore {
    fn load(&self) -> BoxFuture<'_, Result<Option<StoredState>, StoreError>> {
        Box::pin(async move { self.read() })
    }

    fn save<'a>(&'a self, text: &'a [u8], expected: Option<&'a str>) -> BoxFuture<'a, Result<String, StoreError>> {
        Box::pin(async move { self.replace(text, expected) })
    }
}
