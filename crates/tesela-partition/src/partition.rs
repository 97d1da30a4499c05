//! A physical partition: one range of the hash space, its documents, index, feed and counters, ordered by one writer.
//!
//! Knows no other partition and no HTTP. Handles are cheap to clone and share one writer.

use crate::change_feed::ChangePage;
use crate::container::Container;
use crate::error::{ReadError, WriteError};
use crate::index::Absentees;
use crate::item::LogicalKey;
use crate::layout::{Counters, DocumentRecord, HistoryRecord, Key, LogicalRecord};
use crate::read::{FeedPage, FeedScope, PageLimit, View};
use crate::write::{WriteRequest, Written};
use crate::writer::{Committed, Hold, StepError, StepOutcome, Transaction, WriteStep, Writer};
use std::sync::Arc;
use tesela_env::Env;
use tesela_model::epk::Epk;
use tesela_model::rid::DocumentOrdinal;
use tesela_store::{Snapshot, SpaceId, Store};

/// See the module.
pub struct Partition<S: Store> {
    id: u32,
    space: SpaceId,
    store: S,
    env: Env,
    writer: Arc<Writer<S>>,
}

impl<S: Store> Clone for Partition<S> {
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            space: self.space,
            store: self.store.clone(),
            env: self.env.clone(),
            writer: self.writer.clone(),
        }
    }
}

/// A step of a transactional batch.
#[derive(Clone)]
pub enum BatchStep {
    Write(WriteRequest),
    Read { id: String, if_none_match: Option<String> },
}

/// A write and the LSN it was committed under.
#[derive(Debug)]
pub struct WriteOutcome {
    pub lsn: u64,
    pub written: Written,
}

impl<S: Store> Partition<S> {
    /// Opens a partition whose space exists: empty, or left by an earlier run.
    pub async fn open(
        store: S,
        space: SpaceId,
        id: u32,
        env: Env,
        container: Arc<Container>,
    ) -> Result<Self, ReadError> {
        let counters = match store.snapshot().get(space, &Key::counters()).await? {
            Some(bytes) => Counters::decode(&bytes)?,
            None => Counters::default(),
        };
        let container = crate::reindex::opened(&store, space, container, counters.documents).await?;
        let writer = Arc::new(Writer::new(store.clone(), space, id, env.clone(), counters, container));
        Ok(Self { id, space, store, env, writer })
    }

    pub fn id(&self) -> u32 {
        self.id
    }

    pub fn space(&self) -> SpaceId {
        self.space
    }

    pub(crate) fn writer(&self) -> &Arc<Writer<S>> {
        &self.writer
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    pub fn counters(&self) -> Counters {
        self.writer.counters()
    }

    /// The container's definition as this partition applies it.
    pub fn container(&self) -> Arc<Container> {
        self.writer.container()
    }

    /// Stops writes, without failing any, until the hold is dropped.
    pub async fn hold(&self) -> Hold<S> {
        self.writer.hold().await
    }

    /// Whether other partitions have taken its place.
    pub fn is_closed(&self) -> bool {
        self.writer.is_closed()
    }

    /// The end of a copy: items that go leave no tombstones any more.
    pub(crate) fn forget_tombstones(&self) {
        self.writer.keep_tombstones(false);
    }

    pub(crate) fn store(&self) -> &S {
        &self.store
    }

    pub(crate) fn absentees(&self) -> &Absentees {
        &self.writer.absentees
    }

    /// This moment of the partition.
    pub fn view(&self) -> View<S::Snapshot> {
        self.view_of(self.store.snapshot())
    }

    /// The partition at the moment of a snapshot.
    pub(crate) fn view_of(&self, snapshot: S::Snapshot) -> View<S::Snapshot> {
        let ttl = self.container().default_ttl;
        View { snapshot, space: self.space, now: self.env.now().unix_seconds(), ttl }
    }

    pub async fn write(&self, request: WriteRequest) -> Result<WriteOutcome, WriteError> {
        let key = request.key.clone();
        let committed = self.run(key, vec![WriteStep::Write(request)]).await.map_err(|failed| failed.error)?;
        let lsn = committed.lsn;
        match committed.outcomes.into_iter().next() {
            Some(StepOutcome::Written(written)) => Ok(WriteOutcome { lsn, written }),
            _ => unreachable!("a write step answers with what was written"),
        }
    }

    /// R16: all steps or none, under one LSN.
    pub async fn batch(&self, key: LogicalKey, steps: Vec<BatchStep>) -> Result<Committed, StepError> {
        let steps = steps.into_iter().map(|step| match step {
            BatchStep::Write(request) => WriteStep::Write(request),
            BatchStep::Read { id, if_none_match } => WriteStep::Read { id, if_none_match },
        });
        self.run(key, steps.collect()).await
    }

    pub(crate) async fn run(&self, key: LogicalKey, steps: Vec<WriteStep>) -> Result<Committed, StepError> {
        self.writer.run(Transaction { key, steps, unchanged_since: None, now: None }).await
    }

    pub async fn read(&self, key: &LogicalKey, id: &str) -> Result<Option<DocumentRecord>, ReadError> {
        Ok(self.view().item(key, id).await?.map(|(_, record)| record))
    }

    /// By the number in its RID.
    pub async fn read_ordinal(&self, ordinal: DocumentOrdinal) -> Result<Option<DocumentRecord>, ReadError> {
        self.view().document(ordinal).await
    }

    pub async fn feed(
        &self,
        scope: &FeedScope,
        after: Option<DocumentOrdinal>,
        limit: PageLimit,
    ) -> Result<FeedPage, ReadError> {
        self.view().feed(scope, after, limit).await
    }

    pub async fn latest_changes(
        &self,
        scope: &FeedScope,
        after: u64,
        since: Option<u64>,
        limit: PageLimit,
    ) -> Result<ChangePage<DocumentRecord>, ReadError> {
        // The LSN before the view: whatever the view does not show has a higher one.
        let end = self.counters().lsn;
        self.view().latest_changes(scope, after, since, end, limit).await
    }

    pub async fn all_changes(
        &self,
        scope: &FeedScope,
        after: u64,
        limit: PageLimit,
    ) -> Result<ChangePage<HistoryRecord>, ReadError> {
        let end = self.counters().lsn;
        self.view().all_changes(scope, after, end, limit).await
    }

    /// What is known of a logical partition; `None` when it has no items (R3).
    pub async fn logical(&self, epk: &Epk) -> Result<Option<LogicalRecord>, ReadError> {
        let bytes = self.store.snapshot().get(self.space, &Key::logical(epk)).await?;
        Ok(bytes.map(|bytes| LogicalRecord::decode(&bytes)).transpose()?)
    }
}
