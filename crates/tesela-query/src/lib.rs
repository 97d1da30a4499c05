//! The query language as meaning: bind, plan, evaluate, merge; values in, values out.
//!
//! A query is parsed by `tesela-sql`, *compiled* once against the container's policies and the request's parameters, and
//! *executed* over documents somebody else fetched. Nothing here reads a store, a clock or a socket.
//!
//! ```
//! use tesela_model::document::Document;
//! use tesela_query::{CompileContext, CompiledQuery, Execution, ExecutionOptions, Flow};
//!
//! let query = tesela_sql::parse("SELECT TOP 2 c.id, c.price FROM c WHERE c.price > @least ORDER BY c.price")?;
//! let parameters = [("@least".to_owned(), 1.into())];
//! let query = CompiledQuery::compile(&query, &parameters, &CompileContext::default())?;
//!
//! let documents = [r#"{"id":"a","price":3.50}"#, r#"{"id":"b","price":1}"#, r#"{"id":"c","price":2}"#];
//! let documents = documents.map(|text| Document::encode(text.as_bytes()).unwrap());
//!
//! let mut execution = Execution::new(&query, ExecutionOptions::default());
//! for (rid, document) in documents.iter().enumerate() {
//!     if execution.push(document.root(), rid as u64)? == Flow::Enough {
//!         break; // nothing more can change the answer
//!     }
//! }
//! let rows: Vec<_> = execution.finish()?.into_iter().map(|row| String::from_utf8(row.json).unwrap()).collect();
//! assert_eq!(rows, [r#"{"id":"c","price":2}"#, r#"{"id":"a","price":3.50}"#]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The way of a query through the modules:
//!
//! | | |
//! |---|---|
//! | [`CompiledQuery::compile`] | names, parameters, functions and rules settled; the result is a tree of slots and constants |
//! | [`access`] | what an index can do for it: a filter on paths, an order, a bare count |
//! | [`plan`] | what a client that merges partitions itself must know, and the queries it sends instead |
//! | [`Execution`] | documents in, rows out; streaming unless it sorts, groups or ranks |
//! | [`merge`] | the parts of several partitions made into one answer |
//!
//! and beneath them [`value`] (a place in a stored document, a constant or something computed), [`operators`],
//! [`functions`] with [`calendar`], [`like`], [`full_text`] and [`spatial`], [`aggregate`]s.
//!
//! Invariants
//! * A document is not parsed: an expression reads the places it names, a projection copies their text.
//! * Whatever outlives a row is bytes or an owned value: sort keys, groups, output.
//! * What a query may use is bounded by [`limits`]; regular expressions are linear in the text.
//! * Numbers compare as doubles, strings by UTF-16 unit; the order of values is total.

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
