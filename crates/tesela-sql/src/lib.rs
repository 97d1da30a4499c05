//! The query language as text: lexer, syntax tree with spans, parser and printer

pub mod ast;
mod span;

pub use span::Span;

/// Query text above this is refused (service limit: 512 KB).
pub const QUERY_TEXT_BYTES_MAX: usize = 512 * 1024;
/// Longest chain of nested expressions; lets every consumer recurse over the tree.
pub const EXPRESSION_HEIGHT_MAX: u32 = 256;
/// Deepest nesting of subqueries.
pub const SUBQUERY_DEPTH_MAX: u32 = 32;
