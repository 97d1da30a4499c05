//! Writes to one item: create, upsert, replace, patch, delete — each a function over a transaction.
//!
//! All of them come down to two moves, *put* a version of an item and *remove* one, which keep every row of the item
//! in step: the document, its identity, its membership in the logical partition, its place in the feed, its index
//! terms, its unique keys and its expiry. [`rows`] makes these moves and nothing else does.
//!
//! A replace whose body has another id renames the item; the item keeps its `_rid`.
//!
//! Order of checks, which decides the answer when several fail: the item exists (404/409), its ETag (412), the patch
//! condition (412), what the patch does (400), size (413), unique keys (409), the logical partition's size (403).

mod patch;
pub(crate) mod rows;

use crate::charge;
use crate::container::Container;
use crate::error::WriteError;
use crate::item::{Item, LogicalKey};
use crate::layout::{DocumentRecord, Operation};
use crate::patch::Patch;
use crate::txn::Txn;
use std::sync::Arc;
use tesela_model::document::Node;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::Snapshot;

/// Whether a document fulfils a patch's condition.
pub type Predicate = Arc<dyn Fn(Node<'_>) -> bool + Send + Sync>;

/// What is to happen.
#[derive(Clone)]
pub enum Write {
    Create(Item),
    Upsert(Item),
    Replace { id: String, item: Item },
    Patch { id: String, patch: Patch, condition: Option<Predicate> },
    Delete { id: String },
}

impl Write {
    /// The id of the item it is about.
    pub fn id(&self) -> &str {
        match self {
            Self::Create(item) | Self::Upsert(item) => &item.id,
            Self::Replace { id, .. } | Self::Patch { id, .. } | Self::Delete { id } => id,
        }
    }

    fn body_bytes(&self) -> usize {
        match self {
            Self::Create(item) | Self::Upsert(item) | Self::Replace { item, .. } => item.document.text().len(),
            Self::Patch { .. } | Self::Delete { .. } => 0,
        }
    }
}

/// `If-Match` and `If-None-Match`, as sent.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    pub if_match: Option<String>,
    pub if_none_match: Option<String>,
}

/// Whether a condition names this ETag. The quotes belong to the value, but a client that lost them is understood.
pub fn etag_matches(wanted: &str, found: &str) -> bool {
    wanted == "*" || wanted == found || wanted.trim_matches('"') == found.trim_matches('"')
}

/// A write to one item.
#[derive(Clone)]
pub struct WriteRequest {
    pub key: LogicalKey,
    pub write: Write,
    pub conditions: Conditions,
    /// Whether the item goes into the index.
    pub indexed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Created,
    Replaced,
    Deleted,
}

/// What a write did.
#[derive(Clone, Debug)]
pub struct Written {
    pub action: Action,
    /// The version written; for a delete, the version removed.
    pub record: DocumentRecord,
    pub charge_ru: f64,
}

/// Runs one write inside a transaction.
pub async fn apply<S: Snapshot>(txn: &mut Txn<'_, S>, request: &WriteRequest) -> Result<Written, WriteError> {
    let found = live(txn, request.write.id()).await?;
    match (&request.write, found) {
        (Write::Create(item), Some(_)) => {
            Err(WriteError::AlreadyExists { id: item.id.clone(), key: key_text(&txn.key) })
        }
        (Write::Create(item) | Write::Upsert(item), None) => rows::insert(txn, item, request.indexed).await,
        (Write::Upsert(item), Some(existing)) => {
            check_conditions(&request.conditions, &item.id, &existing.1)?;
            rows::replace(txn, existing, item, request.indexed, 0).await
        }
        (Write::Replace { id, item }, Some(existing)) => {
            check_conditions(&request.conditions, id, &existing.1)?;
            if item.id != *id && live(txn, &item.id).await?.is_some() {
                return Err(WriteError::AlreadyExists { id: item.id.clone(), key: key_text(&txn.key) });
            }
            rows::replace(txn, existing, item, request.indexed, 0).await
        }
        (Write::Patch { id, patch, condition }, Some(existing)) => {
            check_conditions(&request.conditions, id, &existing.1)?;
            if condition.as_ref().is_some_and(|holds| !holds(existing.1.document.root())) {
                return Err(WriteError::PatchCondition { id: id.clone() });
            }
            let item = patch::patched(txn.scope.container, patch, &existing.1)?;
            rows::replace(txn, existing, &item, request.indexed, patch.operations.len()).await
        }
        (Write::Delete { id }, Some(existing)) => {
            check_conditions(&request.conditions, id, &existing.1)?;
            rows::remove(txn, existing, Operation::Delete).await
        }
        (Write::Replace { id, .. } | Write::Patch { id, .. } | Write::Delete { id }, None) => {
            Err(WriteError::NotFound { id: id.clone(), key: key_text(&txn.key) })
        }
    }
}

/// The item, unless it has expired: then it is removed here and now, and counts as missing.
async fn live<S: Snapshot>(
    txn: &mut Txn<'_, S>,
    id: &str,
) -> Result<Option<(DocumentOrdinal, DocumentRecord)>, WriteError> {
    let found = txn.find(id).await?;
    match found {
        Some(existing) if txn.is_expired(&existing.1) => {
            rows::remove(txn, existing, Operation::Expire).await?;
            Ok(None)
        }
        other => Ok(other),
    }
}

/// Which items a [`discard`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    Expired,
    Any,
}

/// Removes an item if it is still there and of that kind: its charge, or `None` when there was nothing to do.
pub async fn discard<S: Snapshot>(txn: &mut Txn<'_, S>, id: &str, what: Discard) -> Result<Option<f64>, WriteError> {
    let Some(existing) = txn.find(id).await? else { return Ok(None) };
    let how = match (txn.is_expired(&existing.1), what) {
        (true, _) => Operation::Expire,
        (false, Discard::Any) => Operation::Delete,
        (false, Discard::Expired) => return Ok(None),
    };
    Ok(Some(rows::remove(txn, existing, how).await?.charge_ru))
}

fn check_conditions(conditions: &Conditions, id: &str, existing: &DocumentRecord) -> Result<(), WriteError> {
    let found = crate::etag::of(existing);
    if let Some(wanted) = &conditions.if_match
        && !etag_matches(wanted, &found)
    {
        return Err(WriteError::EtagMismatch { id: id.to_owned(), found, wanted: wanted.clone() });
    }
    match &conditions.if_none_match {
        Some(unwanted) if etag_matches(unwanted, &found) => Err(WriteError::Exists { id: id.to_owned() }),
        _ => Ok(()),
    }
}

/// The key as errors and reports spell it.
pub fn key_text(key: &LogicalKey) -> String {
    tesela_model::json::to_string(&key.value.to_json())
}

/// What a refused write is charged with.
pub fn refusal_charge(request: &WriteRequest) -> f64 {
    charge::refused_write(request.write.body_bytes())
}

/// Refuses a body whose key is not the one the request names.
pub fn check_key(container: &Container, key: &LogicalKey, item: &Item) -> Result<(), WriteError> {
    let found = item.key(&container.partition_key)?;
    if found.value == key.value {
        return Ok(());
    }
    Err(WriteError::KeyMismatch { found: key_text(&found), wanted: key_text(key) })
}
