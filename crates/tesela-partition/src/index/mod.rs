//! The index of a partition: which rows a document has in it.
//!
//! *Terms.* Every scalar the indexing policy covers gives one row `(path, value, ordinal)`; an element of an array has
//! the path of the array with an element step, so `tags` = `["a","b"]` gives two rows under `/tags/[]`. Objects and
//! arrays themselves give a row with their type, so that IS_DEFINED and ORDER BY find them. Rows of one (path, value)
//! are in `_rid` order, rows of one path in value order: equality, ranges, prefixes and ORDER BY are scans.
//!
//! *Composite indexes* give one row for every document ([`composite`]).
//!
//! A document that its client keeps out of the index has one row that says so.
//!
//! Invariant: the rows of a document are a pure function of its text and the policy ([`IndexSchema::entries`]), so that
//! the index equals what a rebuild from the documents would give.

mod absentees;
mod composite;
mod entries;
mod path_code;
mod schema;
pub mod value_code;

pub use absentees::{Absent, Absentees};
pub use composite::{Composite, invert};
pub use entries::IndexEntries;
pub use path_code::PathCode;
pub use schema::IndexSchema;
