//! A look at all documents, for those without a value under a path: see [`Absentees`](crate::index::Absentees).

use super::access_path::AccessPath;
use super::page::Cost;
use super::reader::Reader;
use crate::error::{ReadError, WriteError};
use crate::index::Absent;
use crate::item::LogicalKey;
use crate::layout::Key;
use crate::partition::Partition;
use crate::read::View;
use std::time::Duration;
use tesela_model::epk::Epk;
use tesela_model::partition_key::PartitionKeyValue;
use tesela_store::{KeyRange, Snapshot, Store};

/// Rows a look gathers before it takes the path for one that many documents lack. Ours: 64 MB of ordinals.
const GATHERED_MAX: usize = 8 * 1024 * 1024;
/// Wrong entries of a list below this number cost nothing worth a new look.
const STALE_MIN: u64 = 256;
/// Rows read at a time.
const STEP_ROWS: usize = 4096;

impl<S: Store> Partition<S> {
    /// Finds out, the first time a path is ordered by, which documents lack it.
    pub(super) async fn prepare(&self, path: &AccessPath) -> Result<(), ReadError> {
        let Some(prefix) = absentees(path) else { return Ok(()) };
        if self.absentees().is_known(&prefix) {
            return Ok(());
        }
        let Some(look) = self.absentees().begin(prefix.clone()) else { return Ok(()) };
        self.barrier().await?;
        let view = self.view();
        let mut reader = Reader::new(&view, &|| Duration::ZERO);
        let counters = reader.counters().await?;
        let with_value = count(&mut reader, Key::terms(&prefix)).await?;
        let found = if with_value == counters.documents {
            Some(Vec::new())
        } else if counters.documents as usize > GATHERED_MAX {
            None
        } else {
            let having = gather(&mut reader, Key::terms(&prefix)).await?;
            let all = gather(&mut reader, Key::all_members()).await?;
            Some(all.into_iter().filter(|ordinal| having.binary_search(ordinal).is_err()).collect())
        };
        look.complete(counters.lsn, found);
        Ok(())
    }

    /// Who may lack the path of an order, in the moment of a view.
    pub(super) async fn absent(
        &self,
        path: &AccessPath,
        view: &View<S::Snapshot>,
    ) -> Result<Option<Absent>, ReadError> {
        let Some(prefix) = absentees(path) else { return Ok(None) };
        let lsn = Reader::new(view, &|| Duration::ZERO).counters().await?.lsn;
        Ok(Some(self.absentees().known(&prefix, lsn)))
    }

    /// Forgets a list that has become wrong for the greater part.
    pub(super) fn tidy(&self, path: &AccessPath, cost: &Cost) {
        if let Some(prefix) = absentees(path)
            && cost.stale > STALE_MIN
            && 2 * cost.stale > cost.listed
        {
            self.absentees().forget(&prefix);
        }
    }

    /// Waits until every write that had begun is through.
    async fn barrier(&self) -> Result<(), ReadError> {
        let nobody = LogicalKey { value: PartitionKeyValue::default(), epk: Epk::min() };
        match self.run(nobody, Vec::new()).await.map_err(|failed| failed.error) {
            Err(WriteError::Store(error)) => Err(ReadError::Store(error)),
            // A transaction without steps fails for no other reason; a partition that is gone has no writes.
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

/// The terms of the path whose absence matters.
fn absentees(path: &AccessPath) -> Option<Vec<u8>> {
    match path {
        AccessPath::Ordered { order, .. } => order.absentees(),
        AccessPath::Nothing | AccessPath::Count(_) | AccessPath::Documents { .. } => None,
    }
}

async fn count<S: Snapshot>(reader: &mut Reader<'_, S>, range: KeyRange) -> Result<u64, ReadError> {
    let mut count = 0;
    let mut rest = Some(range);
    while let Some(range) = rest {
        let (ordinals, more) = reader.ordinals(range, STEP_ROWS).await?;
        count += ordinals.len() as u64;
        rest = more;
        tokio::task::yield_now().await;
    }
    Ok(count)
}

async fn gather<S: Snapshot>(reader: &mut Reader<'_, S>, range: KeyRange) -> Result<Vec<u64>, ReadError> {
    let mut found = Vec::new();
    let mut rest = Some(range);
    while let Some(range) = rest {
        let (ordinals, more) = reader.ordinals(range, STEP_ROWS).await?;
        found.extend(ordinals);
        rest = more;
        tokio::task::yield_now().await;
    }
    found.sort_unstable();
    Ok(found)
}
