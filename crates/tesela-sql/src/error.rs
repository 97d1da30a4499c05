//! What is wrong with a query text, where, and under which of the service's codes.

use crate::span::Span;

/// Service codes this crate reports. Those that need names resolved belong to the binder.
pub mod code {
    /// The text does not follow the grammar.
    pub const SYNTAX: &str = "SC1001";
    /// `SELECT *` needs exactly one source.
    pub const STAR_SOURCES: &str = "SC2040";
    /// `SELECT *` cannot be grouped.
    pub const STAR_GROUPED: &str = "SC2041";
    /// TOP, LIMIT or OFFSET out of range.
    pub const TOP_RANGE: &str = "SC2060";
    pub const LIMIT_RANGE: &str = "SC2061";
    pub const OFFSET_RANGE: &str = "SC2062";
    /// GROUP BY and ORDER BY in one query. The service refuses the pair; the number is ours.
    pub const GROUPED_ORDER: &str = "SC2103";
    /// Clauses a subquery cannot have.
    pub const SUBQUERY_ORDER: &str = "SC2202";
    pub const SUBQUERY_TOP: &str = "SC2203";
    pub const SUBQUERY_OFFSET: &str = "SC2204";
    /// Rules of ORDER BY RANK. The number of the direction rule is ours.
    pub const RANK_DIRECTION: &str = "SC2222";
    pub const RANK_ITERATION: &str = "SC2223";
    pub const RANK_JOIN: &str = "SC2224";
    pub const RANK_FROM_SUBQUERY: &str = "SC2225";
    pub const RANK_IN_SUBQUERY: &str = "SC2228";
}

/// One fault of a query. The message is complete in itself: it names what was met and what
/// would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct SqlError {
    /// `SC` and four digits, see [`code`].
    pub code: &'static str,
    pub span: Span,
    pub message: String,
}

impl SqlError {
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into() }
    }

    pub(crate) fn syntax(span: Span, message: impl Into<String>) -> Self {
        Self::new(code::SYNTAX, span, message)
    }
}
