//! Emptying a logical partition.
//!
//! It goes in bounded chunks, so that ordinary writes find their turn in between, and names items that may be gone when
//! their turn comes: a chunk removes what is still there and is content with the rest.
//!
//! The partition is emptied as it was when the call came: what is created meanwhile stays, so the work ends however
//! busy the key is. Each chunk is one transaction of that logical partition and one LSN.

use crate::error::{ReadError, WriteError};
use crate::item::LogicalKey;
use crate::layout::{DocumentRecord, Key};
use crate::partition::Partition;
use crate::write::Discard;
use crate::writer::{Committed, StepOutcome, WriteStep};
use tesela_model::rid::DocumentOrdinal;
use tesela_store::Store;

/// Items removed in one transaction. Ours: as many as the operations of the largest batch a client may send.
pub(crate) const CHUNK_ITEMS: usize = tesela_model::limits::BATCH_OPERATIONS_MAX;

/// What the emptying of a logical partition did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Removed {
    pub items: usize,
    pub charge_ru: f64,
    /// The partition's LSN after it.
    pub lsn: u64,
}

impl<S: Store> Partition<S> {
    /// Removes every item of a logical partition.
    pub async fn remove_logical(&self, key: &LogicalKey) -> Result<Removed, WriteError> {
        let mut removed = Removed { lsn: self.counters().lsn, ..Removed::default() };
        let view = self.view();
        let mut last = None;
        loop {
            let chunk = view.ordinals(Key::members(&key.epk, last), CHUNK_ITEMS).await.map_err(read_failed)?;
            last = chunk.last().copied();
            if last.is_none() {
                return Ok(removed);
            }
            let mut steps = Vec::with_capacity(chunk.len());
            for ordinal in chunk {
                if let Some(id) = self.named(&view.snapshot, ordinal).await? {
                    steps.push(WriteStep::Discard { id, what: Discard::Any });
                }
            }
            let committed = self.run(key.clone(), steps).await.map_err(|failed| failed.error)?;
            removed.lsn = committed.lsn;
            for charge_ru in charges(&committed) {
                removed.items += 1;
                removed.charge_ru += charge_ru;
            }
        }
    }

    /// The id of an item.
    async fn named(&self, snapshot: &S::Snapshot, ordinal: DocumentOrdinal) -> Result<Option<String>, WriteError> {
        use tesela_store::Snapshot as _;
        let Some(bytes) = snapshot.get(self.space(), &Key::document(ordinal)).await? else { return Ok(None) };
        let record = DocumentRecord::decode(&bytes)?;
        Ok(record.document.root().get("id").and_then(|id| id.as_str()).map(std::borrow::Cow::into_owned))
    }
}

/// The charges of the items a transaction removed.
pub(crate) fn charges(committed: &Committed) -> impl Iterator<Item = f64> {
    committed.outcomes.iter().filter_map(|outcome| match outcome {
        StepOutcome::Discarded(charge_ru) => *charge_ru,
        _ => None,
    })
}

pub(crate) fn read_failed(error: ReadError) -> WriteError {
    match error {
        ReadError::Layout(error) => WriteError::Layout(error),
        ReadError::Store(error) => WriteError::Store(error),
    }
}
