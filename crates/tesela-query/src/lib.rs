//! The query language as meaning: bind, plan, evaluate, merge; values in, values out.

pub mod access;
pub mod aggregate;
mod bind;
pub mod calendar;
mod distinct;
mod error;
mod eval;
mod execution;
pub mod full_text;
pub mod functions;
mod fusion;
pub mod like;
pub mod limits;
pub mod merge;
pub mod operators;
pub mod plan;
pub mod spatial;
mod tree;
pub mod value;

pub use bind::{CompileContext, CompiledQuery, ComputedProperty, FullTextPath, NoFunctions, UserFunctions, VectorPath};
pub use error::{QueryError, code};
pub use execution::{Execution, ExecutionOptions, Flow, Group, Input, Output, Progress, Row, StatisticsPass};
