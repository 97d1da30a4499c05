//! The change feed of one partition: what was written, in LSN order.
//!
//! *Latest version* shows every item once, at the LSN of its last write: the feed rows of older versions are gone.
//! *All versions* shows every create, replace and delete the container's policy has kept.
//!
//! A position is an LSN: "everything up to and including it has been seen". All changes of one transaction share an
//! LSN and stay on one page, so a page may exceed its limit by the rest of a transaction.

use crate::error::ReadError;
use crate::layout::{DocumentRecord, HistoryRecord, Key};
use crate::read::{FeedScope, PageLimit, View};
use tesela_store::Snapshot;

/// Changes, and the position behind them.
#[derive(Debug)]
pub struct ChangePage<T> {
    /// The LSN of each change with the change.
    pub changes: Vec<(u64, T)>,
    /// Everything up to here has been looked at.
    pub position: u64,
    /// More changes were there when the page was full.
    pub more: bool,
}

/// Rows fetched from the store at a time.
const SCAN_ROWS: usize = 512;

impl<S: Snapshot> View<S> {
    /// The last versions written behind `after`; `since` leaves out those written before that Unix second. `end` is
    /// the partition's LSN as of this view.
    pub async fn latest_changes(
        &self,
        scope: &FeedScope,
        after: u64,
        since: Option<u64>,
        end: u64,
        limit: PageLimit,
    ) -> Result<ChangePage<DocumentRecord>, ReadError> {
        let mut page = Builder::new(after, limit);
        let mut range = Key::feed_after(after);
        loop {
            let (rows, rest) = self.rows(range, SCAN_ROWS).await?;
            for (key, _) in rows {
                let (lsn, _) = Key::feed_position(&key)?;
                if page.is_full(lsn) {
                    return Ok(page.cut());
                }
                let record = self.document(Key::trailing_ordinal(&key)?).await?;
                let wanted = record.filter(|record| {
                    scope.contains(&record.epk) && since.is_none_or(|since| written_at(record) >= since)
                });
                page.push(lsn, wanted, |record| record.document.text().len());
            }
            match rest {
                Some(rest) => range = rest,
                None => return Ok(page.end(end)),
            }
        }
    }

    /// Every kept change behind `after`.
    pub async fn all_changes(
        &self,
        scope: &FeedScope,
        after: u64,
        end: u64,
        limit: PageLimit,
    ) -> Result<ChangePage<HistoryRecord>, ReadError> {
        let mut page = Builder::new(after, limit);
        let mut range = Key::history_after(after);
        loop {
            let (rows, rest) = self.rows(range, SCAN_ROWS).await?;
            for (key, value) in rows {
                let (lsn, _) = Key::feed_position(&key)?;
                if page.is_full(lsn) {
                    return Ok(page.cut());
                }
                let record = HistoryRecord::decode(&value)?;
                page.push(lsn, Some(record).filter(|record| scope.contains(&record.epk)), |record| {
                    record.document.text().len()
                });
            }
            match rest {
                Some(rest) => range = rest,
                None => return Ok(page.end(end)),
            }
        }
    }
}

fn written_at(record: &DocumentRecord) -> u64 {
    record.document.root().get("_ts").and_then(|node| node.as_f64()).unwrap_or_default() as u64
}

struct Builder<T> {
    limit: PageLimit,
    bytes: usize,
    page: ChangePage<T>,
}

impl<T> Builder<T> {
    fn new(after: u64, limit: PageLimit) -> Self {
        Self { limit, bytes: 0, page: ChangePage { changes: Vec::new(), position: after, more: false } }
    }

    /// Whether a change of that LSN belongs on the next page.
    fn is_full(&self, lsn: u64) -> bool {
        let full = self.page.changes.len() >= self.limit.items || self.bytes >= self.limit.bytes;
        full && lsn != self.page.position
    }

    fn push(&mut self, lsn: u64, change: Option<T>, size: impl Fn(&T) -> usize) {
        self.page.position = lsn;
        if let Some(change) = change {
            self.bytes += size(&change);
            self.page.changes.push((lsn, change));
        }
    }

    fn cut(mut self) -> ChangePage<T> {
        self.page.more = true;
        self.page
    }

    fn end(mut self, end: u64) -> ChangePage<T> {
        self.page.position = self.page.position.max(end);
        self.page
    }
}
