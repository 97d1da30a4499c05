//! The two moves on an item's rows.

use super::{Action, Written, key_text};
use crate::charge::{self, WriteFacts};
use crate::error::WriteError;
use crate::etag::{self, Stamp};
use crate::index::IndexEntries;
use crate::item::Item;
use crate::layout::{DocumentRecord, HistoryRecord, Key, Operation};
use crate::txn::Txn;
use crate::unique;
use bytes::Bytes;
use tesela_model::document::Node;
use tesela_model::limits::DOCUMENT_BYTES_MAX;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::Snapshot;

/// A new item.
pub(super) async fn insert<S: Snapshot>(
    txn: &mut Txn<'_, S>,
    item: &Item,
    indexed: bool,
) -> Result<Written, WriteError> {
    let ordinal = txn.issue_ordinal();
    let record = new_version(txn, ordinal, item, indexed)?;
    check_room(txn, &record, 0).await?;
    let terms_added = place(txn, ordinal, &record).await?;
    let facts = WriteFacts { written_bytes: Some(record.bytes as usize), terms_added, ..Default::default() };
    put_history(txn, &record, Operation::Create, 0);
    txn.count(1, i64::from(record.bytes)).await?;
    Ok(Written { action: Action::Created, record, charge_ru: charge::write(&facts) })
}

/// Another version of an item that exists.
pub(super) async fn replace<S: Snapshot>(
    txn: &mut Txn<'_, S>,
    (ordinal, old): (DocumentOrdinal, DocumentRecord),
    item: &Item,
    indexed: bool,
    patch_operations: usize,
) -> Result<Written, WriteError> {
    let record = new_version(txn, ordinal, item, indexed)?;
    check_room(txn, &record, old.bytes).await?;
    unique::claim(txn, ordinal, Some(&old), &record).await?;
    let old_id = id_of(&old)?;
    if old_id != item.id {
        txn.delete(Key::identity(&txn.key.epk, &old_id));
        txn.put(Key::identity(&txn.key.epk, &item.id), Bytes::copy_from_slice(&ordinal.0.to_be_bytes()));
    }
    let (before, after) = (entries_of(txn, &old), entries_of(txn, &record));
    let (terms_removed, terms_added) = before.exchange(&after, txn, ordinal);
    remove_version(txn, ordinal, &old);
    put_version(txn, ordinal, &record);
    put_history(txn, &record, Operation::Replace, old.lsn);
    txn.count(0, i64::from(record.bytes) - i64::from(old.bytes)).await?;
    let facts = WriteFacts {
        removed_bytes: Some(old.bytes as usize),
        written_bytes: Some(record.bytes as usize),
        terms_removed,
        terms_added,
        patch_operations,
    };
    Ok(Written { action: Action::Replaced, record, charge_ru: charge::write(&facts) })
}

/// The end of an item, by a delete or by its time to live.
pub(super) async fn remove<S: Snapshot>(
    txn: &mut Txn<'_, S>,
    (ordinal, old): (DocumentOrdinal, DocumentRecord),
    how: Operation,
) -> Result<Written, WriteError> {
    let terms_removed = clear(txn, ordinal, &old)?;
    let facts = WriteFacts { removed_bytes: Some(old.bytes as usize), terms_removed, ..Default::default() };
    if txn.scope.keeps_tombstones {
        txn.put(Key::tombstone(txn.lsn, ordinal), Bytes::copy_from_slice(old.epk.as_bytes()));
    }
    txn.count(-1, -i64::from(old.bytes)).await?;
    txn.next_sequence();
    put_history(txn, &old, how, old.lsn);
    Ok(Written { action: Action::Deleted, record: old, charge_ru: charge::write(&facts) })
}

/// Every row of a version but its history and its share of the counters; tells how many index rows that is.
///
/// A pure function of the record: a partition that takes documents over from another makes their rows by it.
pub(crate) async fn place<S: Snapshot>(
    txn: &mut Txn<'_, S>,
    ordinal: DocumentOrdinal,
    record: &DocumentRecord,
) -> Result<usize, WriteError> {
    unique::claim(txn, ordinal, None, record).await?;
    let entries = entries_of(txn, record);
    entries.put(txn, ordinal);
    txn.put(Key::identity(&txn.key.epk, &id_of(record)?), Bytes::copy_from_slice(&ordinal.0.to_be_bytes()));
    txn.put(Key::member(&txn.key.epk, ordinal), Bytes::new());
    put_version(txn, ordinal, record);
    Ok(entries.len())
}

/// Takes away what [`place`] put.
pub(crate) fn clear<S: Snapshot>(
    txn: &mut Txn<'_, S>,
    ordinal: DocumentOrdinal,
    old: &DocumentRecord,
) -> Result<usize, WriteError> {
    let entries = entries_of(txn, old);
    entries.delete(txn, ordinal);
    unique::release(txn, old);
    txn.delete(Key::identity(&txn.key.epk, &id_of(old)?));
    txn.delete(Key::member(&txn.key.epk, ordinal));
    remove_version(txn, ordinal, old);
    txn.delete(Key::document(ordinal));
    Ok(entries.len())
}

/// The record of a version written now. Fails when the system properties push it over the limit.
fn new_version<S: Snapshot>(
    txn: &mut Txn<'_, S>,
    ordinal: DocumentOrdinal,
    item: &Item,
    indexed: bool,
) -> Result<DocumentRecord, WriteError> {
    let sequence = txn.next_sequence();
    let scope = txn.scope;
    let version = txn.version(sequence);
    let stamp = Stamp { ordinal, partition: scope.partition, version, now: scope.now };
    let document = etag::stamp(&item.document, scope.container, &stamp);
    let bytes = document.text().len();
    if bytes > DOCUMENT_BYTES_MAX {
        return Err(WriteError::TooLarge { bytes });
    }
    Ok(DocumentRecord {
        lsn: txn.lsn,
        sequence,
        bytes: item.document.text().len() as u32,
        written: scope.now,
        ttl: own_ttl(document.root()),
        indexed,
        epk: txn.key.epk.clone(),
        document,
    })
}

/// The `ttl` of a body, which was checked when the body was read.
fn own_ttl(root: Node<'_>) -> i32 {
    root.get("ttl").and_then(|ttl| ttl.as_f64()).unwrap_or_default() as i32
}

fn id_of(record: &DocumentRecord) -> Result<String, WriteError> {
    let id = record.document.root().get("id").and_then(|id| id.as_str().map(std::borrow::Cow::into_owned));
    id.ok_or_else(|| WriteError::damaged("document", "it has no id"))
}

fn entries_of<S: Snapshot>(txn: &Txn<'_, S>, record: &DocumentRecord) -> IndexEntries {
    crate::reindex::entries_of(txn.scope.container, record)
}

/// R11: a logical partition has a size limit.
async fn check_room<S: Snapshot>(txn: &mut Txn<'_, S>, record: &DocumentRecord, freed: u32) -> Result<(), WriteError> {
    let bytes = txn.logical().await?.bytes.saturating_sub(u64::from(freed)) + u64::from(record.bytes);
    if bytes > txn.scope.container.logical_partition_bytes_max && record.bytes > freed {
        return Err(WriteError::LogicalPartitionFull { key: key_text(&txn.key) });
    }
    Ok(())
}

fn put_version<S: Snapshot>(txn: &mut Txn<'_, S>, ordinal: DocumentOrdinal, record: &DocumentRecord) {
    txn.put(Key::document(ordinal), record.encode());
    txn.put(Key::feed(record.lsn, record.sequence, ordinal), Bytes::new());
    if let Some(expiry) = record.own_expiry() {
        txn.put(Key::expiry(expiry, ordinal), Bytes::new());
    }
}

fn remove_version<S: Snapshot>(txn: &mut Txn<'_, S>, ordinal: DocumentOrdinal, old: &DocumentRecord) {
    txn.delete(Key::feed(old.lsn, old.sequence, ordinal));
    if let Some(expiry) = old.own_expiry() {
        txn.delete(Key::expiry(expiry, ordinal));
    }
}

fn put_history<S: Snapshot>(txn: &mut Txn<'_, S>, record: &DocumentRecord, operation: Operation, previous_lsn: u64) {
    if !txn.scope.container.keeps_history {
        return;
    }
    let history = HistoryRecord {
        operation,
        at: txn.scope.now,
        previous_lsn,
        epk: record.epk.clone(),
        document: record.document.clone(),
    };
    let sequence = txn.sequence - 1;
    txn.put(Key::history(txn.lsn, sequence, txn.scope.partition), history.encode());
}
