//! A batch is the unit of atomicity: a list of changes to any spaces, applied in order, all or
//! none. A later change of the same key replaces an earlier one.

use bytes::Bytes;

use crate::{Error, Result, SpaceId};

/// Keys longer than this are refused. Origin: LSM engines keep the key length in 16 bits.
pub const KEY_BYTES_MAX: usize = 65_535;

/// Values longer than this are refused. A document of the largest size with its offset table takes
/// a small part of it; the rest is headroom for what a partition keeps beside documents.
pub const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One row put (`value` is there) or deleted (`value` is `None`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub space: SpaceId,
    pub key: Bytes,
    pub value: Option<Bytes>,
}

/// Changes that take effect together.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    changes: Vec<Change>,
    bytes: usize,
}

impl Batch {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_capacity(changes: usize) -> Self {
        Self { changes: Vec::with_capacity(changes), bytes: 0 }
    }

    pub fn put(&mut self, space: SpaceId, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.push(Change { space, key: key.into(), value: Some(value.into()) });
    }

    /// Deleting a key that is not there is no error.
    pub fn delete(&mut self, space: SpaceId, key: impl Into<Bytes>) {
        self.push(Change { space, key: key.into(), value: None });
    }

    pub fn push(&mut self, change: Change) {
        self.bytes += change.key.len() + change.value.as_ref().map_or(0, Bytes::len);
        self.changes.push(change);
    }

    /// Puts the changes of `other` behind those of this batch.
    pub fn append(&mut self, mut other: Self) {
        self.bytes += other.bytes;
        self.changes.append(&mut other.changes);
    }

    /// Number of changes.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What every engine checks before it accepts a batch, so that they refuse alike.
    pub fn check(&self) -> Result<()> {
        for change in &self.changes {
            if change.key.is_empty() {
                return Err(Error::EmptyKey { space: change.space });
            }
            if change.key.len() > KEY_BYTES_MAX {
                return Err(Error::KeyTooLong { space: change.space, bytes: change.key.len() });
            }
            let value_bytes = change.value.as_ref().map_or(0, Bytes::len);
            if value_bytes > VALUE_BYTES_MAX {
                return Err(Error::ValueTooLong { space: change.space, bytes: value_bytes });
            }
        }
        Ok(())
    }
}

impl IntoIterator for Batch {
    type Item = Change;
    type IntoIter = std::vec::IntoIter<Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.changes.into_iter()
    }
}
