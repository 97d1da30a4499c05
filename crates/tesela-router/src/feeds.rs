//! Feeds over a scope: read feed in `_rid` order, and the change feed. Each page comes from one partition.

use crate::catalog::Container;
use crate::error::RouterError;
use crate::items::served;
use crate::router::{Router, Served};
use crate::scope::Scope;
use crate::walk::Walk;
use tesela_model::rid::DocumentOrdinal;
use tesela_partition::change_feed::ChangePage;
use tesela_partition::charge;
use tesela_partition::layout::{DocumentRecord, HistoryRecord};
use tesela_partition::read::{FeedScope, PageLimit};
use tesela_store::Store;

/// A page of items and where to go on.
#[derive(Debug)]
pub struct ItemPage {
    pub served: Served,
    pub records: Vec<DocumentRecord>,
    /// The bytes of a continuation token; `None` at the end.
    pub continuation: Option<Vec<u8>>,
    pub charge_ru: f64,
}

/// Where a change feed starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeStart {
    Beginning,
    Now,
    /// Unix seconds.
    Time(u64),
    /// Behind an LSN: a continuation.
    After(u64),
}

/// A page of changes of one partition.
#[derive(Debug)]
pub struct Changes<T> {
    pub served: Served,
    pub page: ChangePage<T>,
    pub charge_ru: f64,
}

impl<S: Store> Router<S> {
    /// A page of a read feed. `continuation` are the bytes an earlier page gave.
    pub async fn read_feed(
        &self,
        container: &Container,
        scope: &Scope,
        continuation: Option<&[u8]>,
        limit: PageLimit,
    ) -> Result<ItemPage, RouterError> {
        let range = scope.range(&container.partitions)?;
        let mut walk = match continuation {
            Some(bytes) => Walk::resume(bytes, &range).ok_or(RouterError::Continuation)?,
            None => Walk::over(range),
        };
        let stop = walk.next(&container.partitions).ok_or(RouterError::Continuation)?;
        let after = stop.state.as_deref().map(ordinal_of).transpose()?;
        let partition = self.partition(container, stop.partition).await?;
        let within = scope.within(&stop.partition.range, &stop.range);
        let page = partition.feed(&within, after, limit).await?;
        walk.advance(page.next.map(|ordinal| ordinal.0.to_be_bytes().to_vec()));
        let charge_ru = charge::feed(page.records.iter().map(|(_, record)| record.bytes as usize));
        let records = page.records.into_iter().map(|(_, record)| record).collect();
        let continuation = (!walk.is_done()).then(|| walk.encode());
        Ok(ItemPage { served: served(&partition), records, continuation, charge_ru })
    }

    /// A page of the latest-version change feed of the one partition that `scope` lies in.
    pub async fn latest_changes(
        &self,
        container: &Container,
        scope: &Scope,
        start: ChangeStart,
        limit: PageLimit,
    ) -> Result<Changes<DocumentRecord>, RouterError> {
        let (partition, within) = self.change_partition(container, scope).await?;
        let now = partition.counters().lsn;
        let (after, since) = match start {
            ChangeStart::Beginning => (0, None),
            ChangeStart::Now => (now, None),
            ChangeStart::Time(seconds) => (0, Some(seconds)),
            ChangeStart::After(lsn) => (lsn, None),
        };
        let page = partition.latest_changes(&within, after, since, limit).await?;
        let charge_ru = charge::feed(page.changes.iter().map(|(_, record)| record.bytes as usize));
        Ok(Changes { served: served(&partition), page, charge_ru })
    }

    /// A page of the all-versions change feed. Starting anywhere but now or a continuation is the border's to refuse.
    pub async fn all_changes(
        &self,
        container: &Container,
        scope: &Scope,
        after: Option<u64>,
        limit: PageLimit,
    ) -> Result<Changes<HistoryRecord>, RouterError> {
        let (partition, within) = self.change_partition(container, scope).await?;
        let after = after.unwrap_or_else(|| partition.counters().lsn);
        let page = partition.all_changes(&within, after, limit).await?;
        let charge_ru = charge::feed(page.changes.iter().map(|(_, change)| change.document.text().len()));
        Ok(Changes { served: served(&partition), page, charge_ru })
    }

    async fn change_partition(
        &self,
        container: &Container,
        scope: &Scope,
    ) -> Result<(tesela_partition::Partition<S>, FeedScope), RouterError> {
        let range = scope.range(&container.partitions)?;
        let physical = container.partitions.owner(range.min());
        let here = physical.range.intersection(&range).unwrap_or(range);
        let partition = self.partition(container, physical).await?;
        Ok((partition, scope.within(&physical.range, &here)))
    }
}

fn ordinal_of(state: &[u8]) -> Result<DocumentOrdinal, RouterError> {
    let bytes = state.try_into().map_err(|_| RouterError::Continuation)?;
    Ok(DocumentOrdinal(u64::from_be_bytes(bytes)))
}
