//! Rules that a query must keep besides the grammar and that need no names resolved.
//!
//! Each rule has a code. All faults of a query are reported together, those of a query before
//! those of its subqueries:
//!
//! ```text
//! SELECT VALUE x FROM (SELECT TOP 2 VALUE c FROM c ORDER BY c.a) AS x
//!     SC2203 TOP in a subquery, SC2202 ORDER BY in a subquery
//! ```
//!
//! Counts given by a parameter are checked with [`row_count`] once the value is known.

use crate::ast::{Collection, Expr, ExprKind, OrderBy, Query, RowCount, RowCountKind, SelectSpec, SourceKind};
use crate::error::{SqlError, code};
use crate::span::Span;

/// Largest operand of TOP, OFFSET and LIMIT (service limit: 32 bits).
pub const ROW_COUNT_MAX: u64 = u32::MAX as u64;

/// The clause a count belongs to; each has a code of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCountClause {
    Top,
    Offset,
    Limit,
}

/// Every fault of the query and its subqueries; empty when there is none.
pub fn check(query: &Query) -> Vec<SqlError> {
    let mut checker = Checker { errors: Vec::new() };
    checker.query(query, Place::Outermost);
    checker.errors
}

/// Checks the value of a TOP, OFFSET or LIMIT.
pub fn row_count(clause: RowCountClause, value: u64, span: Span) -> Result<(), SqlError> {
    if value <= ROW_COUNT_MAX {
        return Ok(());
    }
    let (code, name) = match clause {
        RowCountClause::Top => (code::TOP_RANGE, "TOP"),
        RowCountClause::Offset => (code::OFFSET_RANGE, "OFFSET"),
        RowCountClause::Limit => (code::LIMIT_RANGE, "LIMIT"),
    };
    Err(SqlError::new(code, span, format!("{name} must be at most {ROW_COUNT_MAX}")))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outermost,
    Subquery,
}

struct Checker {
    errors: Vec<SqlError>,
}

impl Checker {
    fn report(&mut self, code: &'static str, span: Span, message: &str) {
        self.errors.push(SqlError::new(code, span, message));
    }

    fn query(&mut self, query: &Query, place: Place) {
        if place == Place::Subquery {
            self.subquery_clauses(query);
        }
        self.star(query);
        self.counts(query);
        if let Some(order_by) = &query.order_by {
            if query.group_by.is_some() {
                self.report(code::GROUPED_ORDER, order_by.span, "ORDER BY cannot be combined with GROUP BY");
            }
            if order_by.rank {
                self.rank(query, order_by, place);
            }
        }
        for source in query.from.iter().flat_map(|from| &from.sources) {
            let (SourceKind::Named { collection, .. } | SourceKind::Iteration { collection, .. }) = &source.kind;
            if let Collection::Subquery(inner) = collection {
                self.query(inner, Place::Subquery);
            }
        }
        query.for_each_expr(|expr| self.expr(expr));
    }

    /// Looks for subqueries. Recursion is bounded by the height of the tree.
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Subquery { query, .. } = &expr.kind {
            self.query(query, Place::Subquery);
        }
        expr.for_each_child(|child| self.expr(child));
    }

    fn subquery_clauses(&mut self, query: &Query) {
        if let Some(top) = &query.select.top {
            self.report(code::SUBQUERY_TOP, top.span, "TOP is not allowed in a subquery");
        }
        if let Some(order_by) = query.order_by.as_ref().filter(|order_by| !order_by.rank) {
            self.report(code::SUBQUERY_ORDER, order_by.span, "ORDER BY is not allowed in a subquery");
        }
        if let Some(offset_limit) = &query.offset_limit {
            self.report(code::SUBQUERY_OFFSET, offset_limit.span, "OFFSET LIMIT is not allowed in a subquery");
        }
    }

    fn star(&mut self, query: &Query) {
        if query.select.spec != SelectSpec::Star {
            return;
        }
        let span = query.select.span;
        if query.from.as_ref().is_none_or(|from| from.sources.len() != 1) {
            self.report(code::STAR_SOURCES, span, "SELECT * needs a FROM clause with exactly one source");
        }
        if query.group_by.is_some() {
            self.report(code::STAR_GROUPED, span, "SELECT * cannot be combined with GROUP BY, name the properties");
        }
    }

    fn counts(&mut self, query: &Query) {
        if let Some(top) = &query.select.top {
            self.count(RowCountClause::Top, top);
        }
        if let Some(offset_limit) = &query.offset_limit {
            self.count(RowCountClause::Offset, &offset_limit.offset);
            self.count(RowCountClause::Limit, &offset_limit.limit);
        }
    }

    fn count(&mut self, clause: RowCountClause, count: &RowCount) {
        if let RowCountKind::Literal(value) = count.kind {
            self.errors.extend(row_count(clause, value, count.span).err());
        }
    }

    fn rank(&mut self, query: &Query, order_by: &OrderBy, place: Place) {
        if place == Place::Subquery {
            self.report(code::RANK_IN_SUBQUERY, order_by.span, "ORDER BY RANK is not allowed in a subquery");
        }
        for item in order_by.items.iter().filter(|item| item.direction.is_some()) {
            let message = "Specifying a sort order (ASC or DESC) in the ORDER BY RANK clause is not allowed.";
            self.report(code::RANK_DIRECTION, item.span, message);
        }
        let Some(from) = &query.from else { return };
        for source in &from.sources {
            match &source.kind {
                SourceKind::Iteration { .. } => {
                    let message = "ORDER BY RANK cannot rank the elements of an IN source";
                    self.report(code::RANK_ITERATION, source.span, message);
                }
                SourceKind::Named { collection: Collection::Subquery(_), .. } => {
                    let message = "ORDER BY RANK cannot rank the rows of a subquery";
                    self.report(code::RANK_FROM_SUBQUERY, source.span, message);
                }
                SourceKind::Named { collection: Collection::Path { .. }, .. } => {}
            }
        }
        if from.sources.len() > 1 {
            self.report(code::RANK_JOIN, from.span, "ORDER BY RANK cannot be combined with JOIN");
        }
    }
}
