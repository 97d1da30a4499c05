//! The data folder: who may use it, and whether we understand it.
//!
//! ```text
//! <folder>/LOCK     locked while a process uses the folder; holds that process's id
//! <folder>/FORMAT   what the folder is, in three lines of text
//! <folder>/store/   the engine's own files
//! ```
//!
//! Other files may stand beside these three; they are not looked at. `FORMAT` is
//!
//! ```text
//! tesela data folder
//! format 1
//! state ready
//! ```
//!
//! and decides everything: it is first written with `state creating`, then the engine makes its
//! files, then it is replaced by one with `state ready`. So a start that was killed halfway is told
//! from a folder that lost something:
//!
//! | `FORMAT` | `store/` | means |
//! |---|---|---|
//! | absent | absent | a new folder |
//! | creating | any | a first start was interrupted; nothing was acknowledged yet: begin again |
//! | ready, our version | whole | ours |
//! | ready, our version | parts missing | damaged: refuse |
//! | ready, higher version | any | written by a newer release: refuse |
//! | absent or unreadable | present | damaged: refuse |
//!
//! Nothing is ever reset silently: "begin again" is the one case that removes files, and then
//! `FORMAT` proves that they hold nothing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::options::Durability;
use crate::{log, manifest};

/// The format this release writes, and the newest it reads. Every change of what is on disk that
/// an older release would misread adds 1.
pub const FORMAT_VERSION: u32 = 1;

const MAGIC: &str = "tesela data folder";
const FORMAT_FILE: &str = "FORMAT";
const FORMAT_DRAFT: &str = "FORMAT.new";
const LOCK_FILE: &str = "LOCK";
const STORE_FOLDER: &str = "store";
/// The longest `FORMAT` we look at; ours is a third of it.
const FORMAT_BYTES_MAX: u64 = 128;

/// Why a data folder was not opened. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("data folder {path} is used by {}", match pid { Some(pid) => format!("process {pid}"), None => "another process".into() })]
    Locked { path: PathBuf, pid: Option<u32> },

    #[error("data folder {path} has format {found}, this release reads up to {FORMAT_VERSION}: use a newer release")]
    NewerFormat { path: PathBuf, found: u32 },

    #[error("data folder {path} is damaged: {reason}")]
    Damaged { path: PathBuf, reason: String },

    #[error("data folder {path} cannot be used: {source}")]
    Io { path: PathBuf, source: io::Error },
}

/// The right to use a data folder, held until dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The lock belongs to the open file and goes with it, also when the process is killed.
    _lock: File,
}

/// What `FORMAT` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Creating,
    Ready,
}

impl Folder {
    /// Locks the folder and lets `open_engine` open or create the engine's files in it.
    pub fn open<T>(
        path: &Path,
        durability: Durability,
        open_engine: impl FnOnce(&Path) -> Result<T, OpenError>,
    ) -> Result<(Self, T), OpenError> {
        let folder = Self::lock(path)?;
        let store = path.join(STORE_FOLDER);
        let state = folder.read_format()?;
        if state == Some(State::Ready) {
            folder.check_store(&store, durability)?;
            let engine = open_engine(&store)?;
            return Ok((folder, engine));
        }
        if state.is_none() && store.exists() {
            return Err(folder.damaged(format!("{STORE_FOLDER} is there, {FORMAT_FILE} is not")));
        }
        folder.write_format(State::Creating).map_err(|source| folder.io(source))?;
        if store.exists() {
            fs::remove_dir_all(&store).map_err(|source| folder.io(source))?;
        }
        let engine = open_engine(&store)?;
        folder.write_format(State::Ready).map_err(|source| folder.io(source))?;
        Ok((folder, engine))
    }

    fn lock(path: &Path) -> Result<Self, OpenError> {
        let io = |source| OpenError::Io { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(io)?;
        let lock = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path.join(LOCK_FILE));
        let mut lock = lock.map_err(io)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // The id is a courtesy: without it the refusal stands all the same.
                let pid = lock.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                return Err(OpenError::Locked { path: path.to_owned(), pid });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let mut write_pid = || {
            lock.set_len(0)?;
            lock.rewind()?;
            writeln!(lock, "{}", std::process::id())
        };
        write_pid().map_err(io)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    fn read_format(&self) -> Result<Option<State>, OpenError> {
        let file = match File::open(self.path.join(FORMAT_FILE)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.io(source)),
        };
        let mut bytes = Vec::new();
        file.take(FORMAT_BYTES_MAX).read_to_end(&mut bytes).map_err(|source| self.io(source))?;
        match parse_format(&bytes) {
            Format::Ours(state) => Ok(Some(state)),
            Format::Newer(found) => Err(OpenError::NewerFormat { path: self.path.clone(), found }),
            Format::Unreadable => Err(self.damaged(format!("{FORMAT_FILE} is not one of ours"))),
        }
    }

    /// Replaces `FORMAT` as one step: a crash leaves the old one or the new one.
    fn write_format(&self, state: State) -> io::Result<()> {
        let draft = self.path.join(FORMAT_DRAFT);
        let mut file = File::create(&draft)?;
        file.write_all(format_text(state).as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, self.path.join(FORMAT_FILE))?;
        sync_folder(&self.path)
    }

    /// The engine takes an absent marker for a new database and absent logs for empty ones; both
    /// would be a silent loss.
    fn check_store(&self, store: &Path, durability: Durability) -> Result<(), OpenError> {
        if !store.join("version").is_file() {
            return Err(self.damaged(format!("{STORE_FOLDER}/version is missing")));
        }
        if !store.join("keyspaces/0").is_dir() {
            return Err(self.damaged(format!("{STORE_FOLDER}/keyspaces/0 is missing")));
        }
        let damage = || Ok(manifest::damage(store)?.or(log::damage(store, durability)?));
        match damage().map_err(|source| self.io(source))? {
            None => Ok(()),
            Some(reason) => Err(self.damaged(reason)),
        }
    }

    fn damaged(&self, reason: String) -> OpenError {
        OpenError::Damaged { path: self.path.clone(), reason }
    }

    fn io(&self, source: io::Error) -> OpenError {
        OpenError::Io { path: self.path.clone(), source }
    }
}

enum Format {
    Ours(State),
    Newer(u32),
    Unreadable,
}

fn format_text(state: State) -> String {
    let state = match state {
        State::Creating => "creating",
        State::Ready => "ready",
    };
    format!("{MAGIC}\nformat {FORMAT_VERSION}\nstate {state}\n")
}

fn parse_format(bytes: &[u8]) -> Format {
    // A newer release may add lines, but begins with these two.
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n');
    let magic = lines.next();
    let version = lines.next().and_then(|line| line.strip_prefix("format ")).and_then(|number| number.parse().ok());
    match (magic, version) {
        (Some(MAGIC), Some(found)) if found > FORMAT_VERSION => Format::Newer(found),
        (Some(MAGIC), Some(FORMAT_VERSION)) => {
            match [State::Creating, State::Ready].into_iter().find(|&state| format_text(state).as_bytes() == bytes) {
                Some(state) => Format::Ours(state),
                None => Format::Unreadable,
            }
        }
        _ => Format::Unreadable,
    }
}

/// Makes names in the folder durable. Elsewhere than on Unix a folder cannot be synced.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
