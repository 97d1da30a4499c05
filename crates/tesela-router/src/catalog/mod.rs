//! The catalog: databases, containers and their partition maps, offers, users, permissions, scripts, encryption keys.
//!
//! # What it models
//!
//! Everything of an account but its items (R1). Reads are answered from a [`State`] in memory: immutable, shared by
//! reference count, replaced as a whole. Writers take turns; a change is made to a copy of the state (the copy shares
//! all it does not change) and to a batch of rows, the batch is committed, and then the copy is published.
//!
//! ```text
//! request ──> Catalog::state() ──> State ──> Database ──> Container ──> definition, partitions, scripts
//!                   ^ publish
//! change  ──> Change { copy of the state, batch } ──> one store.commit
//! ```
//!
//! # Invariants
//!
//! 1. The published state equals what [`Catalog::open`] would load at that moment.
//! 2. One commit per change. No reader and no crash ever sees half of one.
//! 3. A key space exists before a map names it, and is dropped only after none does. A crash in between leaves spaces
//!    no map names; the next open drops them.
//! 4. Numbers inside RIDs, ids of partitions and numbers of key spaces are not handed out twice, so a container that
//!    was deleted and created again is another container to every client.
//!
//! # Worked example
//!
//! Creating a container with 11,000 RU/s: the definition is read and checked; two key spaces are made (ceil(11,000 /
//! 6,000)); one commit writes the container, its map of two ranges, its offer and the counters; the new state is
//! published. Raising the offer to 25,000 RU/s changes the offer alone: it is *pending* until somebody has split a
//! partition and called [`Catalog::install_map`].
//!
//! # When a commit fails
//!
//! If the store says it was not applied, nothing happened. If the outcome is unknown, or the caller went away while it
//! was under way, the state in memory may be behind the store: the next writer loads it anew before it does anything.
//!
//! # Where to look
//!
//! [`State`] for look-ups, `databases`, `containers`, `offers`, `entries` for changes, `partition_map` for the division
//! of the key space, `layout` for the rows, `load` for opening, `change` for how a change is made.
//!
//! Left out: enforcing throughput, running scripts, issuing tokens, moving data for a split. One process owns the
//! catalog of a store.

mod change;
mod containers;
mod databases;
mod entries;
mod error;
mod folder;
mod layout;
mod load;
mod named;
mod offer;
mod offers;
mod partition_map;
mod resource;
mod state;
mod throughput;

pub use containers::ContainerOptions;
pub use error::{CatalogError, Damage, ResourceKind, Result};
pub use folder::{
    Detail, Entry, Folder, Permission, PermissionMode, Script, ScriptKind, Trigger, TriggerMoment, TriggerOperation,
};
pub use named::Addressing;
pub use offer::{Migration, Offer, Terms};
pub use partition_map::{MapError, PartitionMap, PartitionStatus, PhysicalPartition, halfway, initial_partitions};
pub use resource::{FeedPage, Precondition, Resource};
pub use state::{Container, ContainerThroughput, Database, Feed, Functions, State};
pub use throughput::{MinimumFacts, Throughput, ThroughputError, partitions_needed};

use arc_swap::ArcSwap;
use change::Writer;
use std::sync::Arc;
use tesela_env::Env;
use tesela_model::limits::{PARTITION_INITIAL_RU, PARTITION_RU_MAX, THROUGHPUT_MIN_RU};
use tesela_store::Store;
use tokio::sync::watch;

/// Figures of the account that a user can configure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogOptions {
    /// What a container gets that asks for nothing and shares nothing; `None` for an account without throughput.
    pub default_throughput: Option<Throughput>,
    /// RU/s of a new container for which it gets one physical partition.
    pub partition_initial_ru: u32,
    /// RU/s one physical partition can give; more makes an offer pending until there are enough partitions.
    pub partition_ru_max: u32,
}

impl Default for CatalogOptions {
    fn default() -> Self {
        Self {
            default_throughput: Some(Throughput::Manual { ru: THROUGHPUT_MIN_RU }),
            partition_initial_ru: PARTITION_INITIAL_RU,
            partition_ru_max: PARTITION_RU_MAX,
        }
    }
}

/// A handle; clones share it.
pub struct Catalog<S: Store>(Arc<Inner<S>>);

impl<S: Store> Clone for Catalog<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

struct Inner<S> {
    store: S,
    env: Env,
    options: CatalogOptions,
    state: ArcSwap<State>,
    /// Told of every published state.
    published: watch::Sender<()>,
    writer: tokio::sync::Mutex<Writer>,
}

/// What a write gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub resource: Resource,
    /// Whether it is new; an upsert tells by it.
    pub created: bool,
}

impl<S: Store> Catalog<S> {
    /// The state of this moment. Keep it for the length of one request.
    pub fn state(&self) -> Arc<State> {
        self.0.state.load_full()
    }

    /// Waits for changes under way; if the end of one was never seen, finds out how it ended.
    pub async fn refresh(&self) -> Result<()> {
        self.begin().await.map(drop)
    }

    /// The container a request is about something in: the look-up of every item request.
    pub fn container(&self, database: &str, container: &str) -> Result<Arc<Container>> {
        self.0.state.load().owner_container(database, container).cloned()
    }

    /// Wakes whoever waits for the catalog to change.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.0.published.subscribe()
    }

    fn publish(&self, state: State) {
        self.0.state.store(Arc::new(state));
        self.0.published.send_replace(());
    }

    pub fn options(&self) -> &CatalogOptions {
        &self.0.options
    }

    /// How many partitions a container needs for its own throughput; what it has is enough when it has none.
    pub fn partitions_needed(&self, state: &State, container: &Container) -> u32 {
        let current = container.partitions.partitions().len() as u32;
        let own = state.offer_of(&container.rid).map_or(0, |offer| offer.terms.throughput.max_ru());
        partitions_needed(own, self.0.options.partition_ru_max, current)
    }
}

#[cfg(test)]
mod tests;
