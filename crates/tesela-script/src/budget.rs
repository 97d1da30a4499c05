//! What is left of a run's time and steps. Shared by the interrupt handler, which lives inside the
//! engine, and the driver, which lives outside.
//!
//! A budget is armed for one run. Once it stops the run it stays stopped until armed again, so that
//! whatever script code is still entered after the deadline ends at its next poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::limits::{Limits, STEPS_PER_POLL};

/// The only clock a script run knows.
pub trait Clock: Send + Sync {
    /// Time since an arbitrary moment; never goes back.
    fn monotonic(&self) -> Duration;
    /// Milliseconds since 1970-01-01 UTC, which is what `Date` shows.
    fn unix_ms(&self) -> i64;
}

/// Why a run was stopped from outside the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Time,
    Steps,
}

/// What a run has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Calls and loop turns, in units of [`STEPS_PER_POLL`].
    pub steps: u64,
    /// Wall time, operations included.
    pub time: Duration,
    /// Operations executed.
    pub operations: u32,
}

pub(crate) struct Budget {
    clock: Arc<dyn Clock>,
    started_ns: AtomicU64,
    deadline_ns: AtomicU64,
    accept_until_ns: AtomicU64,
    polls: AtomicU64,
    polls_max: AtomicU64,
    collection_accepts: AtomicBool,
    stop: AtomicU8,
}

const RUNNING: u8 = 0;
const STOPPED_BY_TIME: u8 = 1;
const STOPPED_BY_STEPS: u8 = 2;

impl Budget {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            started_ns: AtomicU64::new(0),
            deadline_ns: AtomicU64::new(u64::MAX),
            accept_until_ns: AtomicU64::new(u64::MAX),
            polls: AtomicU64::new(0),
            polls_max: AtomicU64::new(u64::MAX),
            collection_accepts: AtomicBool::new(true),
            stop: AtomicU8::new(RUNNING),
        }
    }

    /// Begins a run. `time` may be shorter than the engine's own limit, never longer.
    pub(crate) fn arm(&self, limits: &Limits, time: Option<Duration>) {
        let now = self.clock.monotonic();
        let time = time.map_or(limits.time, |time| time.min(limits.time));
        self.started_ns.store(nanos(now), Relaxed);
        self.deadline_ns.store(nanos(now + time), Relaxed);
        self.accept_until_ns.store(nanos(now + time.min(limits.accept_time)), Relaxed);
        self.polls.store(0, Relaxed);
        self.polls_max.store((limits.steps / STEPS_PER_POLL).max(1), Relaxed);
        self.collection_accepts.store(true, Relaxed);
        self.stop.store(RUNNING, Relaxed);
    }

    /// Counts one interval of steps; true means stop.
    pub(crate) fn poll(&self) -> bool {
        let polls = self.polls.fetch_add(1, Relaxed) + 1;
        if polls > self.polls_max.load(Relaxed) {
            self.stop.store(STOPPED_BY_STEPS, Relaxed);
        }
        self.stopped().is_some()
    }

    /// Looks at the clock too.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        if self.stop.load(Relaxed) == RUNNING && nanos(self.clock.monotonic()) >= self.deadline_ns.load(Relaxed) {
            self.stop.store(STOPPED_BY_TIME, Relaxed);
        }
        match self.stop.load(Relaxed) {
            STOPPED_BY_TIME => Some(Stop::Time),
            STOPPED_BY_STEPS => Some(Stop::Steps),
            _ => None,
        }
    }

    pub(crate) fn set_collection_accepts(&self, accepts: bool) {
        self.collection_accepts.store(accepts, Relaxed);
    }

    /// The `isAccepted` of an operation asked for now.
    pub(crate) fn accepts(&self) -> bool {
        self.collection_accepts.load(Relaxed) && nanos(self.clock.monotonic()) < self.accept_until_ns.load(Relaxed)
    }

    pub(crate) fn unix_ms(&self) -> i64 {
        self.clock.unix_ms()
    }

    pub(crate) fn spent(&self, operations: u32) -> Spent {
        let time_ns = nanos(self.clock.monotonic()).saturating_sub(self.started_ns.load(Relaxed));
        Spent { steps: self.polls.load(Relaxed) * STEPS_PER_POLL, time: Duration::from_nanos(time_ns), operations }
    }
}

/// Nanoseconds in 64 bits last for 584 years of uptime.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
