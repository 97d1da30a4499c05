//! Reads of one moment of the partition on behalf of a query, counted.
//!
//! Every index row and every document a query looks at goes through here, so that the charge, the metrics and the limits
//! speak of the same numbers.

use super::sized;
use crate::error::ReadError;
use crate::index::IndexEntries;
use crate::layout::{Counters, DocumentRecord, Key, LogicalRecord};
use crate::read::View;
use bytes::Bytes;
use std::time::Duration;
use tesela_model::epk::Epk;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::{Direction, KeyRange, Snapshot};

/// Documents kept out of the index that a query looks at beside what the index names. Ours: with more of them the index
/// is not worth asking.
const KEPT_OUT_MAX: usize = sized(1024, 2);

/// What reading has cost so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// Index rows looked at.
    pub entries: u64,
    pub documents: u64,
    pub document_bytes: u64,
    pub index_time: Duration,
    pub load_time: Duration,
    /// Documents that were listed as without a value, and how many of them had one or were gone.
    pub listed: u64,
    pub stale: u64,
}

/// See the module.
pub(super) struct Reader<'a, S: Snapshot> {
    pub view: &'a View<S>,
    pub spent: Spent,
    elapsed: &'a (dyn Fn() -> Duration + Send + Sync),
}

/// A document and its number.
pub(super) type Numbered = (u64, DocumentRecord);

impl<'a, S: Snapshot> Reader<'a, S> {
    pub fn new(view: &'a View<S>, elapsed: &'a (dyn Fn() -> Duration + Send + Sync)) -> Self {
        Self { view, spent: Spent::default(), elapsed }
    }

    pub fn now(&self) -> Duration {
        (self.elapsed)()
    }

    /// Keys of index rows, and what is left of the range.
    pub async fn keys(
        &mut self,
        range: KeyRange,
        direction: Direction,
        most: usize,
    ) -> Result<(Vec<Bytes>, Option<KeyRange>), ReadError> {
        let started = (self.elapsed)();
        let (rows, rest) = self.view.rows_toward(range, direction, most).await?;
        self.spent.entries += rows.len() as u64;
        self.spent.index_time += (self.elapsed)() - started;
        Ok((rows.into_iter().map(|(key, _)| key).collect(), rest))
    }

    /// The ordinals at the ends of the keys of a range.
    pub async fn ordinals(&mut self, range: KeyRange, most: usize) -> Result<(Vec<u64>, Option<KeyRange>), ReadError> {
        let (keys, rest) = self.keys(range, Direction::Forward, most).await?;
        let ordinal = |key: &Bytes| Key::trailing_ordinal(key).map(|ordinal| ordinal.0);
        Ok((keys.iter().map(ordinal).collect::<Result<_, _>>()?, rest))
    }

    /// Documents by their numbers, those that are there.
    pub async fn documents(&mut self, ordinals: &[u64]) -> Result<Vec<Numbered>, ReadError> {
        let started = (self.elapsed)();
        let mut documents = Vec::with_capacity(ordinals.len());
        for ordinal in ordinals {
            if let Some(record) = self.view.document(DocumentOrdinal(*ordinal)).await? {
                self.count(&record);
                documents.push((*ordinal, record));
            }
        }
        self.spent.load_time += (self.elapsed)() - started;
        Ok(documents)
    }

    /// Documents in `_rid` order or against it, and what is left of the range.
    pub async fn scan_documents(
        &mut self,
        range: KeyRange,
        direction: Direction,
        most: usize,
    ) -> Result<(Vec<Numbered>, Option<KeyRange>), ReadError> {
        let started = (self.elapsed)();
        let (rows, rest) = self.view.rows_toward(range, direction, most).await?;
        let mut documents = Vec::with_capacity(rows.len());
        for (key, value) in rows {
            let record = DocumentRecord::decode(&value)?;
            if !record.is_expired(self.view.now, self.view.ttl) {
                self.count(&record);
                documents.push((Key::document_ordinal(&key)?.0, record));
            }
        }
        self.spent.load_time += (self.elapsed)() - started;
        Ok((documents, rest))
    }

    fn count(&mut self, record: &DocumentRecord) {
        self.spent.documents += 1;
        self.spent.document_bytes += u64::from(record.bytes);
    }

    /// What the partition counts.
    pub async fn counters(&self) -> Result<Counters, ReadError> {
        let bytes = self.view.snapshot.get(self.view.space, &Key::counters()).await?;
        Ok(bytes.map(|bytes| Counters::decode(&bytes)).transpose()?.unwrap_or_default())
    }

    /// What is known of a logical partition.
    pub async fn logical(&self, epk: &Epk) -> Result<LogicalRecord, ReadError> {
        let bytes = self.view.snapshot.get(self.view.space, &Key::logical(epk)).await?;
        Ok(bytes.map(|bytes| LogicalRecord::decode(&bytes)).transpose()?.unwrap_or_default())
    }

    /// Documents that clients keep out of the index; `None` when they are too many to look at.
    pub async fn kept_out(&mut self) -> Result<Option<Vec<u64>>, ReadError> {
        let (ordinals, rest) = self.ordinals(Key::terms(&IndexEntries::kept_out_term()), KEPT_OUT_MAX).await?;
        Ok(rest.is_none().then_some(ordinals))
    }
}
