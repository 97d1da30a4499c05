//! One physical partition: its documents, index, feed and counters, ordered by one writer.
//!
//! ```text
//! Item (checked body) ─> WriteRequest ─> writer: group ─> txn ─> write::rows ─> layout ─> store.commit
//!                                         snapshot <─ read, feed, change_feed, query
//! ```
//!
//! Knows one range of the hash space and no other partition; knows no HTTP. Everything it keeps lies in one key space
//! of the store, by the table in [`layout`].

pub mod change_feed;
pub mod charge;
pub mod container;
pub mod error;
pub mod etag;
pub mod index;
pub mod item;
pub mod layout;
mod numbers;
mod partition;
pub mod patch;
pub mod query;
pub mod read;
pub mod reindex;
mod removal;
pub mod script;
pub mod split;
mod sweep;
pub mod txn;
mod unique;
pub mod write;
mod writer;

pub use partition::{BatchStep, Partition, WriteOutcome};
pub use removal::Removed;
pub use sweep::{SweepPosition, Swept};
pub use writer::{Committed, Hold, StepError, StepOutcome};
