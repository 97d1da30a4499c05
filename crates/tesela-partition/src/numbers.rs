//! Numbers that name what is not committed yet: new items, and the versions a script writes.
//!
//! Ordinary writes get their names inside the writer, a moment before they are committed. A script runs beside the
//! writer and shows `_rid` and `_etag` to its author long before that, so its names must be drawn up front and stay
//! what they are when the writer repeats its writes. Both draw from here: a number is given out once.
//!
//! A number that was drawn and never committed is lost, which nobody notices. Those that were committed are covered by
//! [`Counters::issued`](crate::layout::Counters), from where counting goes on after a restart.

use std::sync::atomic::{AtomicU64, Ordering};

/// Gives out each number once.
#[derive(Debug)]
pub struct Numbers(AtomicU64);

impl Numbers {
    /// Goes on behind the last number that was committed.
    pub fn after(issued: u64) -> Self {
        Self(AtomicU64::new(issued))
    }

    pub fn draw(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}
