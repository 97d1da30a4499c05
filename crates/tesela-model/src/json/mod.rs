//! JSON as the product sees it: text in, text out, nothing lost on the way.
//!
//! [`Value`] is the owned form, used where a document is *changed* (patch) or *made* (resources, plans).
//! Documents at rest are [`crate::document::Document`]s, which are navigated without parsing.
//!
//! Invariants
//! * Property order survives: an [`Object`] iterates in the order of insertion.
//! * Number spelling survives: `1.0`, `1e2` and 30-digit integers are written as they were read.
//! * "Undefined" is no value: it is the absence of one (`Option::None`).
//! * Equality is the query language's: deep, without regard to property order, `1 = 1.0`.

mod number;
mod order;
mod parse;
pub(crate) mod scan;
mod value;
mod write;

pub use number::Number;
pub use order::compare;
pub use parse::{ParseError, parse};
pub use value::{Object, Value};
pub use write::{to_string, write, write_string};
