//! The router: from a container and a key to the physical partition that serves it.
//!
//! Partitions are opened on first use and kept; a handle is a few pointers. When a container's definition changes, the
//! partitions take the new one into use the next time they are reached.
//!
//! A request holds the map it started with. If a split or merge replaces a partition meanwhile, the old handle goes on
//! answering reads for a while; a write is told that it is gone and goes to the owner by the map of now.

use crate::catalog::{Catalog, CatalogError, Container, PhysicalPartition, ResourceKind};
use crate::error::RouterError;
use crate::scripts::Scripts;
use crate::split::{SplitOptions, Splits};
use parking_lot::RwLock;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tesela_env::Env;
use tesela_model::container::ContainerDefinition;
use tesela_model::epk::Epk;
use tesela_partition::Partition;
use tesela_store::{SpaceId, Store};

/// All containers and their partitions.
pub struct Router<S: Store> {
    store: S,
    env: Env,
    catalog: Catalog<S>,
    open: RwLock<HashMap<SpaceId, Open<S>>>,
    scripts: Arc<Scripts>,
    splits: Splits,
}

struct Open<S: Store> {
    partition: Partition<S>,
    /// The definition the partition works by.
    definition: Arc<ContainerDefinition>,
}

/// Which partition answered, and where it stood: what the session token and the LSN headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub partition: u32,
    pub lsn: u64,
}

/// What a partition holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub documents: u64,
    /// UTF-8 bytes of the items' texts.
    pub bytes: u64,
}

impl<S: Store> Router<S> {
    pub fn new(store: S, env: Env, catalog: Catalog<S>) -> Self {
        Self::with_splits(store, env, catalog, SplitOptions::default())
    }

    pub fn with_splits(store: S, env: Env, catalog: Catalog<S>, options: SplitOptions) -> Self {
        let (scripts, splits) = (Arc::new(Scripts::new(&env)), Splits::new(options));
        Self { store, env, catalog, open: RwLock::new(HashMap::new()), scripts, splits }
    }

    pub(crate) fn splits(&self) -> &Splits {
        &self.splits
    }

    pub fn catalog(&self) -> &Catalog<S> {
        &self.catalog
    }

    pub fn env(&self) -> &Env {
        &self.env
    }

    pub(crate) fn scripts(&self) -> &Arc<Scripts> {
        &self.scripts
    }

    pub fn store(&self) -> &S {
        &self.store
    }

    /// The handle of a physical partition, opened if need be.
    pub async fn partition(
        &self,
        container: &Container,
        physical: &PhysicalPartition,
    ) -> Result<Partition<S>, RouterError> {
        if let Some(open) = self.open.read().get(&physical.space)
            && Arc::ptr_eq(&open.definition, &container.definition)
        {
            return Ok(open.partition.clone());
        }
        let schema = Arc::new(tesela_partition::container::Container::new(
            container.rid.clone(),
            container.resource.self_link.to_string(),
            &container.definition,
        ));
        let known = self.open.read().get(&physical.space).map(|open| open.partition.clone());
        let partition = match known {
            Some(partition) => {
                if partition.set_container(schema.clone()) {
                    rebuild(partition.clone(), schema);
                }
                partition
            }
            None => {
                self.check_live(container, physical)?;
                let store = self.store.clone();
                let opened =
                    Partition::open(store, physical.space, physical.id, self.env.clone(), schema.clone()).await?;
                if !opened.index_is_complete() {
                    rebuild(opened.clone(), schema);
                }
                opened
            }
        };
        let mut open = self.open.write();
        // Two requests may have opened it at once: one writer must win, so the first handle stays.
        let slot = open
            .entry(physical.space)
            .or_insert_with(|| Open { partition: partition.clone(), definition: container.definition.clone() });
        slot.definition = container.definition.clone();
        Ok(slot.partition.clone())
    }

    /// Refuses to open a partition that an old map names and the map of now does not: it would get a second writer,
    /// which nobody has closed.
    fn check_live(&self, container: &Container, physical: &PhysicalPartition) -> Result<(), RouterError> {
        let current = self.current_container(container)?;
        match current.partitions.spaces().any(|space| space == physical.space) {
            true => Ok(()),
            false => Err(RouterError::PartitionGone { id: physical.id }),
        }
    }

    /// The owner of a point after `closed`, which owned it by an older map, was replaced.
    pub(crate) async fn owner_after(
        &self,
        container: &Container,
        point: &Epk,
        closed: &Partition<S>,
    ) -> Result<Partition<S>, RouterError> {
        let current = self.current_container(container)?;
        let physical = current.partitions.owner(point);
        if physical.space != closed.space() {
            return self.partition(&current, physical).await;
        }
        // The map still names it, so a change of the map has ended without an answer. The catalog finds out which.
        self.catalog.refresh().await?;
        let current = self.current_container(container)?;
        let physical = current.partitions.owner(point);
        if physical.space == closed.space() {
            self.forget_closed(physical.space);
        }
        self.partition(&current, physical).await
    }

    /// The container by the catalog of now.
    pub(crate) fn current_container(&self, container: &Container) -> Result<Arc<Container>, RouterError> {
        let current = self.catalog.state().container_by_rid(&container.rid);
        let name = || container.resource.id.to_string();
        let gone = || CatalogError::OwnerNotFound { kind: ResourceKind::Container, name: name() };
        Ok(current.ok_or_else(gone)?)
    }

    /// Lets go of a handle whose writer was closed, so that the next request opens the partition anew.
    fn forget_closed(&self, space: SpaceId) {
        let mut open = self.open.write();
        if open.get(&space).is_some_and(|open| open.partition.is_closed()) {
            open.remove(&space);
        }
    }

    pub(crate) fn forget(&self, space: SpaceId) {
        self.open.write().remove(&space);
    }

    /// What a partition holds, as far as it has been opened.
    pub fn usage(&self, container: &Container, partition: u32) -> Usage {
        let Some(physical) = container.partitions.by_id(partition) else { return Usage::default() };
        let open = self.open.read();
        let counters = open.get(&physical.space).map(|open| open.partition.counters()).unwrap_or_default();
        Usage { documents: counters.documents, bytes: counters.bytes }
    }

    /// Lets go of partitions that no container has any more. Those that were replaced are let go when they are dropped.
    pub fn forget_dropped(&self) {
        let state = self.catalog.state();
        let live: HashSet<SpaceId> =
            state.containers().flat_map(|container| container.partitions.spaces().collect::<Vec<_>>()).collect();
        self.open.write().retain(|space, open| live.contains(space) || open.partition.is_closed());
    }
}

/// Rebuilds the index of a partition beside the requests, which meanwhile read documents.
fn rebuild<S: Store>(partition: Partition<S>, schema: Arc<tesela_partition::container::Container>) {
    tokio::spawn(async move {
        if let Err(error) = partition.rebuild_index(schema).await {
            tracing::error!(partition = partition.id(), %error, "the index could not be rebuilt; queries scan until the next start");
        }
    });
}
