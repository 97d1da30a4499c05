//! The engine chosen at start: the one place that names concrete stores.
//!
//! An enum rather than a trait object: every layer above is compiled once, and a call costs a branch.

use bytes::Bytes;
use tesela_store::{
    Batch, Direction, KeyRange, MemorySnapshot, MemoryStore, Page, Result, ScanLimit, Snapshot, SpaceId, Store,
};
use tesela_store_embedded::{EmbeddedSnapshot, EmbeddedStore};

#[derive(Clone)]
pub enum Engine {
    Memory(MemoryStore),
    Embedded(EmbeddedStore),
}

#[derive(Clone)]
pub enum EngineSnapshot {
    Memory(MemorySnapshot),
    Embedded(EmbeddedSnapshot),
}

macro_rules! on_engine {
    ($self:expr, $store:ident => $call:expr) => {
        match $self {
            Engine::Memory($store) => $call,
            Engine::Embedded($store) => $call,
        }
    };
}

impl Store for Engine {
    type Snapshot = EngineSnapshot;

    async fn create_space(&self, space: SpaceId) -> Result<()> {
        on_engine!(self, store => store.create_space(space).await)
    }

    async fn drop_space(&self, space: SpaceId) -> Result<()> {
        on_engine!(self, store => store.drop_space(space).await)
    }

    async fn spaces(&self) -> Result<Vec<SpaceId>> {
        on_engine!(self, store => store.spaces().await)
    }

    fn snapshot(&self) -> EngineSnapshot {
        match self {
            Self::Memory(store) => EngineSnapshot::Memory(store.snapshot()),
            Self::Embedded(store) => EngineSnapshot::Embedded(store.snapshot()),
        }
    }

    async fn commit(&self, batch: Batch) -> Result<()> {
        on_engine!(self, store => store.commit(batch).await)
    }

    async fn flush(&self) -> Result<()> {
        on_engine!(self, store => store.flush().await)
    }

    async fn size_bytes(&self, space: SpaceId) -> Result<u64> {
        on_engine!(self, store => store.size_bytes(space).await)
    }
}

impl Snapshot for EngineSnapshot {
    async fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Bytes>> {
        match self {
            Self::Memory(snapshot) => snapshot.get(space, key).await,
            Self::Embedded(snapshot) => snapshot.get(space, key).await,
        }
    }

    async fn scan(&self, space: SpaceId, range: KeyRange, direction: Direction, limit: ScanLimit) -> Result<Page> {
        match self {
            Self::Memory(snapshot) => snapshot.scan(space, range, direction, limit).await,
            Self::Embedded(snapshot) => snapshot.scan(space, range, direction, limit).await,
        }
    }
}
