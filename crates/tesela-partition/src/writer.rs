//! The one writer of a partition, and its group commit.
//!
//! Writes queue up; whoever finds the queue unattended starts a task that works it off. The task takes everything that
//! waits, runs it as a sequence of transactions over one snapshot (each sees those before it), commits all that
//! succeeded as one batch of the store, and answers everybody. While the store writes, the next group gathers.
//! So LSNs are handed out in order without a lock, and one fsync carries as many writes as there are clients.
//!
//! Invariants
//! * Nobody is answered before the commit that holds his write is durable; readers see nothing earlier either.
//! * A transaction that fails leaves nothing behind and uses up no LSN.
//! * When a commit fails every transaction in it fails, and what the partition believes is read again from the store.
//! * A caller that goes away does not stop the work: the queue is worked off by a task of its own.
//!
//! A writer can be *held* for a moment ([`Hold`]): the group under way ends, what comes waits. Whoever holds it sees a
//! partition that does not change. It lets go, and everything waiting runs; or it *closes* the writer for good, and
//! everything that waits is told that its partition is [gone](WriteError::Gone): other partitions own those keys now.

use crate::container::Container;
use crate::error::WriteError;
use crate::index::Absentees;
use crate::item::LogicalKey;
use crate::layout::{Counters, Key};
use crate::numbers::Numbers;
use crate::txn::{Overlay, Scope, Txn};
use crate::write::{self, Discard, WriteRequest, Written};
use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tesela_env::Env;
use tesela_store::{Snapshot, SpaceId, Store};
use tokio::sync::oneshot;

/// Transactions one group commit takes at most. Ours: bounds memory and the wait of the first in the group.
const GROUP_TRANSACTIONS_MAX: usize = 512;

/// One transaction to run: the writes of one request, all or none, under one LSN.
pub(crate) struct Transaction {
    pub(crate) key: LogicalKey,
    pub(crate) steps: Vec<WriteStep>,
    /// The logical partition must not have changed since this LSN of its own (`None`: not checked).
    pub(crate) unchanged_since: Option<u64>,
    /// Unix seconds, when the moment has been shown to somebody already (`None`: that of the commit).
    pub(crate) now: Option<u64>,
}

/// A step of a transaction.
#[derive(Clone)]
pub(crate) enum WriteStep {
    Write(WriteRequest),
    /// A write a script has made and seen already, under a number it drew.
    Reserved {
        request: WriteRequest,
        number: u64,
    },
    /// Read inside a batch: sees the steps before it.
    Read {
        id: String,
        if_none_match: Option<String>,
    },
    /// Remove an item if it is still there.
    Discard {
        id: String,
        what: Discard,
    },
}

/// What a step gave.
#[derive(Clone, Debug)]
pub enum StepOutcome {
    Written(Written),
    Read(crate::layout::DocumentRecord),
    NotModified(crate::layout::DocumentRecord),
    /// The charge, when there was something to remove.
    Discarded(Option<f64>),
}

/// Which step failed, and why.
#[derive(Clone, Debug)]
pub struct StepError {
    pub step: usize,
    pub error: WriteError,
}

/// A committed transaction.
#[derive(Clone, Debug)]
pub struct Committed {
    pub lsn: u64,
    pub outcomes: Vec<StepOutcome>,
}

struct Job {
    transaction: Transaction,
    reply: oneshot::Sender<Result<Committed, StepError>>,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Job>,
    attended: bool,
    held: bool,
    closed: bool,
    /// Who wants to know that the group under way has ended.
    quiet: Option<oneshot::Sender<()>>,
}

/// What the writer needs of its partition.
pub(crate) struct Writer<S: Store> {
    store: S,
    space: SpaceId,
    partition: u32,
    env: Env,
    queue: Mutex<Queue>,
    counters: Mutex<Counters>,
    container: Mutex<Arc<Container>>,
    numbers: Numbers,
    /// Whether items that go leave tombstones: a copy of the partition is being made.
    keeps_tombstones: AtomicBool,
    /// What the queue says, for those who only want to know: every point read does.
    closed: AtomicBool,
    pub(crate) absentees: Absentees,
}

impl<S: Store> Writer<S> {
    pub(crate) fn new(
        store: S,
        space: SpaceId,
        partition: u32,
        env: Env,
        counters: Counters,
        container: Arc<Container>,
    ) -> Self {
        Self {
            store,
            space,
            partition,
            env,
            queue: Mutex::new(Queue::default()),
            counters: Mutex::new(counters),
            container: Mutex::new(container),
            numbers: Numbers::after(counters.issued),
            keeps_tombstones: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            absentees: Absentees::default(),
        }
    }

    /// Where numbers are drawn beside the writer.
    pub(crate) fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// The counters after the last commit.
    pub(crate) fn counters(&self) -> Counters {
        *self.counters.lock()
    }

    pub(crate) fn container(&self) -> Arc<Container> {
        self.container.lock().clone()
    }

    /// Writes from now on go by this definition.
    pub(crate) fn set_container(&self, container: Arc<Container>) {
        *self.container.lock() = container;
    }

    /// Queues a transaction and waits until it is durable or refused.
    pub(crate) async fn run(self: &Arc<Self>, transaction: Transaction) -> Result<Committed, StepError> {
        let (reply, answer) = oneshot::channel();
        let attend = {
            let mut queue = self.queue.lock();
            if queue.closed {
                return Err(gone());
            }
            queue.waiting.push(Job { transaction, reply });
            !queue.held && !std::mem::replace(&mut queue.attended, true)
        };
        if attend {
            tokio::spawn(work_off(self.clone()));
        }
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Waits for the group under way and keeps the next from starting.
    pub(crate) async fn hold(self: &Arc<Self>) -> Hold<S> {
        /// Between two looks whether somebody else has let go.
        const PATIENCE: std::time::Duration = std::time::Duration::from_millis(5);
        let told = loop {
            if let Some(told) = self.try_hold() {
                break told;
            }
            tokio::time::sleep(PATIENCE).await;
        };
        // Made before the wait: a caller that goes away while waiting lets go, too.
        let hold = Hold { writer: self.clone(), closes: false };
        let _ = told.await;
        hold
    }

    /// Takes the hold unless somebody has it; what it gives resolves when the group under way has ended.
    fn try_hold(&self) -> Option<oneshot::Receiver<()>> {
        let (tell, told) = oneshot::channel();
        let mut queue = self.queue.lock();
        if queue.held {
            return None;
        }
        queue.held = true;
        queue.quiet = queue.attended.then_some(tell);
        Some(told)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn keep_tombstones(&self, keep: bool) {
        self.keeps_tombstones.store(keep, Ordering::Relaxed);
    }

    /// The next group, or `None` after marking the queue unattended.
    fn next_group(&self) -> Option<Vec<Job>> {
        let mut queue = self.queue.lock();
        if queue.held || queue.waiting.is_empty() {
            queue.attended = false;
            // Dropping the sender wakes who waits for it.
            queue.quiet = None;
            return None;
        }
        let count = queue.waiting.len().min(GROUP_TRANSACTIONS_MAX);
        Some(queue.waiting.drain(..count).collect())
    }

    /// The surroundings of a transaction over a snapshot.
    pub(crate) fn scope<'a>(
        &'a self,
        snapshot: &'a S::Snapshot,
        container: &'a Container,
        now: u64,
    ) -> Scope<'a, S::Snapshot> {
        Scope {
            snapshot,
            space: self.space,
            partition: self.partition,
            container,
            now,
            numbers: &self.numbers,
            keeps_tombstones: self.keeps_tombstones.load(Ordering::Relaxed),
            absentees: &self.absentees,
        }
    }

    async fn commit_group(&self, jobs: Vec<Job>) {
        let container = self.container();
        let snapshot = self.store.snapshot();
        let now = self.env.now().unix_seconds();
        let scope = self.scope(&snapshot, &container, now);
        let mut counters = self.counters();
        let mut group = Overlay::default();
        let mut answers = Vec::with_capacity(jobs.len());
        for Job { transaction, reply } in jobs {
            let scope = Scope { now: transaction.now.unwrap_or(now), ..scope };
            let mut txn = Txn::new(&scope, transaction.key.clone(), &group, counters);
            let result = run_steps(&mut txn, &transaction).await;
            let lsn = txn.lsn;
            let effects = if result.is_ok() { txn.finish() } else { None };
            let lsn = if effects.is_some() { lsn } else { counters.lsn };
            if let Some(effects) = effects {
                group.absorb(effects.changes);
                counters = effects.counters;
            }
            answers.push((reply, result.map(|outcomes| Committed { lsn, outcomes })));
        }
        let committed = if group.is_empty() { Ok(()) } else { self.store.commit(group.into_batch(self.space)).await };
        match committed {
            Ok(()) => *self.counters.lock() = counters,
            Err(error) => {
                self.reload_counters(&error).await;
                for (_, result) in &mut answers {
                    if result.is_ok() {
                        *result = Err(StepError { step: 0, error: WriteError::Store(error.clone()) });
                    }
                }
            }
        }
        for (reply, result) in answers {
            // A caller that went away wants no answer.
            let _ = reply.send(result);
        }
    }

    /// After a failed commit only the store knows what happened.
    async fn reload_counters(&self, error: &tesela_store::Error) {
        if error.may_have_applied()
            && let Ok(Some(bytes)) = self.store.snapshot().get(self.space, &Key::counters()).await
            && let Ok(counters) = Counters::decode(&bytes)
        {
            *self.counters.lock() = counters;
        }
    }
}

fn gone() -> StepError {
    StepError { step: 0, error: WriteError::Gone }
}

/// A writer that stands still. Dropping the hold lets the writer go on, unless it was told otherwise.
pub struct Hold<S: Store> {
    writer: Arc<Writer<S>>,
    closes: bool,
}

impl<S: Store> Hold<S> {
    /// The counters, which do not change while the writer is held.
    pub fn counters(&self) -> Counters {
        self.writer.counters()
    }

    /// The policy all index rows follow, when they do.
    pub fn index_policy(&self) -> Option<String> {
        let container = self.writer.container();
        container.index.is_complete().then(|| container.index_policy.clone())
    }

    /// From the next group on, items that go leave tombstones. Only who holds the writer can say where that begins.
    pub(crate) fn keep_tombstones(&self) {
        self.writer.keep_tombstones(true);
    }

    /// From here on, dropping the hold closes the writer. Said before a change of the map is committed: whoever goes
    /// away before he knows how that ended must not let anybody write.
    pub fn close_when_dropped(&mut self) {
        self.closes = true;
    }

    /// Lets the writer go on, whatever was said before.
    pub fn release(mut self) {
        self.closes = false;
    }
}

impl<S: Store> Drop for Hold<S> {
    fn drop(&mut self) {
        let (attend, sent_away) = {
            let mut queue = self.writer.queue.lock();
            queue.held = false;
            queue.quiet = None;
            queue.closed = self.closes;
            self.writer.closed.store(self.closes, Ordering::Release);
            let sent_away = if self.closes { std::mem::take(&mut queue.waiting) } else { Vec::new() };
            (!queue.waiting.is_empty() && !std::mem::replace(&mut queue.attended, true), sent_away)
        };
        // What waits, and what still comes through old handles, is told that the partition is gone.
        for Job { reply, .. } in sent_away {
            let _ = reply.send(Err(gone()));
        }
        // Without a runtime the process is ending, and with it everybody who waits.
        if attend && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(work_off(self.writer.clone()));
        }
    }
}

/// Works groups off until none waits. Boxed: the task's type would otherwise name itself.
fn work_off<S: Store>(writer: Arc<Writer<S>>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        while let Some(jobs) = writer.next_group() {
            writer.commit_group(jobs).await;
        }
    })
}

async fn run_steps<S: Snapshot>(
    txn: &mut Txn<'_, S>,
    transaction: &Transaction,
) -> Result<Vec<StepOutcome>, StepError> {
    if let Some(lsn) = transaction.unchanged_since {
        let logical = txn.logical().await.map_err(|error| StepError { step: 0, error })?;
        if logical.lsn != lsn {
            let key = write::key_text(&transaction.key);
            return Err(StepError { step: 0, error: WriteError::Contended { key } });
        }
    }
    let mut outcomes = Vec::with_capacity(transaction.steps.len());
    for (step, action) in transaction.steps.iter().enumerate() {
        outcomes.push(run_step(txn, action).await.map_err(|error| StepError { step, error })?);
    }
    Ok(outcomes)
}

async fn run_step<S: Snapshot>(txn: &mut Txn<'_, S>, step: &WriteStep) -> Result<StepOutcome, WriteError> {
    match step {
        WriteStep::Write(request) => Ok(StepOutcome::Written(write::apply(txn, request).await?)),
        WriteStep::Reserved { request, number } => {
            txn.reserved = Some(*number);
            let written = write::apply(txn, request).await;
            txn.reserved = None;
            Ok(StepOutcome::Written(written?))
        }
        WriteStep::Discard { id, what } => Ok(StepOutcome::Discarded(write::discard(txn, id, *what).await?)),
        WriteStep::Read { id, if_none_match } => {
            let found = txn.find(id).await?.map(|(_, record)| record);
            let live = found.filter(|record| !txn.is_expired(record));
            let key = || write::key_text(&txn.key);
            let record = live.ok_or_else(|| WriteError::NotFound { id: id.clone(), key: key() })?;
            let known = if_none_match.as_ref().is_some_and(|etag| write::etag_matches(etag, &crate::etag::of(&record)));
            Ok(if known { StepOutcome::NotModified(record) } else { StepOutcome::Read(record) })
        }
    }
}
