//! The query language as text: lexer, syntax tree with spans, parser and printer.
//!
//! ```
//! let query = tesela_sql::parse("select c.id from c where c.a = 1 and c.b")?;
//! assert!(tesela_sql::rules::check(&query).is_empty());
//! assert_eq!(
//!     tesela_sql::print(&query),
//!     "SELECT c.id\nFROM c\nWHERE ((c.a = 1) AND c.b)"
//! );
//! # Ok::<(), tesela_sql::SqlError>(())
//! ```
//!
//! Text goes in and a [`ast::Query`] comes out, or one [`SqlError`] with the service's code
//! and the place. The tree is plain data for whoever binds and evaluates it; [`print()`] turns
//! it, or a tree rewritten from it, back into the canonical text that query plans carry.
//! Nothing here knows documents, containers or functions.

pub mod ast;
mod error;
mod lexer;
mod literal;
mod parser;
mod printer;
pub mod rules;
mod span;
mod token;

pub use error::{SqlError, code};
pub use parser::{EXPRESSION_HEIGHT_MAX, NESTING_MAX, SUBQUERY_DEPTH_MAX, parse};
pub use printer::{print, print_expr};
pub use span::Span;
