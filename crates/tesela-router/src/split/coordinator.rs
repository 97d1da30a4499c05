//! Triggers, commands and the background work of splits and merges.

use super::reshape::{Plan, Progress, Reshape};
use super::{ReshapeError, SplitPoint};
use crate::catalog::{CatalogError, Container, ResourceKind};
use crate::error::RouterError;
use crate::router::Router;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tesela_model::epk::EpkRange;
use tesela_model::rid::ResourceId;
use tesela_store::Store;
use tokio::task::JoinHandle;

/// How often sizes are looked at.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long to wait after a split that failed.
const RETRY_PAUSE: Duration = Duration::from_secs(5);
/// A partition that could not be divided is looked at again when it has grown by a quarter.
const REGROWTH: (u64, u64) = (5, 4);

/// One change at a time for each container.
#[derive(Default)]
pub(super) struct Locks(Mutex<HashMap<ResourceId, Arc<tokio::sync::Mutex<()>>>>);

impl Locks {
    fn of(&self, container: &ResourceId) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.0.lock();
        // Those that nobody holds or waits for are only here.
        locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        locks.entry(container.clone()).or_default().clone()
    }
}

/// A physical partition, for reports.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionState {
    pub id: u32,
    pub range: EpkRange,
    pub parents: Vec<u32>,
    pub throughput_fraction: f64,
    pub documents: u64,
    /// UTF-8 bytes of the items' texts.
    pub bytes: u64,
    pub lsn: u64,
}

impl<S: Store> Router<S> {
    /// Every partition of a container, in the order of their ranges.
    pub async fn partition_states(&self, container: &Container) -> Result<Vec<PartitionState>, RouterError> {
        let mut states = Vec::with_capacity(container.partitions.partitions().len());
        for physical in container.partitions.partitions() {
            let counters = self.partition(container, physical).await?.counters();
            states.push(PartitionState {
                id: physical.id,
                range: physical.range.clone(),
                parents: physical.parents.clone(),
                throughput_fraction: physical.throughput_fraction,
                documents: counters.documents,
                bytes: counters.bytes,
                lsn: counters.lsn,
            });
        }
        Ok(states)
    }

    /// Splits a partition, by command.
    pub async fn split(&self, container: &ResourceId, id: u32, at: SplitPoint) -> Result<Arc<Container>, ReshapeError> {
        let lock = self.splits().locks.of(container);
        let _turn = lock.lock().await;
        self.reshape(self.current(container)?, &Plan::Split { id, at }).await
    }

    /// Merges two neighbours, by command, unless the container would have to split again at once.
    pub async fn merge(&self, container: &ResourceId, a: u32, b: u32) -> Result<Arc<Container>, ReshapeError> {
        let lock = self.splits().locks.of(container);
        let _turn = lock.lock().await;
        let current = self.current(container)?;
        self.check_merge(&current, a, b).await?;
        self.reshape(current, &Plan::Merge { a, b }).await
    }

    async fn check_merge(&self, container: &Container, a: u32, b: u32) -> Result<(), ReshapeError> {
        let needed = self.partitions_for_throughput(container);
        if needed > container.partitions.partitions().len() as u32 - 1 {
            return Err(ReshapeError::Needed { a, b, needed });
        }
        let mut bytes = 0;
        for physical in [a, b].into_iter().filter_map(|id| container.partitions.by_id(id)) {
            bytes += self.partition(container, physical).await?.counters().bytes;
        }
        let max = self.splits().options.partition_bytes_max;
        if bytes > max { Err(ReshapeError::TooLarge { a, b, bytes, max }) } else { Ok(()) }
    }

    /// How many partitions the container's throughput needs, however many it has.
    fn partitions_for_throughput(&self, container: &Container) -> u32 {
        let state = self.catalog().state();
        let ru = state.offer_of(&container.rid).map_or(0, |offer| offer.terms.throughput.max_ru());
        crate::catalog::partitions_needed(ru, self.catalog().options().partition_ru_max, 0)
    }

    /// Splits until the container has the partitions it needs and none is too large.
    pub async fn settle(&self, container: &ResourceId) -> Result<(), ReshapeError> {
        let lock = self.splits().locks.of(container);
        let _turn = lock.lock().await;
        loop {
            let current = match self.current(container) {
                Err(ReshapeError::Catalog(CatalogError::NotFound { .. })) => return Ok(()),
                other => other?,
            };
            let Some(plan) = self.next_split(&current).await? else { return Ok(()) };
            match self.reshape(current, &plan).await {
                Ok(_) | Err(ReshapeError::DefinitionChanged) => {}
                Err(ReshapeError::Indivisible { id }) if plan.is_by_size() => {
                    self.remember_indivisible(container, id);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn next_split(&self, container: &Container) -> Result<Option<Plan>, ReshapeError> {
        if self.partitions_for_throughput(container) > container.partitions.partitions().len() as u32 {
            let id = self.partition_to_split(container).await?;
            return Ok(Some(Plan::Split { id, at: SplitPoint::Best }));
        }
        // What was just made by a split has not been opened by anybody.
        for physical in container.partitions.partitions() {
            self.partition(container, physical).await?;
        }
        Ok(self.too_large(container).map(|id| Plan::Split { id, at: SplitPoint::BySize }))
    }

    /// A partition that should be split for its size, as far as partitions have been opened.
    fn too_large(&self, container: &Container) -> Option<u32> {
        let large = |id: &u32| {
            let bytes = self.usage(container, *id).bytes;
            let space = container.partitions.by_id(*id).map(|physical| physical.space);
            let known = space.and_then(|space| self.splits().indivisible.lock().get(&space).copied());
            bytes > known.map_or(self.splits().options.partition_bytes_max, |known| known / REGROWTH.1 * REGROWTH.0)
        };
        container.partitions.partitions().iter().map(|physical| physical.id).find(large)
    }

    fn remember_indivisible(&self, container: &ResourceId, id: u32) {
        let Ok(container) = self.current(container) else { return };
        let Some(physical) = container.partitions.by_id(id) else { return };
        let bytes = self.usage(&container, id).bytes;
        self.splits().indivisible.lock().insert(physical.space, bytes);
    }

    fn current(&self, container: &ResourceId) -> Result<Arc<Container>, ReshapeError> {
        let not_found = || CatalogError::NotFound { kind: ResourceKind::Container, name: container.to_string() };
        Ok(self.catalog().state().container_by_rid(container).ok_or_else(not_found)?)
    }

    /// Carries a plan out, at its pace.
    async fn reshape(&self, container: Arc<Container>, plan: &Plan) -> Result<Arc<Container>, ReshapeError> {
        let _slot = self.splits().copying.acquire().await.expect("the semaphore is never closed");
        let started = self.env().elapsed();
        let before = container.partitions.clone();
        let mut reshape = Reshape::begin(self, container, plan).await?;
        let (mut copied, mut replayed) = (0_u64, 0);
        loop {
            match reshape.step().await {
                Ok(Progress::Copied { bytes }) => {
                    copied += bytes as u64;
                    self.pace(copied, started).await;
                }
                Ok(Progress::CaughtUp { changes }) => replayed += changes,
                Ok(Progress::Done(container)) => {
                    let (from, to) = (before.partitions().len(), container.partitions.partitions().len());
                    let (path, seconds) = (&*container.path, (self.env().elapsed() - started).as_secs_f64());
                    tracing::info!(path, ?plan, from, to, copied, replayed, seconds, "partitions were reshaped");
                    return Ok(container);
                }
                Err(error) => {
                    reshape.abandon().await;
                    return Err(error);
                }
            }
        }
    }

    /// Gives others their turn, and waits while the copy is ahead of the rate it may have.
    async fn pace(&self, copied: u64, started: Duration) {
        let allowed = self.splits().options.copy_bytes_per_second;
        let due = allowed.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(copied as f64 / rate.max(1) as f64));
        let took = self.env().elapsed() - started;
        if due > took {
            tokio::time::sleep(due - took).await;
        } else {
            tokio::task::yield_now().await;
        }
    }

    /// Settles a container in the background; the handle ends when it is, or when it failed for now.
    pub fn begin_settling(self: &Arc<Self>, container: ResourceId) -> JoinHandle<()> {
        let router = self.clone();
        tokio::spawn(async move {
            if let Err(error) = router.settle(&container).await {
                tracing::warn!(%container, %error, "a split failed and will be tried again");
            }
        })
    }

    /// Looks after maps for as long as the server runs: splits what throughput and size ask for, and drops what was
    /// replaced.
    pub async fn keep_maps(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(CHECK_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.drop_retired().await;
            for container in self.unsettled() {
                let busy = !self.splits().settling.lock().insert(container.clone());
                if !busy {
                    tokio::spawn(self.clone().settle_once(container));
                }
            }
        }
    }

    async fn settle_once(self: Arc<Self>, container: ResourceId) {
        if let Err(error) = self.settle(&container).await {
            tracing::warn!(%container, %error, "a split failed and will be tried again");
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        self.splits().settling.lock().remove(&container);
    }

    /// Containers whose map should change.
    pub(super) fn unsettled(&self) -> Vec<ResourceId> {
        let state = self.catalog().state();
        let unsettled = |container: &&Arc<Container>| {
            let count = container.partitions.partitions().len() as u32;
            self.catalog().partitions_needed(&state, container) > count || self.too_large(container).is_some()
        };
        state.containers().filter(unsettled).map(|container| container.rid.clone()).collect()
    }
}
