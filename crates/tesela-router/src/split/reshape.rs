//! One change of a map, step by step.
//!
//! Steps, so that whoever drives it decides about pace, may stop between any two, and a test can do so on purpose.

use super::{ReshapeError, SplitPoint};
use crate::catalog::{CatalogError, Container, PartitionMap, PhysicalPartition, ResourceKind};
use crate::router::Router;
use std::sync::Arc;
use tesela_partition::reindex::put_index_policy;
use tesela_partition::split::{Tally, Target, Transfer, put_counters};
use tesela_partition::{Hold, Partition};
use tesela_store::{Batch, SpaceId, Store};

/// Documents a round of catching up may be about for the next to be the last. Ours: the cut replays about as many, and
/// writes wait for that long.
const CUT_CHANGES_MAX: u64 = 500;
/// Rounds of catching up. Ours: a partition written faster than it can be copied is cut all the same; its writes wait
/// longer.
const ROUNDS_MAX: u32 = 20;

/// What is to become of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    Split {
        id: u32,
        at: SplitPoint,
    },
    /// Neighbours, in either order.
    Merge {
        a: u32,
        b: u32,
    },
}

impl Plan {
    pub fn is_by_size(&self) -> bool {
        matches!(self, Self::Split { at: SplitPoint::BySize, .. })
    }
}

/// What a step has done.
#[derive(Debug)]
pub enum Progress {
    /// A page was copied.
    Copied { bytes: usize },
    /// A round of catching up was about so many documents.
    CaughtUp { changes: u64 },
    /// The new map is in force.
    Done(Arc<Container>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Copying,
    CatchingUp { rounds: u32 },
    Cutting,
}

/// See the module.
pub struct Reshape<'r, S: Store> {
    router: &'r Router<S>,
    /// As it was at the beginning.
    container: Arc<Container>,
    /// The map to install.
    map: PartitionMap,
    sources: Vec<Partition<S>>,
    transfers: Vec<Transfer<S>>,
    new_spaces: Vec<SpaceId>,
    phase: Phase,
}

impl<'r, S: Store> Reshape<'r, S> {
    /// Makes spaces and begins to keep track of changes. The caller is the only one who changes this container's map.
    pub async fn begin(router: &'r Router<S>, container: Arc<Container>, plan: &Plan) -> Result<Self, ReshapeError> {
        let count = match plan {
            Plan::Split { .. } => 2,
            Plan::Merge { .. } => 1,
        };
        let old = &container.partitions;
        let sources = sources(&container, plan)?;
        let point = match plan {
            Plan::Split { at, .. } => Some(router.split_point(&container, sources[0], at).await?),
            Plan::Merge { .. } => None,
        };
        let spaces = router.catalog().reserve_spaces(count).await?;
        let map = match (plan, &point) {
            (Plan::Split { id, .. }, Some(point)) => old.split(*id, point, [spaces[0], spaces[1]]),
            (Plan::Merge { a, b }, _) => old.merge(*a, *b, spaces[0]),
            (Plan::Split { .. }, None) => unreachable!("a split has a point"),
        };
        let mut reshape = Self {
            router,
            map: match map {
                Ok(map) => map,
                Err(error) => {
                    drop_spaces(router, &spaces).await;
                    return Err(error.into());
                }
            },
            sources: Vec::new(),
            transfers: Vec::new(),
            new_spaces: spaces,
            phase: Phase::Copying,
            container: container.clone(),
        };
        match reshape.begin_transfers(&sources).await {
            Ok(()) => Ok(reshape),
            Err(error) => {
                reshape.abandon().await;
                Err(error)
            }
        }
    }

    async fn begin_transfers(&mut self, sources: &[&PhysicalPartition]) -> Result<(), ReshapeError> {
        let portion = self.router.splits().options.portion;
        for physical in sources {
            let source = self.router.partition(&self.container, physical).await?;
            self.transfers.push(Transfer::begin(&source, self.targets(), portion).await?);
            self.sources.push(source);
        }
        Ok(())
    }

    fn targets(&self) -> Vec<Target> {
        let new = self.map.partitions().iter().filter(|partition| self.new_spaces.contains(&partition.space));
        new.map(|partition| Target { space: partition.space, range: partition.range.clone() }).collect()
    }

    /// Does the next piece of work. After an error the reshape is to be [abandoned](Self::abandon).
    pub async fn step(&mut self) -> Result<Progress, ReshapeError> {
        match self.phase {
            Phase::Copying => {
                for transfer in &mut self.transfers {
                    if let Some(bytes) = transfer.copy_page().await? {
                        return Ok(Progress::Copied { bytes });
                    }
                }
                self.phase = Phase::CatchingUp { rounds: 0 };
                Ok(Progress::Copied { bytes: 0 })
            }
            Phase::CatchingUp { rounds } => {
                let mut changes = 0;
                for transfer in &mut self.transfers {
                    changes += transfer.catch_up().await?;
                }
                let enough = changes <= CUT_CHANGES_MAX || rounds + 1 == ROUNDS_MAX;
                self.phase = if enough { Phase::Cutting } else { Phase::CatchingUp { rounds: rounds + 1 } };
                Ok(Progress::CaughtUp { changes })
            }
            Phase::Cutting => self.cut().await.map(Progress::Done),
        }
    }

    /// Gives up: the old partitions go on as if nothing had been.
    pub async fn abandon(self) {
        // What cannot be removed now is removed by the next transfer, or when the catalog is opened.
        for transfer in self.transfers {
            let _ = transfer.abandon().await;
        }
        drop_spaces(self.router, &self.new_spaces).await;
    }

    /// The moment of the change.
    async fn cut(&mut self) -> Result<Arc<Container>, ReshapeError> {
        let mut holds = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            holds.push(source.hold().await);
        }
        self.check_unchanged()?;
        let rows = self.finish(&holds).await?;
        holds.iter_mut().for_each(Hold::close_when_dropped);
        match self.router.catalog().install_map(&self.container.rid, self.map.clone(), rows).await {
            Ok(container) => {
                self.router.retire(&self.sources);
                Ok(container)
            }
            Err(CatalogError::Store(error)) if error.may_have_applied() => {
                drop(holds);
                self.look().await.ok_or(CatalogError::Store(error).into())
            }
            Err(error) => {
                holds.into_iter().for_each(Hold::release);
                Err(error.into())
            }
        }
    }

    /// After a cut whose end was not seen: the new container if it is there. If it is not, or nobody can tell yet, the
    /// sources are closed and whoever comes to write looks again.
    async fn look(&mut self) -> Option<Arc<Container>> {
        if self.router.catalog().refresh().await.is_err() {
            // The new spaces may be in use.
            self.new_spaces.clear();
            return None;
        }
        let container = self.router.catalog().state().container_by_rid(&self.container.rid)?;
        let installed = self.new_spaces.iter().all(|space| container.partitions.spaces().any(|named| named == *space));
        if installed {
            self.router.retire(&self.sources);
        }
        installed.then_some(container)
    }

    /// A target was made by the definition and the map of the beginning.
    fn check_unchanged(&self) -> Result<(), ReshapeError> {
        let name = self.container.rid.to_string();
        let current = self.router.catalog().state().container_by_rid(&self.container.rid);
        let current = current.ok_or(CatalogError::NotFound { kind: ResourceKind::Container, name: name.clone() })?;
        let (expected, found) = (self.container.partitions.epoch(), current.partitions.epoch());
        if expected != found {
            return Err(CatalogError::MapMoved { container: name, expected, found }.into());
        }
        match Arc::ptr_eq(&current.definition, &self.container.definition) {
            true => Ok(()),
            false => Err(ReshapeError::DefinitionChanged),
        }
    }

    /// All rows that are still missing in the targets.
    async fn finish(&mut self, holds: &[Hold<S>]) -> Result<Batch, ReshapeError> {
        let mut rows = Batch::new();
        let mut tallies = vec![Tally::default(); self.new_spaces.len()];
        let mut lsn = 0;
        let targets = self.targets();
        for (transfer, hold) in self.transfers.drain(..).zip(holds) {
            let finished = transfer.finish(hold).await?;
            rows.append(finished.rows);
            tallies.iter_mut().zip(finished.tallies).for_each(|(tally, more)| tally.add(more));
            lsn = lsn.max(finished.lsn);
        }
        let policies: Option<Vec<String>> = holds.iter().map(Hold::index_policy).collect();
        for (target, tally) in targets.iter().zip(tallies) {
            put_counters(&mut rows, target.space, lsn + 1, tally);
            // Rows made by other policies are made anew when the target is opened.
            if let Some([policy, others @ ..]) = policies.as_deref()
                && others.iter().all(|other| other == policy)
            {
                put_index_policy(&mut rows, target.space, policy);
            }
        }
        Ok(rows)
    }
}

/// The partitions that are to be replaced.
fn sources<'c>(container: &'c Container, plan: &Plan) -> Result<Vec<&'c PhysicalPartition>, ReshapeError> {
    let ids = match plan {
        Plan::Split { id, .. } => vec![*id],
        Plan::Merge { a, b } => vec![*a, *b],
    };
    let live = |id| container.partitions.by_id(id).ok_or(crate::catalog::MapError::NoPartition(id).into());
    ids.into_iter().map(live).collect()
}

/// The best that can be done; what stays is dropped when the catalog is opened.
async fn drop_spaces<S: Store>(router: &Router<S>, spaces: &[SpaceId]) {
    for space in spaces {
        let _ = router.store().drop_space(*space).await;
    }
}
