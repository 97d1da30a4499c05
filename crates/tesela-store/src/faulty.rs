//! A third engine: another one behind a bad network and a bad disk, misbehaving on order.
//!
//! It exists to prove that the seam fits an engine that is far away, and to test what stands on
//! the seam. Around any store it
//!
//! * **delays** every call: a future is pending for some polls before and after the work, so calls
//!   overlap as they would on a wire, on any executor and without a clock;
//! * **fails or loses** chosen calls, see [`Fault`]: by a script ("the third commit") or by chance
//!   ("one commit in ten"), always the same for the same [`Faults`];
//! * **remembers what a crash would have kept**: [`FaultyStore::crash`] ends the store and returns
//!   what is on its disk. What was acknowledged is there; what was under way is there in whole or
//!   not at all. With [`Faults::acknowledge_early`] the engine lies about the first half of that, as
//!   a disk without fsync does, and only a flush is to be trusted.
//!
//! ```
//! use tesela_store::faulty::{Call, Fault, Faults, FaultyStore};
//! use tesela_store::{Batch, Error, MemoryStore, SpaceId, Store};
//! # tesela_store::block_on(async {
//! let faults = Faults::from_seed(7).nth(Call::Commit, 1, Fault::LoseAnswer);
//! let store = FaultyStore::new(MemoryStore::new(), faults);
//! store.create_space(SpaceId(1)).await.unwrap();
//! let mut batch = Batch::new();
//! batch.put(SpaceId(1), "k", "v");
//! let error = store.commit(batch).await.unwrap_err();
//! assert!(error.may_have_applied());
//! # });
//! ```
//!
//! How a crash is modelled: the disk is a snapshot of the inner store, moved forward when a call
//! makes things durable. That costs nothing per commit and cannot hold half of one.
//!
//! Left out: bytes that rot and writes that tear inside a commit. An engine must hide those below
//! the seam; its own crash tests prove that it does.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::chance::Chance;
use crate::{Batch, Direction, Error, KeyRange, MemoryStore, Page, Result, ScanLimit, Snapshot, SpaceId, Store};

/// The verbs of the seam that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    CreateSpace,
    DropSpace,
    Spaces,
    Commit,
    Flush,
    SizeBytes,
    Get,
    Scan,
}

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The store says no before doing anything: [`Error::Unavailable`].
    Refuse,
    /// The request never arrives. The caller cannot know: [`Error::OutcomeUnknown`].
    LoseRequest,
    /// The work is done, the answer gets lost. The caller cannot know: [`Error::OutcomeUnknown`].
    LoseAnswer,
}

/// Rows per page when the contents of a disk are copied.
const COPY_PAGE_ROWS: usize = 1_000;

/// Which calls go wrong, and how. A plain value: equal faults give equal runs.
#[derive(Clone, Debug)]
pub struct Faults {
    chance: Chance,
    delay_polls_max: u64,
    scripted: BTreeMap<(Call, u64), Fault>,
    likely: BTreeMap<Call, (u64, Fault)>,
    acknowledge_early: bool,
}

impl Faults {
    /// Delays only. The seed decides how long each one is, and later which calls fail by chance.
    pub fn from_seed(seed: u64) -> Self {
        Self {
            chance: Chance::from_seed(seed),
            delay_polls_max: 3,
            scripted: BTreeMap::new(),
            likely: BTreeMap::new(),
            acknowledge_early: false,
        }
    }

    /// How many polls a call is pending at most, on its way there and again on its way back.
    pub fn delay_polls_max(mut self, polls: u64) -> Self {
        self.delay_polls_max = polls;
        self
    }

    /// The `n`th call of its kind, counted from 1, goes wrong.
    pub fn nth(mut self, call: Call, n: u64, fault: Fault) -> Self {
        self.scripted.insert((call, n), fault);
        self
    }

    /// Each call of this kind goes wrong with a chance of one in `n`.
    pub fn one_in(mut self, n: u64, call: Call, fault: Fault) -> Self {
        self.likely.insert(call, (n, fault));
        self
    }

    /// Commits are acknowledged before they are on disk; only a flush puts them there.
    pub fn acknowledge_early(mut self) -> Self {
        self.acknowledge_early = true;
        self
    }
}

struct State<S: Store> {
    faults: Faults,
    calls: BTreeMap<Call, u64>,
    crashed: bool,
    spaces: BTreeSet<SpaceId>,
    /// What a crash keeps.
    disk: (S::Snapshot, BTreeSet<SpaceId>),
}

/// How one call goes.
struct Fate {
    polls_there: u64,
    polls_back: u64,
    fault: Option<Fault>,
}

/// A store that keeps the contract, except where its [`Faults`] say otherwise.
pub struct FaultyStore<S: Store> {
    inner: S,
    state: Arc<Mutex<State<S>>>,
}

impl<S: Store> Clone for FaultyStore<S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), state: self.state.clone() }
    }
}

impl<S: Store> FaultyStore<S> {
    /// Around a store without spaces.
    pub fn new(inner: S, faults: Faults) -> Self {
        Self::with_spaces(inner, faults, BTreeSet::new())
    }

    /// Around a store that holds something already, which counts as durable.
    pub async fn over(inner: S, faults: Faults) -> Result<Self> {
        let spaces = inner.spaces().await?.into_iter().collect();
        Ok(Self::with_spaces(inner, faults, spaces))
    }

    fn with_spaces(inner: S, faults: Faults, spaces: BTreeSet<SpaceId>) -> Self {
        let disk = (inner.snapshot(), spaces.clone());
        let state = State { faults, calls: BTreeMap::new(), crashed: false, spaces, disk };
        Self { inner, state: Arc::new(Mutex::new(state)) }
    }

    /// Cuts the power. Every handle of this store fails from now on, calls under way included;
    /// what the disk holds comes back as a store of its own.
    pub async fn crash(&self) -> Result<MemoryStore> {
        let (snapshot, spaces) = {
            let mut state = self.state.lock();
            state.crashed = true;
            // Work that nobody acknowledged yet may have reached the disk, or not.
            if !state.faults.acknowledge_early && state.faults.chance.one_in(2) {
                (self.inner.snapshot(), state.spaces.clone())
            } else {
                state.disk.clone()
            }
        };
        let kept = MemoryStore::new();
        for space in spaces {
            match copy_space(&snapshot, space, &kept).await {
                // A drop was under way and had reached the disk.
                Err(Error::NoSuchSpace(_)) => kept.drop_space(space).await?,
                copied => copied?,
            }
        }
        Ok(kept)
    }

    fn fate(&self, call: Call) -> Fate {
        let mut state = self.state.lock();
        let state = &mut *state;
        let n = state.calls.entry(call).or_default();
        *n += 1;
        let delays = state.faults.delay_polls_max + 1;
        let chance = &mut state.faults.chance;
        let (polls_there, polls_back) = (chance.below(delays), chance.below(delays));
        let by_chance = state.faults.likely.get(&call).and_then(|&(n, fault)| chance.one_in(n).then_some(fault));
        let fault = state.faults.scripted.get(&(call, *n)).copied().or(by_chance);
        Fate { polls_there, polls_back, fault }
    }

    /// Sends one call over the bad network. `done` runs under the lock when the work is done,
    /// unless the power is gone by then.
    async fn send<T>(
        &self,
        call: Call,
        work: impl Future<Output = Result<T>>,
        done: impl FnOnce(&Self, &mut State<S>),
    ) -> Result<T> {
        let fate = self.fate(call);
        pending_for(fate.polls_there).await;
        if self.state.lock().crashed || fate.fault == Some(Fault::Refuse) {
            return Err(Error::Unavailable { reason: format!("{call:?} was refused") });
        }
        if fate.fault == Some(Fault::LoseRequest) {
            return Err(lost(call, "request"));
        }
        let outcome = work.await;
        pending_for(fate.polls_back).await;
        let mut state = self.state.lock();
        if state.crashed {
            return Err(lost(call, "store"));
        }
        if outcome.is_ok() {
            done(self, &mut state);
        }
        if fate.fault == Some(Fault::LoseAnswer) { Err(lost(call, "answer")) } else { outcome }
    }

    /// Moves the disk forward to this moment. Only under the lock, so that it never moves back.
    fn sync(&self, state: &mut State<S>) {
        state.disk = (self.inner.snapshot(), state.spaces.clone());
    }
}

fn lost(call: Call, what: &str) -> Error {
    Error::OutcomeUnknown { reason: format!("the {what} of {call:?} was lost") }
}

async fn copy_space<S: Snapshot>(from: &S, space: SpaceId, to: &MemoryStore) -> Result<()> {
    to.create_space(space).await?;
    let mut range = KeyRange::all();
    loop {
        let page = from.scan(space, range.clone(), Direction::Forward, ScanLimit::rows(COPY_PAGE_ROWS)).await?;
        if let Some((last, _)) = page.rows.last() {
            range = range.after(last, Direction::Forward);
        }
        let mut batch = Batch::with_capacity(page.rows.len());
        for (key, value) in page.rows {
            batch.put(space, key, value);
        }
        to.commit(batch).await?;
        if !page.more {
            return Ok(());
        }
    }
}

/// Pending for a number of polls, asking to be polled again each time.
fn pending_for(polls: u64) -> impl Future<Output = ()> + Send {
    struct Pending(u64);
    impl Future for Pending {
        type Output = ();
        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            if self.0 == 0 {
                return Poll::Ready(());
            }
            self.0 -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    }
    Pending(polls)
}

impl<S: Store> Store for FaultyStore<S> {
    type Snapshot = FaultySnapshot<S>;

    async fn create_space(&self, space: SpaceId) -> Result<()> {
        let created = |store: &Self, state: &mut State<S>| {
            state.spaces.insert(space);
            store.sync(state);
        };
        self.send(Call::CreateSpace, self.inner.create_space(space), created).await
    }

    async fn drop_space(&self, space: SpaceId) -> Result<()> {
        let dropped = |store: &Self, state: &mut State<S>| {
            state.spaces.remove(&space);
            store.sync(state);
        };
        self.send(Call::DropSpace, self.inner.drop_space(space), dropped).await
    }

    async fn spaces(&self) -> Result<Vec<SpaceId>> {
        self.send(Call::Spaces, self.inner.spaces(), |_, _| {}).await
    }

    fn snapshot(&self) -> FaultySnapshot<S> {
        FaultySnapshot { moment: self.inner.snapshot(), store: self.clone() }
    }

    async fn commit(&self, batch: Batch) -> Result<()> {
        let committed = |store: &Self, state: &mut State<S>| {
            if !state.faults.acknowledge_early {
                store.sync(state);
            }
        };
        self.send(Call::Commit, self.inner.commit(batch), committed).await
    }

    async fn flush(&self) -> Result<()> {
        self.send(Call::Flush, self.inner.flush(), Self::sync).await
    }

    async fn size_bytes(&self, space: SpaceId) -> Result<u64> {
        self.send(Call::SizeBytes, self.inner.size_bytes(space), |_, _| {}).await
    }
}

/// A moment of the inner store, read over the bad network.
pub struct FaultySnapshot<S: Store> {
    moment: S::Snapshot,
    store: FaultyStore<S>,
}

impl<S: Store> Clone for FaultySnapshot<S> {
    fn clone(&self) -> Self {
        Self { moment: self.moment.clone(), store: self.store.clone() }
    }
}

impl<S: Store> Snapshot for FaultySnapshot<S> {
    async fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Bytes>> {
        self.store.send(Call::Get, self.moment.get(space, key), |_, _| {}).await
    }

    async fn scan(&self, space: SpaceId, range: KeyRange, direction: Direction, limit: ScanLimit) -> Result<Page> {
        self.store.send(Call::Scan, self.moment.scan(space, range, direction, limit), |_, _| {}).await
    }
}

#[cfg(test)]
mod tests;
