//! The memory engine: nothing outlives the process, everything else of the contract holds.
//!
//! All spaces are one persistent map: a version shares every untouched node with the version
//! before it. A snapshot is a clone of the root and costs no more than a reference count; a commit
//! copies the nodes on its paths only while a snapshot still holds them. The lock is held for the
//! length of one commit or one clone of the root, never while rows are read.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use imbl::OrdMap;
use parking_lot::RwLock;

use crate::{Batch, Direction, Error, KeyRange, Page, Result, ScanLimit, Snapshot, SpaceId, Store};

#[derive(Clone, Default)]
struct Space {
    rows: OrdMap<Bytes, Bytes>,
    bytes: u64,
}

impl Space {
    fn put(&mut self, key: Bytes, value: Bytes) {
        let added_bytes = row_bytes(&key, &value);
        self.remove(&key);
        self.rows.insert(key, value);
        self.bytes += added_bytes;
    }

    fn remove(&mut self, key: &Bytes) {
        if let Some(value) = self.rows.remove(key) {
            self.bytes -= row_bytes(key, &value);
        }
    }
}

fn row_bytes(key: &Bytes, value: &Bytes) -> u64 {
    (key.len() + value.len()) as u64
}

type Spaces = OrdMap<SpaceId, Space>;

/// A store in this process's memory.
#[derive(Clone, Default)]
pub struct MemoryStore {
    spaces: Arc<RwLock<Spaces>>,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for MemoryStore {
    type Snapshot = MemorySnapshot;

    async fn create_space(&self, space: SpaceId) -> Result<()> {
        self.spaces.write().entry(space).or_default();
        Ok(())
    }

    async fn drop_space(&self, space: SpaceId) -> Result<()> {
        self.spaces.write().remove(&space);
        Ok(())
    }

    async fn spaces(&self) -> Result<Vec<SpaceId>> {
        Ok(self.spaces.read().keys().copied().collect())
    }

    fn snapshot(&self) -> MemorySnapshot {
        MemorySnapshot { spaces: self.spaces.read().clone() }
    }

    async fn commit(&self, batch: Batch) -> Result<()> {
        batch.check()?;
        let mut spaces = self.spaces.write();
        // All or none: look for every space before the first change.
        for change in batch.changes() {
            if !spaces.contains_key(&change.space) {
                return Err(Error::NoSuchSpace(change.space));
            }
        }
        for change in batch {
            let space = spaces.get_mut(&change.space).expect("every space was looked up above");
            match change.value {
                Some(value) => space.put(change.key, value),
                None => space.remove(&change.key),
            }
        }
        Ok(())
    }

    async fn flush(&self) -> Result<()> {
        Ok(())
    }

    async fn size_bytes(&self, space: SpaceId) -> Result<u64> {
        let spaces = self.spaces.read();
        spaces.get(&space).map(|space| space.bytes).ok_or(Error::NoSuchSpace(space))
    }
}

/// One version of the map.
#[derive(Clone)]
pub struct MemorySnapshot {
    spaces: Spaces,
}

impl MemorySnapshot {
    fn rows(&self, space: SpaceId) -> Result<&OrdMap<Bytes, Bytes>> {
        self.spaces.get(&space).map(|space| &space.rows).ok_or(Error::NoSuchSpace(space))
    }
}

impl Snapshot for MemorySnapshot {
    async fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(self.rows(space)?.get(key).cloned())
    }

    async fn scan(&self, space: SpaceId, range: KeyRange, direction: Direction, limit: ScanLimit) -> Result<Page> {
        let rows = self.rows(space)?;
        if range.is_empty() {
            return Ok(Page::default());
        }
        let start = Bound::Included(&range.start[..]);
        let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let cursor = rows.range::<_, [u8]>((start, end));
        let copy = |(key, value): (&Bytes, &Bytes)| Ok((key.clone(), value.clone()));
        match direction {
            Direction::Forward => Page::fill(cursor.map(copy), limit),
            Direction::Backward => Page::fill(cursor.rev().map(copy), limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryStore;
    use crate::suite::Subject;

    struct Memory(MemoryStore);

    impl Subject for Memory {
        type Store = MemoryStore;

        async fn open() -> Self {
            Self(MemoryStore::new())
        }

        fn store(&self) -> MemoryStore {
            self.0.clone()
        }

        async fn reopen(self) -> Option<Self> {
            None
        }
    }

    crate::store_suite!(Memory);
}
