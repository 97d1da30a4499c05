//! Which names are in reach, and what they may be used for.

use crate::aggregate::AggregateKind;
use crate::tree::{Expr, Slot};
use tesela_sql::ast;

/// The names and the state of one select while it is bound. Subqueries see the levels around them.
#[derive(Default)]
pub(super) struct Level {
    /// Aliases in the order they were bound.
    pub aliases: Vec<(String, Slot)>,
    /// The slot of the source bound last, named or not.
    pub last_source: Option<Slot>,
    /// While the FROM clause is bound.
    pub in_from: bool,
    /// While the projection of a grouped select is bound: its keys.
    pub keys: Option<Vec<ast::Expr>>,
    /// Where aggregates are allowed: those found so far.
    pub aggregates: Option<Vec<(AggregateKind, Expr)>>,
    /// Inside the argument of an aggregate, where rows are seen, not groups.
    pub inside_aggregate: bool,
}

impl Level {
    pub fn find(&self, name: &str) -> Option<Slot> {
        self.aliases.iter().rev().find(|(alias, _)| alias == name).map(|(_, slot)| *slot)
    }

    /// Whether a single row is not in sight, only a group of them.
    pub fn sees_groups(&self) -> bool {
        self.keys.is_some() && !self.inside_aggregate
    }
}
