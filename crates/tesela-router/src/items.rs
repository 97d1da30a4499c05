//! Operations on single items and on batches: one key, one partition.

use crate::catalog::Container;
use crate::error::RouterError;
use crate::router::{Router, Served};
use tesela_model::rid::DocumentOrdinal;
use tesela_partition::error::WriteError;
use tesela_partition::item::LogicalKey;
use tesela_partition::layout::DocumentRecord;
use tesela_partition::write::{self, WriteRequest, Written};
use tesela_partition::{BatchStep, Committed, Partition, Removed, StepError, charge};
use tesela_store::Store;

/// A point read: `None` when there is no such item.
#[derive(Debug)]
pub struct ItemRead {
    pub served: Served,
    pub record: Option<DocumentRecord>,
    pub charge_ru: f64,
}

#[derive(Debug)]
pub struct ItemWritten {
    pub served: Served,
    pub written: Written,
}

/// A refused write, with what is still to be told of it: who refused and what it cost.
#[derive(Debug)]
pub struct Refused {
    pub error: RouterError,
    pub served: Option<Served>,
    pub charge_ru: f64,
}

impl From<RouterError> for Refused {
    fn from(error: RouterError) -> Self {
        Self { error, served: None, charge_ru: charge::LOOKUP_RU }
    }
}

impl<S: Store> Router<S> {
    /// The partition that owns a key, by the map of now if the one the request holds is out of date.
    pub async fn owner(&self, container: &Container, key: &LogicalKey) -> Result<Partition<S>, RouterError> {
        match self.partition(container, container.partitions.owner(&key.epk)).await {
            Ok(partition) if partition.is_closed() => self.owner_after(container, &key.epk, &partition).await,
            Err(RouterError::PartitionGone { .. }) => {
                let current = self.current_container(container)?;
                self.partition(&current, current.partitions.owner(&key.epk)).await
            }
            other => other,
        }
    }

    pub async fn read_item(
        &self,
        container: &Container,
        key: &LogicalKey,
        id: &str,
        strong: bool,
    ) -> Result<ItemRead, RouterError> {
        let partition = self.owner(container, key).await?;
        let record = partition.read(key, id).await?;
        Ok(item_read(&partition, record, strong))
    }

    /// By the number in its RID: the one way to reach an item without its key, so every partition is asked.
    pub async fn read_item_by_ordinal(
        &self,
        container: &Container,
        ordinal: DocumentOrdinal,
        strong: bool,
    ) -> Result<Option<ItemRead>, RouterError> {
        for physical in container.partitions.partitions() {
            let partition = self.partition(container, physical).await?;
            if let Some(record) = partition.read_ordinal(ordinal).await? {
                return Ok(Some(item_read(&partition, Some(record), strong)));
            }
        }
        Ok(None)
    }

    pub async fn write_item(&self, container: &Container, request: WriteRequest) -> Result<ItemWritten, Refused> {
        let mut partition = self.owner(container, &request.key).await?;
        let refusal_charge = write::refusal_charge(&request);
        loop {
            match partition.write(request.clone()).await {
                Ok(outcome) => {
                    let served = Served { partition: partition.id(), lsn: outcome.lsn };
                    return Ok(ItemWritten { served, written: outcome.written });
                }
                Err(WriteError::Gone) if partition.is_closed() => {
                    partition = self.owner_after(container, &request.key.epk, &partition).await?;
                }
                Err(error) => {
                    let served = Some(served(&partition));
                    return Err(Refused { error: error.into(), served, charge_ru: refusal_charge });
                }
            }
        }
    }

    /// Empties a logical partition.
    pub async fn remove_logical(
        &self,
        container: &Container,
        key: &LogicalKey,
    ) -> Result<(Served, Removed), RouterError> {
        let mut partition = self.owner(container, key).await?;
        loop {
            match partition.remove_logical(key).await {
                Ok(removed) => return Ok((Served { partition: partition.id(), lsn: removed.lsn }, removed)),
                // What was removed before the cut stays removed; the new owner removes the rest.
                Err(WriteError::Gone) if partition.is_closed() => {
                    partition = self.owner_after(container, &key.epk, &partition).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// R16: all steps or none.
    pub async fn batch(
        &self,
        container: &Container,
        key: LogicalKey,
        steps: Vec<BatchStep>,
    ) -> Result<(Served, Committed), Refused> {
        let mut partition = self.owner(container, &key).await?;
        loop {
            match partition.batch(key.clone(), steps.clone()).await {
                Ok(committed) => return Ok((Served { partition: partition.id(), lsn: committed.lsn }, committed)),
                Err(StepError { error: WriteError::Gone, .. }) if partition.is_closed() => {
                    partition = self.owner_after(container, &key.epk, &partition).await?;
                }
                Err(failed) => {
                    let served = Some(served(&partition));
                    return Err(Refused { error: RouterError::Step(failed), served, charge_ru: charge::LOOKUP_RU });
                }
            }
        }
    }
}

/// Where a partition stands now.
pub fn served<S: Store>(partition: &Partition<S>) -> Served {
    Served { partition: partition.id(), lsn: partition.counters().lsn }
}

fn item_read<S: Store>(partition: &Partition<S>, record: Option<DocumentRecord>, strong: bool) -> ItemRead {
    let mut served = served(partition);
    let charge_ru = match &record {
        Some(record) => {
            // The record may be newer than the counters were when they were read.
            served.lsn = served.lsn.max(record.lsn);
            charge::read(record.bytes as usize, strong)
        }
        None => charge::LOOKUP_RU,
    };
    ItemRead { served, record, charge_ru }
}
