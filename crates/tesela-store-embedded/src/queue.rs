//! Requests on their way to the committer.
//!
//! A caller puts a request in and awaits its answer; the committer takes out as many as fit into
//! one group. While the disk syncs one group the next one gathers here, so groups grow with the
//! load and an idle store adds no waiting. The queue is bounded by bytes: a caller beyond the bound
//! waits for room without blocking its thread.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tesela_store::{Batch, Error, Result, SpaceId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::options::{GROUP_BYTES_MAX, QUEUE_BYTES_MAX};

/// Room is counted in pieces of this size; every request takes at least one.
const ROOM_BYTES: usize = 1024;
const ROOM_MAX: u32 = (QUEUE_BYTES_MAX / ROOM_BYTES) as u32;

#[derive(Debug)]
pub(crate) enum Work {
    Commit(Batch),
    CreateSpace(SpaceId),
    DropSpace(SpaceId),
    Flush,
}

impl Work {
    fn bytes(&self) -> usize {
        match self {
            Self::Commit(batch) => batch.bytes(),
            Self::CreateSpace(_) | Self::DropSpace(_) | Self::Flush => 0,
        }
    }
}

pub(crate) struct Request {
    pub work: Work,
    answer: oneshot::Sender<Result<()>>,
    _room: OwnedSemaphorePermit,
}

impl Request {
    /// A caller that went away does not hear it, and does not need to.
    pub fn answer(self, outcome: Result<()>) {
        self.answer.send(outcome).ok();
    }
}

/// What the committer finds when it looks.
pub(crate) enum Next {
    /// At least one request, in the order they came.
    Group(Vec<Request>),
    /// Nothing came for the given time.
    Quiet,
    /// Nothing is left and nothing will come.
    Closed,
}

pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct Waiting {
    requests: VecDeque<Request>,
    closed: bool,
}

impl Queue {
    pub fn new() -> Self {
        Self { waiting: Mutex::default(), arrived: Condvar::new(), room: Arc::new(Semaphore::new(ROOM_MAX as usize)) }
    }

    /// Hands work to the committer and waits for the outcome.
    pub async fn ask(&self, work: Work) -> Result<()> {
        let room = u32::try_from(work.bytes().div_ceil(ROOM_BYTES)).unwrap_or(ROOM_MAX).clamp(1, ROOM_MAX);
        let room = self.room.clone().acquire_many_owned(room).await.map_err(|_| Error::Closed)?;
        let (answer, outcome) = oneshot::channel();
        {
            let mut waiting = self.waiting.lock();
            if waiting.closed {
                return Err(Error::Closed);
            }
            waiting.requests.push_back(Request { work, answer, _room: room });
        }
        self.arrived.notify_one();
        // An unanswered request means that the committer died over it.
        let died = |_| Err(Error::Poisoned { reason: "the committer stopped".into() });
        outcome.await.unwrap_or_else(died)
    }

    /// The next group, once there is one; `patience` limits the wait.
    pub fn next(&self, patience: Option<Duration>) -> Next {
        let mut waiting = self.waiting.lock();
        while waiting.requests.is_empty() {
            if waiting.closed {
                return Next::Closed;
            }
            match patience {
                None => self.arrived.wait(&mut waiting),
                Some(patience) if self.arrived.wait_for(&mut waiting, patience).timed_out() => return Next::Quiet,
                Some(_) => {}
            }
        }
        let mut bytes = 0;
        let fitting = waiting.requests.iter().take_while(|request| {
            let fits = bytes == 0 || bytes + request.work.bytes() <= GROUP_BYTES_MAX;
            bytes += request.work.bytes();
            fits
        });
        let count = fitting.count();
        Next::Group(waiting.requests.drain(..count).collect())
    }

    /// Takes no more requests; what waits is still served.
    pub fn close(&self) {
        self.waiting.lock().closed = true;
        self.room.close();
        self.arrived.notify_one();
    }

    /// Takes no more requests and drops what waits, unanswered.
    pub fn abandon(&self) {
        self.close();
        self.waiting.lock().requests.clear();
    }
}
