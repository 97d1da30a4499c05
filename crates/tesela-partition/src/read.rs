//! Reads beside the writer: each takes a snapshot and sees one moment of the partition.
//!
//! A point read is two lookups: (key, id) to the ordinal, the ordinal to the document. Feeds come in `_rid` order,
//! which is the order of ordinals; a page is resumed by the last ordinal it held, so a continuation survives restarts,
//! writes in between, and splits (children inherit ordinals).

use crate::error::ReadError;
use crate::item::LogicalKey;
use crate::layout::{DocumentRecord, Key};
use bytes::Bytes;
use tesela_model::container::DefaultTtl;
use tesela_model::epk::{Epk, EpkRange};
use tesela_model::rid::DocumentOrdinal;
use tesela_store::{Direction, KeyRange, ScanLimit, Snapshot, SpaceId};

/// Which items of the partition a feed is about.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedScope {
    All,
    /// One logical partition.
    Logical(Epk),
    /// A part of the hash space: a client's feed range, or a prefix of a hierarchical key.
    Range(EpkRange),
}

impl FeedScope {
    pub fn contains(&self, epk: &Epk) -> bool {
        match self {
            Self::All => true,
            Self::Logical(only) => only == epk,
            Self::Range(range) => range.contains(epk),
        }
    }
}

/// Where a page ends.
#[derive(Clone, Copy, Debug)]
pub struct PageLimit {
    pub items: usize,
    pub bytes: usize,
}

/// A page of documents in `_rid` order.
#[derive(Debug, Default)]
pub struct FeedPage {
    pub records: Vec<(DocumentOrdinal, DocumentRecord)>,
    /// Continue behind this one; `None` when the feed has ended.
    pub next: Option<DocumentOrdinal>,
}

/// Rows fetched from the store at a time. Ours: large enough to amortise a round trip.
const SCAN_ROWS: usize = 512;
/// Bytes fetched from the store at a time.
const SCAN_BYTES: usize = 1024 * 1024;

/// One moment of one partition.
pub struct View<S: Snapshot> {
    pub snapshot: S,
    pub space: SpaceId,
    /// Unix seconds: what has expired by then is not there.
    pub now: u64,
    /// Whether items expire, and those that say nothing after how long.
    pub ttl: Option<DefaultTtl>,
}

impl<S: Snapshot> View<S> {
    /// The same moment of the same partition, read from another snapshot.
    pub fn over<T: Snapshot>(&self, snapshot: T) -> View<T> {
        View { snapshot, space: self.space, now: self.now, ttl: self.ttl }
    }

    pub async fn item(
        &self,
        key: &LogicalKey,
        id: &str,
    ) -> Result<Option<(DocumentOrdinal, DocumentRecord)>, ReadError> {
        let Some(ordinal) = self.snapshot.get(self.space, &Key::identity(&key.epk, id)).await? else { return Ok(None) };
        let ordinal = Key::trailing_ordinal(&ordinal)?;
        Ok(self.document(ordinal).await?.map(|record| (ordinal, record)))
    }

    pub async fn document(&self, ordinal: DocumentOrdinal) -> Result<Option<DocumentRecord>, ReadError> {
        let Some(bytes) = self.snapshot.get(self.space, &Key::document(ordinal)).await? else { return Ok(None) };
        let record = DocumentRecord::decode(&bytes)?;
        Ok((!record.is_expired(self.now, self.ttl)).then_some(record))
    }

    /// Documents of a scope behind `after`.
    pub async fn feed(
        &self,
        scope: &FeedScope,
        after: Option<DocumentOrdinal>,
        limit: PageLimit,
    ) -> Result<FeedPage, ReadError> {
        match scope {
            FeedScope::All => self.all_documents(after, limit).await,
            FeedScope::Logical(epk) => {
                let ordinals = self.ordinals(Key::members(epk, after), limit.items.saturating_add(1)).await?;
                self.documents(ordinals, limit).await
            }
            FeedScope::Range(range) => {
                let mut ordinals = self.ordinals(Key::members_between(range.min(), range.max()), usize::MAX).await?;
                ordinals.retain(|ordinal| after.is_none_or(|after| *ordinal > after));
                ordinals.sort_unstable();
                self.documents(ordinals, limit).await
            }
        }
    }

    async fn all_documents(&self, after: Option<DocumentOrdinal>, limit: PageLimit) -> Result<FeedPage, ReadError> {
        let mut range = after.map_or_else(Key::documents, Key::documents_after);
        let mut page = PageBuilder::new(limit);
        loop {
            let (rows, rest) = self.rows(range, SCAN_ROWS).await?;
            for (key, value) in rows {
                let record = DocumentRecord::decode(&value)?;
                if !record.is_expired(self.now, self.ttl) && !page.push(Key::document_ordinal(&key)?, record) {
                    return Ok(page.cut());
                }
            }
            match rest {
                Some(rest) => range = rest,
                None => return Ok(page.end()),
            }
        }
    }

    async fn documents(&self, ordinals: Vec<DocumentOrdinal>, limit: PageLimit) -> Result<FeedPage, ReadError> {
        let mut page = PageBuilder::new(limit);
        for ordinal in ordinals {
            if let Some(record) = self.document(ordinal).await?
                && !page.push(ordinal, record)
            {
                return Ok(page.cut());
            }
        }
        Ok(page.end())
    }

    /// The ordinals at the ends of index keys, up to `most`.
    pub async fn ordinals(&self, mut range: KeyRange, most: usize) -> Result<Vec<DocumentOrdinal>, ReadError> {
        let mut ordinals = Vec::new();
        loop {
            let (rows, rest) = self.rows(range, SCAN_ROWS.min(most - ordinals.len())).await?;
            for (key, _) in rows {
                ordinals.push(Key::trailing_ordinal(&key)?);
            }
            match rest {
                Some(rest) if ordinals.len() < most => range = rest,
                _ => return Ok(ordinals),
            }
        }
    }

    /// Rows of a range, and what is left of it.
    pub async fn rows(
        &self,
        range: KeyRange,
        most: usize,
    ) -> Result<(Vec<(Bytes, Bytes)>, Option<KeyRange>), ReadError> {
        self.rows_toward(range, Direction::Forward, most).await
    }

    /// The same, in either direction.
    pub async fn rows_toward(
        &self,
        range: KeyRange,
        direction: Direction,
        most: usize,
    ) -> Result<(Vec<(Bytes, Bytes)>, Option<KeyRange>), ReadError> {
        let limit = ScanLimit { rows: most, bytes: SCAN_BYTES };
        let page = self.snapshot.scan(self.space, range.clone(), direction, limit).await?;
        let rest = match page.rows.last() {
            Some((key, _)) if page.more => Some(range.after(key, direction)),
            _ => None,
        };
        Ok((page.rows, rest))
    }
}

/// Fills a page up to its limit. A page holds at least one item, however large.
struct PageBuilder {
    limit: PageLimit,
    bytes: usize,
    page: FeedPage,
}

impl PageBuilder {
    fn new(limit: PageLimit) -> Self {
        Self { limit, bytes: 0, page: FeedPage::default() }
    }

    /// False when the item is left for the next page.
    fn push(&mut self, ordinal: DocumentOrdinal, record: DocumentRecord) -> bool {
        let size = record.document.text().len();
        let full = self.page.records.len() >= self.limit.items || self.bytes + size > self.limit.bytes;
        if full && !self.page.records.is_empty() {
            return false;
        }
        self.bytes += size;
        self.page.records.push((ordinal, record));
        true
    }

    /// More items follow.
    fn cut(mut self) -> FeedPage {
        self.page.next = self.page.records.last().map(|(ordinal, _)| *ordinal);
        self.page
    }

    fn end(self) -> FeedPage {
        self.page
    }
}
