//! The JavaScript sandbox: stored procedures, triggers and user-defined functions over a [`Collection`]
//! it is handed.
//!
//! ```text
//!   Engine::run_procedure(script, arguments, collection, options)
//!        |                                   ^
//!        v  a warm realm of the container    |  one operation at a time, between turns
//!   Realm: QuickJS heap + prelude ---------> drive: start, settle, next, perform, deliver … outcome
//! ```
//!
//! The crate knows no HTTP, no partition and no query engine. It is driven with a [`Collection`], which
//! the partition implements over a transaction of one logical partition (R16, R17): a run that answers
//! `Ok` may be committed, a run that answers `Err` must not.
//!
//! # What holds
//!
//! - **Nothing outside.** A script reaches the collection, its request and response, a log and
//!   mathematics. Time is what [`Clock`] said when the current turn began; chance is the seed of the run.
//!   Code cannot be made from text: `eval` and the Function constructors are gone.
//! - **Nothing afterwards.** A warm realm is frozen before its first script; functions of a script are
//!   made anew for each run; a script that wants to change built-ins gets a realm of its own. Realms are
//!   never shared between containers.
//! - **Nothing without end.** Time, steps, heap, stack, body, log and queue are bounded by [`Limits`].
//!   The engine looks at the budget once in 10,000 steps; built-ins that work long in one step are
//!   metered by the prelude so that they count as many. What cannot be metered are operators on large
//!   values (joining or comparing texts of megabytes, copying an object of 100,000 properties): a
//!   hostile script can overrun its deadline by 10,000 times the dearest of those.
//!
//! # Left out
//!
//! BigInt, iterator helpers, WeakRef, SharedArrayBuffer, modules and timers. The first three for the
//! reasons given in `source`, `lockdown.js` and `realm`, the others because the service has none.

mod budget;
mod collection;
mod engine;
mod error;
pub mod limits;
mod link;
mod offenders;
mod operation;
mod pool;
mod realm;
mod source;
mod spatial;
mod trace;
mod udf;

pub use budget::{Clock, Spent};
pub use collection::{
    Collection, DocumentRef, IndexAction, OpError, Page, PageRequest, Query, Read, SizeMb, WriteOptions, Written,
};
pub use engine::{Engine, Outcome, RunOptions, TriggerOperation};
pub use error::{ErrorKind, SUBSTATUS_COMPILE, ScriptError};
pub use limits::Limits;
pub use source::Script;
pub use spatial::{Spatial, SpatialFunction};
pub use udf::Udfs;
