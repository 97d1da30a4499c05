//! One source, carried over to its targets.

use super::{Tally, Target, TransferError};
use crate::container::Container;
use crate::item::LogicalKey;
use crate::layout::{Counters, DocumentRecord, HistoryRecord, Key};
use crate::partition::Partition;
use crate::read::View;
use crate::txn::{Overlay, Scope, Txn};
use crate::write::rows;
use crate::writer::Hold;
use bytes::Bytes;
use std::sync::Arc;
use tesela_model::epk::Epk;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::{Batch, Direction, KeyRange, ScanLimit, Snapshot, Store};

/// How much is carried over at a time.
#[derive(Clone, Copy, Debug)]
pub struct Portion {
    /// Read of the source. Small: between two pages other work of the thread has its turn.
    pub page: ScanLimit,
    /// Written to the targets. Large enough that syncing does not dominate, small enough that a write which shares the
    /// commit does not wait for it noticeably.
    pub commit_bytes: usize,
}

impl Default for Portion {
    fn default() -> Self {
        Self { page: ScanLimit { rows: 512, bytes: 256 * 1024 }, commit_bytes: 2 * 1024 * 1024 }
    }
}

/// Rows of the feed, of tombstones and of history looked at a time.
const REPLAY_ROWS: usize = 512;

/// See the module above.
pub struct Transfer<S: Store> {
    source: Partition<S>,
    container: Arc<Container>,
    targets: Vec<Target>,
    portion: Portion,
    /// Once everything is copied: the targets are as the source was at this LSN.
    position: u64,
    /// What is still to be copied, and from which moment of the source.
    copying: Option<Copying<S::Snapshot>>,
    pending: Pending,
    tallies: Vec<Tally>,
}

struct Copying<V> {
    snapshot: V,
    /// Kinds of rows not yet begun, last first.
    kinds: Vec<(Kind, KeyRange)>,
}

#[derive(Clone, Copy)]
enum Kind {
    Document,
    History,
    Logical,
}

/// Rows for the targets, in their order, that are not committed yet.
struct Pending {
    rows: Vec<Overlay>,
    bytes: usize,
}

impl Pending {
    fn new(targets: usize) -> Self {
        Self { rows: vec![Overlay::default(); targets], bytes: 0 }
    }

    fn put(&mut self, target: usize, key: Bytes, value: Bytes) {
        self.bytes += key.len() + value.len();
        self.rows[target].put(key, value);
    }

    fn absorb(&mut self, target: usize, rows: Overlay) {
        self.bytes += rows.bytes();
        self.rows[target].absorb(rows);
    }

    fn take(&mut self, targets: &[Target]) -> Batch {
        let taken = std::mem::replace(self, Self::new(targets.len()));
        let mut batch = Batch::new();
        for (rows, target) in taken.rows.into_iter().zip(targets) {
            batch.append(rows.into_batch(target.space));
        }
        batch
    }
}

/// What is left to commit, with the new map, when a source is done.
pub struct Finished {
    pub rows: Batch,
    /// What each target got of this source.
    pub tallies: Vec<Tally>,
    /// The last LSN of the source.
    pub lsn: u64,
}

impl<S: Store> Transfer<S> {
    /// Begins: from here on the source keeps track of what goes. The targets' spaces are there and empty.
    pub async fn begin(source: &Partition<S>, targets: Vec<Target>, portion: Portion) -> Result<Self, TransferError> {
        remove_tombstones(source).await?;
        let hold = source.hold().await;
        hold.keep_tombstones();
        let (snapshot, position) = (source.store().snapshot(), hold.counters().lsn);
        drop(hold);
        let kinds = vec![
            (Kind::Logical, Key::logicals()),
            (Kind::History, Key::history_after(0)),
            (Kind::Document, Key::documents()),
        ];
        Ok(Self {
            container: source.container(),
            source: source.clone(),
            position,
            copying: Some(Copying { snapshot, kinds }),
            pending: Pending::new(targets.len()),
            tallies: vec![Tally::default(); targets.len()],
            targets,
            portion,
        })
    }

    /// Copies a page; tells how many bytes it read, or `None` when everything has been copied.
    pub async fn copy_page(&mut self) -> Result<Option<usize>, TransferError> {
        let Some(mut copying) = self.copying.take() else { return Ok(None) };
        let Some((kind, range)) = copying.kinds.pop() else {
            self.commit().await?;
            return Ok(None);
        };
        let (space, limit) = (self.source.space(), self.portion.page);
        let page = copying.snapshot.scan(space, range.clone(), Direction::Forward, limit).await?;
        if let Some((last, _)) = page.rows.last().filter(|_| page.more) {
            copying.kinds.push((kind, range.after(last, Direction::Forward)));
        }
        let bytes = page.rows.iter().map(|(key, value)| key.len() + value.len()).sum();
        let seen = self.source.store().snapshot();
        for (key, value) in page.rows {
            match kind {
                Kind::Document => {
                    let record = DocumentRecord::decode(&value)?;
                    self.place(&seen, Key::document_ordinal(&key)?, &record).await?;
                }
                Kind::History => self.move_history(key, value)?,
                Kind::Logical => {
                    let target = self.target(&Key::logical_epk(&key)?)?;
                    self.pending.put(target, key, value);
                }
            }
        }
        self.copying = Some(copying);
        self.commit_when_large().await?;
        Ok(Some(bytes))
    }

    /// Carries over what was written behind the last call, or behind the copy; tells how many documents that were.
    pub async fn catch_up(&mut self) -> Result<u64, TransferError> {
        let snapshot = self.source.store().snapshot();
        let changes = self.replay(&snapshot, true).await?;
        self.commit().await?;
        Ok(changes)
    }

    /// The rest, while the source stands still. Nothing of it is committed here.
    pub async fn finish(mut self, hold: &Hold<S>) -> Result<Finished, TransferError> {
        assert!(self.copying.is_none(), "a transfer ends when everything is copied");
        let snapshot = self.source.store().snapshot();
        self.replay(&snapshot, false).await?;
        let counters = counters(&snapshot, &self.source).await?;
        let mut copied = Tally::default();
        self.tallies.iter().for_each(|tally| copied.add(*tally));
        let held = Tally { documents: counters.documents, bytes: counters.bytes };
        if copied != held {
            return Err(TransferError::Unequal { partition: self.source.id(), copied, held });
        }
        let rows = self.pending.take(&self.targets);
        Ok(Finished { rows, tallies: std::mem::take(&mut self.tallies), lsn: hold.counters().lsn.max(counters.lsn) })
    }

    /// Ends without effect on the source.
    pub async fn abandon(self) -> Result<(), TransferError> {
        self.source.forget_tombstones();
        remove_tombstones(&self.source).await
    }

    /// See "Catching up" above. With `commit`, rows are committed as they become many.
    async fn replay(&mut self, snapshot: &S::Snapshot, commit: bool) -> Result<u64, TransferError> {
        let end = counters(snapshot, &self.source).await?.lsn;
        let (feed, tombstones) = (Key::feed_after(self.position), Key::tombstones_after(self.position));
        for range in [&tombstones, &feed] {
            let mut pages = Pages::new(self.source.view_of(snapshot.clone()), range.clone());
            while let Some(rows) = pages.next().await? {
                let seen = self.source.store().snapshot();
                for (key, _) in rows {
                    self.clear(&seen, Key::trailing_ordinal(&key)?).await?;
                    if commit {
                        self.commit_when_large().await?;
                    }
                }
            }
        }
        let mut changes = 0;
        let mut pages = Pages::new(self.source.view_of(snapshot.clone()), feed);
        while let Some(rows) = pages.next().await? {
            for (key, _) in rows {
                let ordinal = Key::trailing_ordinal(&key)?;
                let row = snapshot.get(self.source.space(), &Key::document(ordinal)).await?;
                let row = row.ok_or_else(|| damaged("a feed row names no document"))?;
                let record = DocumentRecord::decode(&row)?;
                self.place(&self.source.store().snapshot(), ordinal, &record).await?;
                self.refresh_logical(snapshot, &record.epk).await?;
                changes += 1;
                if commit {
                    self.commit_when_large().await?;
                }
            }
        }
        let mut pages = Pages::new(self.source.view_of(snapshot.clone()), tombstones);
        while let Some(rows) = pages.next().await? {
            for (_, epk) in rows {
                self.refresh_logical(snapshot, &Epk::from_bytes(epk)).await?;
                changes += 1;
            }
        }
        let mut pages = Pages::new(self.source.view_of(snapshot.clone()), Key::history_after(self.position));
        while let Some(rows) = pages.next().await? {
            for (key, value) in rows {
                self.move_history(key, value)?;
            }
            if commit {
                self.commit_when_large().await?;
            }
        }
        self.position = end;
        Ok(changes)
    }

    /// Puts the rows of a document into its target. `seen` shows what has been committed there.
    async fn place(
        &mut self,
        seen: &S::Snapshot,
        ordinal: DocumentOrdinal,
        record: &DocumentRecord,
    ) -> Result<(), TransferError> {
        let target = self.target(&record.epk)?;
        let scope = self.scope(seen, target);
        let mut txn = Txn::new(&scope, self.key(record), &self.pending.rows[target], Counters::default());
        rows::place(&mut txn, ordinal, record).await?;
        let rows = txn.into_changes();
        self.pending.absorb(target, rows);
        self.tallies[target].came(record.bytes);
        Ok(())
    }

    /// Takes away what the targets hold of a document.
    async fn clear(&mut self, seen: &S::Snapshot, ordinal: DocumentOrdinal) -> Result<(), TransferError> {
        for target in 0..self.targets.len() {
            let Some(row) = seen.get(self.targets[target].space, &Key::document(ordinal)).await? else { continue };
            let old = DocumentRecord::decode(&row)?;
            let scope = self.scope(seen, target);
            let mut txn = Txn::new(&scope, self.key(&old), &self.pending.rows[target], Counters::default());
            rows::clear(&mut txn, ordinal, &old)?;
            let rows = txn.into_changes();
            self.pending.absorb(target, rows);
            self.tallies[target].went(old.bytes);
        }
        Ok(())
    }

    /// The row of a logical partition as the source has it.
    async fn refresh_logical(&mut self, snapshot: &S::Snapshot, epk: &Epk) -> Result<(), TransferError> {
        let (target, key) = (self.target(epk)?, Key::logical(epk));
        match snapshot.get(self.source.space(), &key).await? {
            Some(row) => self.pending.put(target, key, row),
            None => self.pending.rows[target].delete(key),
        }
        Ok(())
    }

    fn move_history(&mut self, key: Bytes, value: Bytes) -> Result<(), TransferError> {
        let target = self.target(&HistoryRecord::decode(&value)?.epk)?;
        self.pending.put(target, key, value);
        Ok(())
    }

    fn target(&self, epk: &Epk) -> Result<usize, TransferError> {
        let found = self.targets.iter().position(|target| target.range.contains(epk));
        found.ok_or_else(|| TransferError::NoTarget { partition: self.source.id(), epk: epk.clone() })
    }

    fn key(&self, record: &DocumentRecord) -> LogicalKey {
        let value = self.container.partition_key.extract(record.document.root());
        LogicalKey { value, epk: record.epk.clone() }
    }

    fn scope<'a>(&'a self, seen: &'a S::Snapshot, target: usize) -> Scope<'a, S::Snapshot> {
        Scope {
            snapshot: seen,
            space: self.targets[target].space,
            partition: self.source.id(),
            container: &self.container,
            now: 0,
            numbers: self.source.writer().numbers(),
            keeps_tombstones: false,
            absentees: &self.source.writer().absentees,
        }
    }

    async fn commit_when_large(&mut self) -> Result<(), TransferError> {
        if self.pending.bytes < self.portion.commit_bytes { Ok(()) } else { self.commit().await }
    }

    async fn commit(&mut self) -> Result<(), TransferError> {
        let batch = self.pending.take(&self.targets);
        if batch.is_empty() { Ok(()) } else { Ok(self.source.store().commit(batch).await?) }
    }
}

impl<S: Store> Drop for Transfer<S> {
    fn drop(&mut self) {
        self.source.forget_tombstones();
    }
}

/// The pages of a range of one moment.
struct Pages<V: Snapshot> {
    view: View<V>,
    rest: Option<KeyRange>,
}

impl<V: Snapshot> Pages<V> {
    fn new(view: View<V>, range: KeyRange) -> Self {
        Self { view, rest: Some(range) }
    }

    async fn next(&mut self) -> Result<Option<Vec<(Bytes, Bytes)>>, TransferError> {
        let Some(range) = self.rest.take() else { return Ok(None) };
        let (rows, rest) = self.view.rows(range, REPLAY_ROWS).await?;
        self.rest = rest;
        Ok(Some(rows))
    }
}

async fn counters<S: Store>(snapshot: &S::Snapshot, partition: &Partition<S>) -> Result<Counters, TransferError> {
    let row = snapshot.get(partition.space(), &Key::counters()).await?;
    Ok(row.map(|row| Counters::decode(&row)).transpose()?.unwrap_or_default())
}

/// Removes what an earlier transfer that came to nothing has left.
async fn remove_tombstones<S: Store>(partition: &Partition<S>) -> Result<(), TransferError> {
    let mut pages = Pages::new(partition.view(), Key::tombstones());
    while let Some(rows) = pages.next().await? {
        let mut batch = Batch::with_capacity(rows.len());
        rows.into_iter().for_each(|(key, _)| batch.delete(partition.space(), key));
        if !batch.is_empty() {
            partition.store().commit(batch).await?;
        }
    }
    Ok(())
}

fn damaged(reason: &str) -> TransferError {
    crate::error::WriteError::damaged("change feed", reason).into()
}
