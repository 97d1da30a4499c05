//! How a change is made: alone, on a copy, committed once, then published.

use super::layout::{Counters, Row};
use super::{Catalog, CatalogError, ResourceKind, Result, State, load};
use tesela_store::{Batch, SpaceId, Store};
use tokio::sync::MutexGuard;

/// What only the one writer knows.
pub(super) struct Writer {
    pub counters: Counters,
    /// A commit was begun and its end never seen: memory may be behind the store.
    pub stale: bool,
}

/// A change under way. Dropping it before [`Change::commit`] leaves everything as it was.
pub(super) struct Change<'a, S: Store> {
    catalog: &'a Catalog<S>,
    writer: MutexGuard<'a, Writer>,
    pub state: State,
    pub counters: Counters,
    batch: Batch,
    new_spaces: Vec<SpaceId>,
    /// Unix seconds of the change.
    pub now: u64,
}

impl<S: Store> Catalog<S> {
    pub(super) async fn begin(&self) -> Result<Change<'_, S>> {
        let mut writer = self.0.writer.lock().await;
        if writer.stale {
            self.reload(&mut writer).await?;
        }
        Ok(Change {
            catalog: self,
            counters: writer.counters,
            writer,
            state: self.0.state.load().as_ref().clone(),
            batch: Batch::new(),
            new_spaces: Vec::new(),
            now: self.0.env.now().unix_seconds(),
        })
    }

    async fn reload(&self, writer: &mut Writer) -> Result<()> {
        // The unseen commit may still be on its way; a flush is behind it.
        self.0.store.flush().await?;
        let loaded = load::load(&self.0.store, &self.0.options).await?;
        // Spaces were numbered in memory alone; those numbers stay used.
        let space = writer.counters.space.max(loaded.counters.space);
        writer.counters = Counters { space, ..loaded.counters };
        self.publish(loaded.state);
        writer.stale = false;
        Ok(())
    }
}

impl<S: Store> Change<'_, S> {
    pub(super) fn put(&mut self, row: Row, value: impl Into<bytes::Bytes>) {
        self.batch.put(SpaceId::CATALOG, row.key(), value);
    }

    pub(super) fn delete(&mut self, row: Row) {
        self.batch.delete(SpaceId::CATALOG, row.key());
    }

    /// Rows of other spaces that belong to the change.
    pub(super) fn append(&mut self, batch: Batch) {
        self.batch.append(batch);
    }

    /// A new ETag, quotes included.
    pub(super) fn etag(&self) -> String {
        format!("\"{}\"", self.catalog.0.env.uuid())
    }

    pub(super) fn next_database(&mut self) -> Result<u32> {
        next(&mut self.counters.database, u32::MAX, ResourceKind::Database)
    }

    pub(super) fn next_container(&mut self) -> Result<u32> {
        // The top bit of a container's number tells it from a user's.
        next(&mut self.counters.container, u32::MAX >> 1, ResourceKind::Container)
    }

    pub(super) fn next_user(&mut self) -> Result<u32> {
        next(&mut self.counters.user, u32::MAX >> 1, ResourceKind::User)
    }

    pub(super) fn next_child(&mut self) -> u64 {
        self.counters.child += 1;
        self.counters.child - 1
    }

    /// Offers have only 24 bits, so numbers come around; those in use are skipped.
    pub(super) fn next_offer(&mut self) -> Result<u32> {
        const NUMBERS: u32 = 1 << 24;
        for _ in 0..NUMBERS {
            let number = self.counters.offer;
            self.counters.offer = (number + 1) % NUMBERS;
            if number > 0 && !self.state.offers.contains_key(&number) {
                return Ok(number);
            }
        }
        Err(CatalogError::NumbersUsedUp(ResourceKind::Offer))
    }

    /// Makes key spaces; unless the change commits, they are dropped again.
    pub(super) async fn create_spaces(&mut self, count: u32) -> Result<Vec<SpaceId>> {
        let first = self.counters.space;
        self.counters.space += u64::from(count);
        // Used up, come what may: a space of a failed change may still be on its way to being dropped.
        self.writer.counters.space = self.counters.space;
        let spaces: Vec<SpaceId> = (first..self.counters.space).map(SpaceId).collect();
        for space in &spaces {
            self.new_spaces.push(*space);
            if let Err(error) = self.catalog.0.store.create_space(*space).await {
                self.drop_new_spaces().await;
                return Err(error.into());
            }
        }
        Ok(spaces)
    }

    /// The best that can be done; what stays is dropped at the next open.
    async fn drop_new_spaces(&mut self) {
        for space in std::mem::take(&mut self.new_spaces) {
            let _ = self.catalog.0.store.drop_space(space).await;
        }
    }

    /// Commits the rows and publishes the state. After `Ok` both are there for everybody; after `Err` nothing is, or
    /// (outcome unknown) the next writer finds out.
    pub(super) async fn commit(mut self) -> Result<()> {
        self.put(Row::Counters, self.counters.to_json());
        self.writer.stale = true;
        let batch = std::mem::take(&mut self.batch);
        match self.catalog.0.store.commit(batch).await {
            Ok(()) => {
                self.writer.counters = self.counters;
                self.catalog.publish(self.state);
                self.writer.stale = false;
                Ok(())
            }
            Err(error) if error.may_have_applied() => Err(error.into()),
            Err(error) => {
                self.writer.stale = false;
                self.drop_new_spaces().await;
                Err(error.into())
            }
        }
    }
}

fn next(counter: &mut u32, last: u32, kind: ResourceKind) -> Result<u32> {
    if *counter >= last {
        return Err(CatalogError::NumbersUsedUp(kind));
    }
    *counter += 1;
    Ok(*counter - 1)
}
