//! A transaction: reads one snapshot with its own writes on top, and leaves behind a set of changes or nothing.
//!
//! Layers of a read, uppermost first: the transaction's own changes, those of transactions before it in the same
//! group commit, the snapshot. A transaction that fails is dropped with its layer; one that succeeds hands its
//! layer to the group, and the group becomes one batch of the store.
//!
//! Invariant: one transaction is made from one logical partition ([`LogicalKey`]), and every document row it touches
//! belongs to it (R16, R17).

use crate::container::Container;
use crate::error::WriteError;
use crate::etag::VersionNumber;
use crate::index::Absentees;
use crate::item::LogicalKey;
use crate::layout::{Counters, DocumentRecord, Key, LogicalRecord};
use crate::numbers::Numbers;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Bound;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::{Batch, Snapshot, SpaceId};

/// Rows put (`Some`) and deleted (`None`).
#[derive(Clone, Debug, Default)]
pub struct Overlay(BTreeMap<Bytes, Option<Bytes>>);

impl Overlay {
    pub fn get(&self, key: &[u8]) -> Option<&Option<Bytes>> {
        self.0.get(key)
    }

    /// One by one: appending a map to a map walks both, and a group takes in hundreds of small ones.
    pub fn absorb(&mut self, later: Self) {
        self.0.extend(later.0);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|(key, value)| key.len() + value.as_ref().map_or(0, Bytes::len)).sum()
    }

    pub fn put(&mut self, key: Bytes, value: Bytes) {
        self.0.insert(key, Some(value));
    }

    pub fn delete(&mut self, key: Bytes) {
        self.0.insert(key, None);
    }

    pub fn into_batch(self, space: SpaceId) -> Batch {
        let mut batch = Batch::with_capacity(self.0.len());
        for (key, value) in self.0 {
            match value {
                Some(value) => batch.put(space, key, value),
                None => batch.delete(space, key),
            }
        }
        batch
    }

    /// Changed rows of a key range, in order.
    pub fn range<'a>(
        &'a self,
        range: &'a tesela_store::KeyRange,
    ) -> impl DoubleEndedIterator<Item = (&'a Bytes, &'a Option<Bytes>)> {
        // An empty range may have its bounds in the wrong order, which a map does not take.
        let bounds = (!range.is_empty()).then(|| {
            let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            (Bound::Included(&range.start[..]), end)
        });
        bounds.into_iter().flat_map(|bounds| self.0.range::<[u8], _>(bounds))
    }
}

/// What surrounds a transaction and does not change while it runs.
pub struct Scope<'a, S: Snapshot> {
    pub snapshot: &'a S,
    pub space: SpaceId,
    pub partition: u32,
    pub container: &'a Container,
    /// Unix seconds: the `_ts` of everything written.
    pub now: u64,
    /// Where new items get their numbers.
    pub numbers: &'a Numbers,
    /// Whether what goes leaves a tombstone, for a copy that is being made.
    pub keeps_tombstones: bool,
    /// Where documents without a value under a path that queries order by are noted.
    pub absentees: &'a Absentees,
}

/// See the module.
pub struct Txn<'a, S: Snapshot> {
    pub scope: &'a Scope<'a, S>,
    pub key: LogicalKey,
    group: &'a Overlay,
    own: Overlay,
    counters: Counters,
    /// The LSN this transaction commits under, and how many changes it has made so far.
    pub lsn: u64,
    pub sequence: u32,
    /// The number a script has drawn for the write under way: its new item has it, and the version is named by it.
    pub reserved: Option<u64>,
    logical: Option<LogicalRecord>,
}

/// What a successful transaction leaves.
pub struct Effects {
    pub changes: Overlay,
    pub counters: Counters,
}

impl<'a, S: Snapshot> Txn<'a, S> {
    /// `counters` are those after the transaction before this one.
    pub fn new(scope: &'a Scope<'a, S>, key: LogicalKey, group: &'a Overlay, counters: Counters) -> Self {
        let (lsn, own) = (counters.lsn + 1, Overlay::default());
        Self { scope, key, group, own, counters, lsn, sequence: 0, reserved: None, logical: None }
    }

    pub async fn get(&self, key: &[u8]) -> Result<Option<Bytes>, WriteError> {
        if let Some(change) = self.own.get(key).or_else(|| self.group.get(key)) {
            return Ok(change.clone());
        }
        Ok(self.scope.snapshot.get(self.scope.space, key).await?)
    }

    pub fn put(&mut self, key: Bytes, value: Bytes) {
        self.own.put(key, value);
    }

    pub fn delete(&mut self, key: Bytes) {
        self.own.delete(key);
    }

    /// The number of the next new item.
    pub fn issue_ordinal(&mut self) -> DocumentOrdinal {
        let number = self.reserved.unwrap_or_else(|| self.scope.numbers.draw());
        self.counters.issued = self.counters.issued.max(number);
        DocumentOrdinal::new(self.scope.partition, number)
    }

    /// What the version written at this place is named by: LSN and place, or the number a script has drawn.
    pub fn version(&mut self, sequence: u32) -> VersionNumber {
        match self.reserved {
            None => VersionNumber::of_commit(self.lsn, sequence),
            Some(number) => {
                // Committed with the version, or a restart would give the number out again.
                self.counters.issued = self.counters.issued.max(number);
                VersionNumber::of_script(number)
            }
        }
    }

    /// The place of the next change in this transaction.
    pub fn next_sequence(&mut self) -> u32 {
        let sequence = self.sequence;
        self.sequence += 1;
        sequence
    }

    /// The item of that id in this logical partition, expired or not.
    pub async fn find(&self, id: &str) -> Result<Option<(DocumentOrdinal, DocumentRecord)>, WriteError> {
        let Some(ordinal) = self.get(&Key::identity(&self.key.epk, id)).await? else { return Ok(None) };
        let ordinal = Key::trailing_ordinal(&ordinal)?;
        let record = self.get(&Key::document(ordinal)).await?;
        let record = record.ok_or_else(|| WriteError::damaged("document", "its identity row names no document"))?;
        Ok(Some((ordinal, DocumentRecord::decode(&record)?)))
    }

    /// Whether a version counts as deleted by now.
    pub fn is_expired(&self, record: &DocumentRecord) -> bool {
        record.is_expired(self.scope.now, self.scope.container.default_ttl)
    }

    pub async fn logical(&mut self) -> Result<LogicalRecord, WriteError> {
        if let Some(record) = self.logical {
            return Ok(record);
        }
        let record = match self.get(&Key::logical(&self.key.epk)).await? {
            Some(bytes) => LogicalRecord::decode(&bytes)?,
            None => LogicalRecord::default(),
        };
        self.logical = Some(record);
        Ok(record)
    }

    /// Counts items and bytes that came (positive) or went (negative).
    pub async fn count(&mut self, documents: i64, bytes: i64) -> Result<(), WriteError> {
        let mut logical = self.logical().await?;
        let add = |count: u64, by: i64| {
            count.checked_add_signed(by).ok_or_else(|| WriteError::damaged("counters", "they count fewer than nothing"))
        };
        self.counters.documents = add(self.counters.documents, documents)?;
        self.counters.bytes = add(self.counters.bytes, bytes)?;
        logical.documents = add(logical.documents, documents)?;
        logical.bytes = add(logical.bytes, bytes)?;
        self.logical = Some(logical);
        Ok(())
    }

    /// The rows alone, without counters: for a copy, which counts by itself.
    pub(crate) fn into_changes(self) -> Overlay {
        self.own
    }

    /// Ends the transaction: `None` when it changed nothing, and then no LSN is used up.
    pub fn finish(mut self) -> Option<Effects> {
        if self.own.is_empty() {
            return None;
        }
        if let Some(mut logical) = self.logical {
            logical.lsn = self.lsn;
            let key = Key::logical(&self.key.epk);
            if logical.documents == 0 {
                self.delete(key);
            } else {
                self.put(key, logical.encode());
            }
        }
        self.counters.lsn = self.lsn;
        self.put(Key::counters(), self.counters.encode());
        Some(Effects { changes: self.own, counters: self.counters })
    }
}
