//! Goes around all partitions that can hold something expired, a bite at a time.
//!
//! A *round* visits every partition whose container lets items expire or keeps history, whether anybody has used it since
//! the server started or not. A partition that has more than a bite goes to the end of the queue, so that a container
//! with millions of expired items does not keep the others waiting.
//!
//! A container whose change feed policy was taken away has history that nobody can ask for. Partitions without a policy
//! are therefore looked at once for every definition they have, and left alone when there is nothing.
//!
//! No timers here, and no clock but the partitions': a test calls [`Sweeper::bite`] as often as it likes.

use crate::error::RouterError;
use crate::router::Router;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use tesela_model::container::ContainerDefinition;
use tesela_partition::error::{ReadError, WriteError};
use tesela_partition::layout::Key;
use tesela_partition::{SweepPosition, Swept};
use tesela_store::{Direction, ScanLimit, Snapshot, SpaceId, Store};

/// Items, and changes of the history, that one bite looks at. Ours: one group commit of a few milliseconds, which is what
/// a write that comes at that moment waits for.
const BITE_ROWS: usize = 128;

/// What a bite has found, and so what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The round goes on.
    Bite,
    /// The round is over; so much went in it.
    Round { removed: usize },
    /// Nothing in the catalog can expire.
    Nothing,
}

/// A partition to look at. By RIDs, not by the container of the moment: its definition may change before its turn.
struct Visit {
    database: Arc<str>,
    container: Arc<str>,
    space: SpaceId,
}

/// See the module.
pub struct Sweeper<S: Store> {
    router: Arc<Router<S>>,
    round: VecDeque<Visit>,
    removed: usize,
    positions: HashMap<SpaceId, SweepPosition>,
    /// Partitions without history, and the definition under which that was seen.
    without_history: HashMap<SpaceId, Arc<ContainerDefinition>>,
}

fn keeps_history(definition: &ContainerDefinition) -> bool {
    definition.change_feed_policy.as_ref().is_some_and(|policy| policy.retention_minutes > 0)
}

impl<S: Store> Sweeper<S> {
    pub fn new(router: Arc<Router<S>>) -> Self {
        let (positions, without_history) = (HashMap::new(), HashMap::new());
        Self { router, round: VecDeque::new(), removed: 0, positions, without_history }
    }

    /// Looks at one partition. One that cannot be read or written is left for the next round.
    pub async fn bite(&mut self) -> Next {
        if self.round.is_empty() {
            self.begin_round();
        }
        let Some(visit) = self.round.pop_front() else { return Next::Nothing };
        match self.visit(&visit).await {
            Ok(swept) => {
                self.removed += swept.removed;
                if swept.more {
                    self.round.push_back(visit);
                }
            }
            Err(error) if is_gone(&error) => {}
            Err(error) => tracing::warn!(space = visit.space.0, %error, "expired items could not be removed"),
        }
        match self.round.is_empty() {
            true => Next::Round { removed: std::mem::take(&mut self.removed) },
            false => Next::Bite,
        }
    }

    fn begin_round(&mut self) {
        let state = self.router.catalog().state();
        let mut live = HashSet::new();
        for container in state.containers() {
            let definition = &container.definition;
            let always = definition.default_ttl.is_some() || keeps_history(definition);
            for space in container.partitions.spaces() {
                live.insert(space);
                if always || !self.is_without_history(space, definition) {
                    let (database, container) = (container.resource.owner_rid.clone(), container.resource.rid.clone());
                    self.round.push_back(Visit { database, container, space });
                }
            }
        }
        self.positions.retain(|space, _| live.contains(space));
        self.without_history.retain(|space, _| live.contains(space));
    }

    fn is_without_history(&self, space: SpaceId, definition: &Arc<ContainerDefinition>) -> bool {
        self.without_history.get(&space).is_some_and(|seen| Arc::ptr_eq(seen, definition))
    }

    async fn visit(&mut self, visit: &Visit) -> Result<Swept, RouterError> {
        let state = self.router.catalog().state();
        let container = state.owner_container(&visit.database, &visit.container)?;
        let physical = container.partitions.partitions().iter().find(|physical| physical.space == visit.space);
        let Some(physical) = physical else { return Ok(Swept::default()) };
        let definition = &container.definition;
        let expires = definition.default_ttl.is_some();
        let mut trims = keeps_history(definition);
        if !trims && !self.is_without_history(visit.space, definition) {
            trims = self.has_history(visit.space).await?;
            if !trims {
                self.without_history.insert(visit.space, definition.clone());
            }
        }
        if !expires && !trims {
            return Ok(Swept::default());
        }
        let partition = self.router.partition(container, physical).await?;
        let position = self.positions.entry(visit.space).or_default();
        let mut swept = Swept::default();
        if expires {
            swept = partition.remove_expired(position, BITE_ROWS).await?;
        }
        if trims {
            let trimmed = partition.trim_history(position, BITE_ROWS).await?;
            swept = Swept { removed: swept.removed + trimmed.removed, more: swept.more || trimmed.more };
        }
        Ok(swept)
    }

    /// Without opening the partition, which most of those asked about do not need.
    async fn has_history(&self, space: SpaceId) -> Result<bool, ReadError> {
        let limit = ScanLimit { rows: 1, bytes: usize::MAX };
        let snapshot = self.router.store().snapshot();
        let page = snapshot.scan(space, Key::history_after(0), Direction::Forward, limit).await?;
        Ok(!page.rows.is_empty())
    }
}

/// Containers are dropped and partitions split while a sweeper is on its way to them.
fn is_gone(error: &RouterError) -> bool {
    use tesela_store::Error::NoSuchSpace;
    matches!(
        error,
        RouterError::Catalog(_)
            | RouterError::Write(WriteError::Gone | WriteError::Store(NoSuchSpace(_)))
            | RouterError::Read(ReadError::Store(NoSuchSpace(_)))
    )
}
