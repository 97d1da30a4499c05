//! Signs of life of connections, and who is let go for showing none.
//!
//! Every connection has a [`Pulse`] it updates as it works: plain stores to atomics, no timers and no
//! clock, because they are on the path of each request. Once a tick the [`Registry`] looks at all of them:
//!
//! | the connection | is |
//! |---|---|
//! | has begun a request and not finished its headers for `head` | cut |
//! | has an answer its client has not taken a byte of for `write_stall` | cut |
//! | has had no request for `idle` | asked to close |
//! | was asked to close and still has no request after `head`, or never had one | cut |
//!
//! A connection that is waiting for a handler is left alone: that time is ours. HTTP/2 sends bytes between
//! requests (pings, window updates), so there headers have no time-out of their own, only `idle`.
//!
//! Moments are ticks counted from 1; 0 means "not now". What is asked of a connection is a flag and a wake-up;
//! its own task acts on it.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::limits::Timeouts;

#[cfg(test)]
mod tests;

const NEVER: u32 = 0;

/// What a connection is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Request {
    /// Finish what is in flight, take nothing more.
    Close,
    /// Go away.
    Cut,
}

/// The state of one connection.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    clock: Arc<AtomicU32>,
    /// Requests being handled.
    in_flight: AtomicU32,
    has_served: AtomicBool,
    /// Last moment a request began or ended.
    active_at: AtomicU32,
    /// When the first byte of the next request came in.
    head_since: AtomicU32,
    /// Since when the client takes no bytes.
    stalled_since: AtomicU32,
    /// Bytes between requests are not the beginning of one.
    is_multiplexed: AtomicBool,
    closing_since: AtomicU32,
    is_cut: AtomicBool,
    waker: AtomicWaker,
}

impl Pulse {
    fn new(clock: Arc<AtomicU32>) -> Self {
        let now = clock.load(Ordering::Relaxed);
        Self { active_at: now.into(), clock, ..Self::default() }
    }

    fn now(&self) -> u32 {
        self.clock.load(Ordering::Relaxed)
    }

    pub(crate) fn set_multiplexed(&self) {
        self.is_multiplexed.store(true, Ordering::Relaxed);
    }

    /// Bytes came in.
    pub(crate) fn on_read(&self) {
        if self.in_flight.load(Ordering::Relaxed) == 0 && self.head_since.load(Ordering::Relaxed) == NEVER {
            self.head_since.store(self.now(), Ordering::Relaxed);
        }
    }

    /// The client took bytes, or did not.
    pub(crate) fn on_write(&self, progressed: bool) {
        let stalled = self.stalled_since.load(Ordering::Relaxed) != NEVER;
        if progressed == stalled {
            self.stalled_since.store(if progressed { NEVER } else { self.now() }, Ordering::Relaxed);
        }
    }

    /// The headers of a request are complete.
    pub(crate) fn on_request(self: &Arc<Self>) -> InFlight {
        self.has_served.store(true, Ordering::Relaxed);
        self.head_since.store(NEVER, Ordering::Relaxed);
        self.active_at.store(self.now(), Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(Arc::clone(self))
    }

    /// What this connection should be doing; wakes the caller's task when that changes.
    pub(crate) fn poll_request(&self, context: &mut Context<'_>) -> Poll<Request> {
        self.waker.register(context.waker());
        let is_closing = self.closing_since.load(Ordering::Acquire) != NEVER;
        // A connection that never had a request has nothing to finish, and may not even be past its handshake.
        if self.is_cut.load(Ordering::Acquire) || (is_closing && !self.has_served.load(Ordering::Relaxed)) {
            Poll::Ready(Request::Cut)
        } else if is_closing {
            Poll::Ready(Request::Close)
        } else {
            Poll::Pending
        }
    }

    /// Resolves when something is asked of the connection.
    pub(crate) async fn asked(&self) -> Request {
        poll_fn(|context| self.poll_request(context)).await
    }

    fn ask(&self, request: Request) {
        match request {
            Request::Close if self.closing_since.load(Ordering::Relaxed) != NEVER => return,
            Request::Close => self.closing_since.store(self.now(), Ordering::Release),
            Request::Cut => self.is_cut.store(true, Ordering::Release),
        }
        self.waker.wake();
    }

    /// What to ask of the connection, if anything.
    fn verdict(&self, patience: &Patience) -> Option<Request> {
        let now = self.now();
        let waited = |since: &AtomicU32, limit: u32| match since.load(Ordering::Relaxed) {
            NEVER => false,
            since => now.saturating_sub(since) >= limit,
        };
        if waited(&self.stalled_since, patience.write_stall) {
            return Some(Request::Cut);
        }
        if self.in_flight.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let slow_head = !self.is_multiplexed.load(Ordering::Relaxed) && waited(&self.head_since, patience.head);
        if slow_head || waited(&self.closing_since, patience.head) {
            return Some(Request::Cut);
        }
        waited(&self.active_at, patience.idle).then_some(Request::Close)
    }
}

/// A request being handled; dropping it ends that.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Pulse>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.active_at.store(self.0.now(), Ordering::Relaxed);
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Time-outs in ticks.
#[derive(Clone, Copy, Debug)]
struct Patience {
    head: u32,
    idle: u32,
    write_stall: u32,
}

impl Patience {
    fn new(timeouts: &Timeouts) -> Self {
        // One tick more: the first may have been nearly over when the wait began.
        let ticks = |time: Duration| {
            let ticks = time.as_micros().div_ceil(timeouts.tick.as_micros().max(1)) + 1;
            u32::try_from(ticks).unwrap_or(u32::MAX)
        };
        Self { head: ticks(timeouts.head), idle: ticks(timeouts.idle), write_stall: ticks(timeouts.write_stall) }
    }
}

/// All connections of a listener.
#[derive(Debug)]
pub(crate) struct Registry {
    clock: Arc<AtomicU32>,
    patience: Patience,
    next: AtomicU64,
    live: Mutex<HashMap<u64, Arc<Pulse>>>,
    emptied: Notify,
}

impl Registry {
    pub(crate) fn new(timeouts: &Timeouts) -> Arc<Self> {
        Arc::new(Self {
            clock: Arc::new(AtomicU32::new(NEVER + 1)),
            patience: Patience::new(timeouts),
            next: AtomicU64::new(0),
            live: Mutex::default(),
            emptied: Notify::new(),
        })
    }

    pub(crate) fn enter(self: &Arc<Self>) -> Registered {
        let pulse = Arc::new(Pulse::new(Arc::clone(&self.clock)));
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.live.lock().insert(id, Arc::clone(&pulse));
        Registered { registry: Arc::clone(self), id, pulse }
    }

    pub(crate) fn len(&self) -> usize {
        self.live.lock().len()
    }

    /// One tick has passed.
    pub(crate) fn tick(&self) {
        self.clock.fetch_add(1, Ordering::Relaxed);
        for pulse in self.live.lock().values() {
            if let Some(request) = pulse.verdict(&self.patience) {
                pulse.ask(request);
            }
        }
    }

    /// Asks the same of every connection.
    pub(crate) fn ask_all(&self, request: Request) {
        for pulse in self.live.lock().values() {
            pulse.ask(request);
        }
    }

    /// Resolves when the last connection has gone.
    pub(crate) async fn empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.len() == 0 {
                return;
            }
            emptied.await;
        }
    }
}

/// A place in the registry, for the life of a connection.
#[derive(Debug)]
pub(crate) struct Registered {
    registry: Arc<Registry>,
    id: u64,
    pub(crate) pulse: Arc<Pulse>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut live = self.registry.live.lock();
        live.remove(&self.id);
        if live.is_empty() {
            self.registry.emptied.notify_waiters();
        }
    }
}
