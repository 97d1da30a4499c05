//! What readers see: the moment behind the last finished commit.
//!
//! A [`View`] is a moment of the engine and the spaces that existed in it. The committer publishes
//! a new one between two writes, and a snapshot is a reference to the one published last. That is
//! cheaper than asking the engine for a snapshot per request, and it is necessary: the engine moves
//! its own "visible" number forward whenever a background flush or merge finishes, also while a
//! batch is half written, so a snapshot asked of it at that moment could see half a commit. Between
//! two writes no batch is half written, and the committer is the only writer.
//!
//! Reads run on the calling thread. Their futures are ready at once.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use fjall::{Keyspace, Readable};
use parking_lot::RwLock;
use tesela_store::{Direction, Error, KeyRange, Page, Result, ScanLimit, Snapshot, SpaceId};

use crate::engine::engine_error;
use crate::folder::Folder;

pub(crate) type Spaces = BTreeMap<SpaceId, Keyspace>;

pub(crate) struct View {
    pub moment: fjall::Snapshot,
    pub spaces: Arc<Spaces>,
    /// Behind the engine's handles, so that the folder is unlocked after they are closed.
    pub _folder: Arc<Folder>,
}

impl View {
    pub fn space(&self, space: SpaceId) -> Result<&Keyspace> {
        self.spaces.get(&space).ok_or(Error::NoSuchSpace(space))
    }
}

/// Where the committer publishes and readers look.
#[derive(Clone)]
pub(crate) struct Published(Arc<RwLock<Arc<View>>>);

impl Published {
    pub fn new(first: View) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(first))))
    }

    pub fn publish(&self, view: View) {
        let old = std::mem::replace(&mut *self.0.write(), Arc::new(view));
        // Outside the lock: the last reference to a dropped space removes its files.
        drop(old);
    }

    pub fn latest(&self) -> Arc<View> {
        self.0.read().clone()
    }
}

/// One moment of all spaces.
#[derive(Clone)]
pub struct EmbeddedSnapshot(pub(crate) Arc<View>);

impl Snapshot for EmbeddedSnapshot {
    async fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Bytes>> {
        let value = self.0.moment.get(self.0.space(space)?, key).map_err(engine_error)?;
        Ok(value.map(Bytes::from))
    }

    async fn scan(&self, space: SpaceId, range: KeyRange, direction: Direction, limit: ScanLimit) -> Result<Page> {
        let space = self.0.space(space)?;
        if range.is_empty() {
            return Ok(Page::default());
        }
        let start = Bound::Included(&range.start[..]);
        let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.0.moment.range::<&[u8], _>(space, (start, end));
        let copy = |row: fjall::Guard| match row.into_inner() {
            Ok((key, value)) => Ok((Bytes::from(key), Bytes::from(value))),
            Err(error) => Err(engine_error(error)),
        };
        match direction {
            Direction::Forward => Page::fill(rows.map(copy), limit),
            Direction::Backward => Page::fill(rows.rev().map(copy), limit),
        }
    }
}
