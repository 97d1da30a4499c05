//! Client-side partitioning: which collection holds this document; no server, no HTTP.
//!
//! A database of many collections behaves as one when every program agrees where a document lives. This
//! library is that agreement: a [`PartitionResolver`] answers three questions (R27) — the key of a document,
//! where to create it, where to read it from — and everything else is a way to answer them.
//!
//! ```
//! use tesela_resolver::{HashResolver, KeyExtractor, PartitionResolver, ReadScope};
//! use tesela_model::json;
//!
//! let users = HashResolver::buckets(
//!     KeyExtractor::path("/userId")?,
//!     ["dbs/shop/colls/users-0", "dbs/shop/colls/users-1"],
//! )?;
//! let order = json::parse(br#"{"id": "o-1", "userId": "ada"}"#)?;
//! let key = users.partition_key(&order)?;
//! let home = users.resolve_for_create(&key)?;
//! assert_eq!(users.resolve_for_read(&"ada".into())?, [home]);
//! assert_eq!(users.resolve_for_read(&ReadScope::All)?.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From the bottom: [`hash`] makes points of keys, [`placement`] owners of points, `resolvers` schemes of
//! both, [`state`] JSON of schemes, [`moves`] plans between two of them. [`synthetic`] makes keys where no
//! property serves.
//!
//! Absent on purpose: I/O but for the state file, any clock, any randomness of its own, any runtime. What
//! must be awaited goes through three small traits ([`CollectionFactory`], [`CollectionSizes`],
//! [`state::StateStore`]) that a client implements.

pub mod hash;
pub mod limits;
pub mod moves;
pub mod placement;
pub mod state;
pub mod synthetic;

mod error;
mod extract;
mod key;
mod link;
mod path;
mod resolver;
mod resolvers;
#[cfg(test)]
mod testing;
mod timestamp;

pub use error::{ConfigError, Remedy, ResolveError};
pub use extract::{KeyExtractor, KeyFunction, NamedFunction, TypedExtractor};
pub use key::{Finite, Key, KeyRange, ReadScope};
pub use link::CollectionLink;
pub use path::PropertyPath;
pub use resolver::{CustomResolver, PartitionResolver, Resolver};
pub use resolvers::{
    BoxFuture, CollectionFactory, CollectionPlan, CollectionSizes, CollectionTemplate, DuplicateFilter, Ensured,
    FallbackResolver, Finding, HashResolver, KeyOrder, LookupResolver, ManagedResolver, NamingScheme, NestedResolver,
    ProviderError, RangeEntry, RangeResolver, Scheme, Script, ScriptKind, Spill, SpillPolicy, SpilloverResolver,
    Throughput, TransitionMode, TransitionResolver, diagnose,
};
pub use state::{Registry, ResolverState, SharedResolver};
pub use timestamp::{CivilTime, Timestamp};

/// Runs the examples of the guide as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/resolvers.md")]
struct Guide;
