//! Checks the engine's lists of tables before the engine believes them.
//!
//! Each tree keeps the list of its table files in `v<n>` and names the current one in `current`:
//! n (8 bytes, little endian), the XXH3-128 of `v<n>` (16 bytes, little endian), and 0 for the kind
//! of checksum. The engine writes that checksum but does not compare it when it opens, and a wrong
//! count in a list makes it ask for more memory than there is, which ends the process. So it is
//! compared here; it costs two small reads per space.

use std::fs;
use std::io;
use std::path::Path;

const XXH3: u8 = 0;

/// Why the list of tables of one tree cannot be trusted, if so.
pub(crate) fn damage(store: &Path) -> io::Result<Option<String>> {
    for entry in fs::read_dir(store.join("keyspaces"))? {
        let tree = entry?.path();
        let current = match fs::read(tree.join("current")) {
            Ok(current) => current,
            // A tree that was being made or removed; the engine cleans up.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
            Err(error) => return Err(error),
        };
        let Some((version, checksum)) = parse(&current) else {
            return Ok(Some(format!("{} cannot be understood", tree.join("current").display())));
        };
        let list = tree.join(format!("v{version}"));
        match fs::read(&list) {
            Ok(bytes) if xxhash_rust::xxh3::xxh3_128(&bytes) == checksum => {}
            Ok(_) => return Ok(Some(format!("{} does not have its checksum", list.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some(format!("{} is missing", list.display())));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn parse(current: &[u8]) -> Option<(u64, u128)> {
    let (version, rest) = current.split_first_chunk()?;
    let (checksum, kind) = rest.split_first_chunk()?;
    (kind == [XXH3]).then(|| (u64::from_le_bytes(*version), u128::from_le_bytes(*checksum)))
}
