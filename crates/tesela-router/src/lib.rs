//! All partitions: the catalog, the partition map, routing, fan-out and merge.
//!
//! ```text
//! gateway ─> catalog::State (which container?) ─> scope (which part of it?) ─> walk (which partition next?)
//!                                              └─> items (one key, one partition)
//! ```
//!
//! Knows every partition and none of their insides; knows no HTTP.

mod background;
pub mod catalog;
mod error;
mod feeds;
mod items;
mod query;
mod resource_query;
mod router;
mod scope;
mod scripts;
mod split;
mod walk;

pub use background::Background;
pub use error::RouterError;
pub use feeds::{ChangeStart, Changes, ItemPage};
pub use items::{ItemRead, ItemWritten, Refused};
pub use query::{Prepared, QueryPageOutcome, QuerySpec};
pub use router::{Router, Served, Usage};
pub use scope::Scope;
pub use scripts::{ContainerFunctions, Executed, TriggerNames, TriggeredWrite};
pub use split::{PartitionState, ReshapeError, SplitOptions, SplitPoint};
