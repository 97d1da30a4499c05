//! Removing what time has overtaken: items that have expired, and changes older than the history goes back.
//!
//! Nobody sees either of them any more, or is promised to: a sweep frees space, lets the all-versions feed tell of the
//! end of items, and may come late. It works in small bites, so that ordinary writes find their turn in between.
//!
//! Items expire in two ways. One with a `ttl` of its own has a row under the second its time runs out. One that goes by
//! the container's default has none: the latest-version feed lists items by their last write, which is the order they
//! expire in, so the oldest are looked at until one is still alive. Nothing depends on what the default was when an item
//! was written: changing it, or switching expiry on or off, takes effect at once and rewrites nothing.
//!
//! A [`SweepPosition`] remembers what has been looked at, for two reasons. Items that never expire stand in the feed
//! among those that do and would be read again every time; and in an LSM tree the way over rows just deleted is as long
//! as if they were still there. Keys of the feed and the history only grow, so their positions stay good; among
//! expiries a clock that was set back may add one behind the position, so that one is given up when all is removed.
//!
//! Partitions that merged have counted their LSNs independently: there a young item can stand before an old one. The
//! old one then waits until the young one expires, too.

use crate::error::WriteError;
use crate::item::LogicalKey;
use crate::layout::{DocumentRecord, HistoryRecord, Key};
use crate::partition::Partition;
use crate::read::View;
use crate::removal::{CHUNK_ITEMS, charges, read_failed};
use crate::write::Discard;
use crate::writer::WriteStep;
use bytes::Bytes;
use std::collections::BTreeMap;
use tesela_model::container::DefaultTtl;
use tesela_model::epk::Epk;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::{Batch, Direction, KeyRange, Snapshot, Store};
use tokio::task::JoinSet;

/// How far sweeps of one partition have come. A new one is always right, and only slower.
#[derive(Clone, Debug, Default)]
pub struct SweepPosition {
    own: Option<Bytes>,
    default: Option<Bytes>,
    history: Option<Bytes>,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub removed: usize,
    /// It ended at its limit: there may be more.
    pub more: bool,
}

/// Items to remove, by logical partition, and where the sweep stands once they are gone.
struct Bite {
    items: BTreeMap<Epk, (LogicalKey, Vec<String>)>,
    looked_at: usize,
    position: SweepPosition,
}

impl<S: Store> Partition<S> {
    /// Looks at up to `most` items and removes those that have expired.
    pub async fn remove_expired(&self, position: &mut SweepPosition, most: usize) -> Result<Swept, WriteError> {
        let view = self.view();
        let Some(default) = view.ttl else { return Ok(Swept::default()) };
        let mut bite = Bite { items: BTreeMap::new(), looked_at: 0, position: position.clone() };
        self.own_expired(&view, &mut bite, most).await?;
        if matches!(default, DefaultTtl::Seconds(_)) {
            self.default_expired(&view, &mut bite, most).await?;
        }
        let expired: usize = bite.items.values().map(|(_, ids)| ids.len()).sum();
        let removed = self.discard(bite.items).await?;
        // Unless somebody was faster, or the default has just changed: then look again.
        if removed == expired {
            *position = bite.position;
        }
        Ok(Swept { removed, more: bite.looked_at >= most })
    }

    /// Removes up to `most` changes that are older than the container's retention.
    pub async fn trim_history(&self, position: &mut SweepPosition, most: usize) -> Result<Swept, WriteError> {
        let view = self.view();
        let end = view.now.saturating_sub(self.container().history_seconds);
        let range = behind(Key::history_after(0), position.history.as_ref());
        let (rows, rest) = view.rows(range, most).await.map_err(read_failed)?;
        let mut batch = Batch::with_capacity(rows.len());
        let mut last = None;
        for (key, value) in &rows {
            if HistoryRecord::decode(value)?.at >= end {
                break;
            }
            batch.delete(self.space(), key.clone());
            last = Some(key.clone());
        }
        let removed = batch.len();
        if removed > 0 {
            // Beside the writer: it never touches rows of earlier commits.
            self.store().commit(batch).await?;
            position.history = last;
        }
        Ok(Swept { removed, more: removed == rows.len() && rest.is_some() })
    }

    async fn own_expired(&self, view: &View<S::Snapshot>, bite: &mut Bite, most: usize) -> Result<(), WriteError> {
        let range = behind(Key::expired(view.now), bite.position.own.as_ref());
        let (rows, rest) = view.rows(range, most).await.map_err(read_failed)?;
        for (key, _) in &rows {
            let ordinal = Key::trailing_ordinal(key)?;
            if let Some(record) = stored(view, ordinal).await? {
                self.add(bite, &record);
            }
        }
        bite.looked_at += rows.len();
        bite.position.own = rest.and(rows.last().map(|(key, _)| key.clone()));
        Ok(())
    }

    async fn default_expired(&self, view: &View<S::Snapshot>, bite: &mut Bite, most: usize) -> Result<(), WriteError> {
        let Some(most) = most.checked_sub(bite.looked_at).filter(|most| *most > 0) else { return Ok(()) };
        let range = behind(Key::feed_after(0), bite.position.default.as_ref());
        let (rows, _) = view.rows(range, most).await.map_err(read_failed)?;
        for (key, _) in rows {
            let record = stored(view, Key::trailing_ordinal(&key)?).await?;
            match record.filter(|record| record.ttl == 0) {
                Some(record) if record.is_expired(view.now, view.ttl) => self.add(bite, &record),
                // The first that lives on; all behind it are younger.
                Some(_) => return Ok(()),
                None => {}
            }
            bite.looked_at += 1;
            bite.position.default = Some(key);
        }
        Ok(())
    }

    fn add(&self, bite: &mut Bite, record: &DocumentRecord) {
        let root = record.document.root();
        let Some(id) = root.get("id").and_then(|id| id.as_str()) else { return };
        let key = || LogicalKey { value: self.container().partition_key.extract(root), epk: record.epk.clone() };
        let (_, ids) = bite.items.entry(record.epk.clone()).or_insert_with(|| (key(), Vec::new()));
        ids.push(id.into_owned());
    }

    /// Removes what has still expired when its turn comes. All at once, so that one commit of the store carries many.
    async fn discard(&self, items: BTreeMap<Epk, (LogicalKey, Vec<String>)>) -> Result<usize, WriteError> {
        let mut transactions = JoinSet::new();
        for (key, ids) in items.into_values() {
            for chunk in ids.chunks(CHUNK_ITEMS) {
                let step = |id: &String| WriteStep::Discard { id: id.clone(), what: Discard::Expired };
                let (partition, key, steps) = (self.clone(), key.clone(), chunk.iter().map(step).collect());
                transactions.spawn(async move { partition.run(key, steps).await });
            }
        }
        let mut removed = 0;
        while let Some(joined) = transactions.join_next().await {
            // A task is only ever cancelled by the end of the runtime, and then nobody waits here.
            let Ok(outcome) = joined else { continue };
            removed += charges(&outcome.map_err(|failed| failed.error)?).count();
        }
        Ok(removed)
    }
}

/// What is left of a range behind a position.
fn behind(range: KeyRange, position: Option<&Bytes>) -> KeyRange {
    match position {
        Some(key) => range.after(key, Direction::Forward),
        None => range,
    }
}

/// The document of that number, expired or not.
async fn stored<S: Snapshot>(view: &View<S>, ordinal: DocumentOrdinal) -> Result<Option<DocumentRecord>, WriteError> {
    let bytes = view.snapshot.get(view.space, &Key::document(ordinal)).await?;
    Ok(bytes.map(|bytes| DocumentRecord::decode(&bytes)).transpose()?)
}
