//! What unit tests of several modules need.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future that never waits: the doors of the tests answer at once.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a future of a test must be ready at once"),
    }
}
