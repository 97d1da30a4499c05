//! Judges the commit log before the engine replays it: torn at its end, or damaged in its middle?
//!
//! A log is a row of batches, zeros behind them. A batch is
//!
//! ```text
//! start   01  rows (4)  sequence number (8)
//! row     02  kind (1)  compression (1)  tree (8)  key length (2)  value length (4)  stored length (4)  key  stored value
//! clear   04  tree (8)
//! end     03  XXH3-64 of all rows and clears as stored (8)  'F' 'J' 'L' 03
//! ```
//!
//! with all numbers little endian. The engine stops replaying at the first bytes that are no entry
//! and forgets the rest, and refuses the whole log if a batch is whole but for its checksum. Neither
//! is right in every case, because what cannot be read is one of two things:
//!
//! * **A torn end.** The power failed while the last group was written; some of its pages are there,
//!   some are not, nobody was answered. It is cut off, wherever in it the hole is.
//! * **A damaged middle.** Readable batches follow, so the unreadable one was acknowledged. Replaying
//!   would drop commits in silence; this is refused, and the files are left as they are.
//!
//! The second conclusion needs an fsync between batches. Without one ([`Durability`] other than
//! `Sync`) the power may tear several batches, whose loss was agreed to; then the log is cut, too.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::options::Durability;

const START: u8 = 1;
const ROW: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const TRAILER: &[u8] = b"FJL\x03";
const READ_BYTES: usize = 64 * 1024;

/// Why the logs in `store` cannot be trusted, if so. Cuts off a torn end.
pub(crate) fn damage(store: &Path, durability: Durability) -> io::Result<Option<String>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(store)? {
        let path = entry?.path();
        if path.extension().is_some_and(|suffix| suffix == "jnl") {
            let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<u64>().ok());
            match number {
                Some(number) => logs.push((number, path)),
                None => return Ok(Some(format!("{} has no number for a name", path.display()))),
            }
        }
    }
    logs.sort();
    let Some((_, active)) = logs.pop() else { return Ok(Some("there is no commit log".into())) };
    for (_, closed) in logs {
        // A log is synced before the next one is begun.
        if let Some(torn) = torn_at(&closed)? {
            return Ok(Some(unreadable(&closed, torn)));
        }
    }
    let Some(torn) = torn_at(&active)? else { return Ok(None) };
    if durability == Durability::Sync && batch_behind(&active, torn)? {
        return Ok(Some(unreadable(&active, torn)));
    }
    let log = OpenOptions::new().write(true).open(&active)?;
    log.set_len(torn)?;
    log.sync_all()?;
    Ok(None)
}

fn unreadable(log: &Path, at: u64) -> String {
    format!("acknowledged commits in {} cannot be read from byte {at} on", log.display())
}

/// Where the readable batches end, if anything but zeros follows.
fn torn_at(path: &Path) -> io::Result<Option<u64>> {
    let file = File::open(path)?;
    let allocated_bytes = allocated_bytes(&file)?;
    let mut reader = BufReader::with_capacity(READ_BYTES, file);
    let mut end = 0;
    while let Some(bytes) = whole_batch(&mut reader)? {
        end += bytes;
    }
    // Most of a log is a hole; there is no need to read it.
    if allocated_bytes.is_some_and(|allocated_bytes| allocated_bytes <= end) {
        return Ok(None);
    }
    reader.seek(SeekFrom::Start(end))?;
    let mut piece = vec![0; READ_BYTES];
    loop {
        match reader.read(&mut piece)? {
            0 => return Ok(None),
            read if piece[..read].iter().any(|&byte| byte != 0) => return Ok(Some(end)),
            _ => {}
        }
    }
}

#[cfg(unix)]
fn allocated_bytes(file: &File) -> io::Result<Option<u64>> {
    /// The unit of `st_blocks`, whatever the block size of the file system.
    const BLOCK_BYTES: u64 = 512;
    use std::os::unix::fs::MetadataExt;
    Ok(Some(file.metadata()?.blocks() * BLOCK_BYTES))
}

#[cfg(not(unix))]
fn allocated_bytes(_file: &File) -> io::Result<Option<u64>> {
    Ok(None)
}

/// True if a whole batch begins somewhere behind `torn`.
fn batch_behind(path: &Path, torn: u64) -> io::Result<bool> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(torn))?;
    let mut rest = Vec::new();
    file.read_to_end(&mut rest)?;
    for at in memchr::memchr_iter(START, &rest).filter(|&at| at > 0) {
        if whole_batch(&mut &rest[at..])?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The length of the batch at the reader's place; none if there is no whole one.
fn whole_batch(reader: &mut impl BufRead) -> io::Result<Option<u64>> {
    match read_batch(reader) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData) => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_batch(reader: &mut impl BufRead) -> io::Result<u64> {
    let not_one = || io::Error::from(io::ErrorKind::InvalidData);
    let mut start = [0; 13];
    reader.read_exact(&mut start)?;
    let [START, count @ ..] = start else { return Err(not_one()) };
    let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]);
    let mut bytes = start.len() as u64;
    let mut checksum = Xxh3::new();
    for _ in 0..count {
        bytes += read_row(reader, &mut checksum)?;
    }
    let mut end = [0; 13];
    reader.read_exact(&mut end)?;
    bytes += end.len() as u64;
    let (stored, trailer) = end[1..].split_at(8);
    let is_whole = end[0] == END && trailer == TRAILER && stored == checksum.digest().to_le_bytes();
    if is_whole { Ok(bytes) } else { Err(not_one()) }
}

/// Reads a row or a clear into the checksum.
fn read_row(reader: &mut impl BufRead, checksum: &mut Xxh3) -> io::Result<u64> {
    let mut head = [0; 21];
    let (clear, row) = head.split_at_mut(9);
    reader.read_exact(clear)?;
    if clear[0] == CLEAR {
        checksum.update(clear);
        return Ok(clear.len() as u64);
    }
    if clear[0] != ROW {
        return Err(io::ErrorKind::InvalidData.into());
    }
    reader.read_exact(row)?;
    checksum.update(&head);
    let key_bytes = u16::from_le_bytes([head[11], head[12]]);
    let stored_bytes = u32::from_le_bytes([head[17], head[18], head[19], head[20]]);
    let mut rest_bytes = u64::from(key_bytes) + u64::from(stored_bytes);
    let total_bytes = head.len() as u64 + rest_bytes;
    // In pieces: a damaged length must not ask for memory.
    while rest_bytes > 0 {
        let piece = reader.fill_buf()?;
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let taken = piece.len().min(usize::try_from(rest_bytes).unwrap_or(usize::MAX));
        checksum.update(&piece[..taken]);
        reader.consume(taken);
        rest_bytes -= taken as u64;
    }
    Ok(total_bytes)
}
