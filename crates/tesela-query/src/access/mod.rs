//! What a query asks of an index.
//!
//! The filter of [`CompiledQuery::access`] says in terms of document paths which documents can contribute a row at all:
//! ranges, prefixes, types, joined by AND and OR. It is a *superset*: every document with a row passes, and when the filter is
//! [exact](Access::exact) no other does. What remains is checked by running the query over the candidates.
//!
//! ```text
//! SELECT c.id FROM c JOIN t IN c.tags WHERE t.n = 3 AND (STARTSWITH(c.s, "ab") OR NOT c.x > 5) AND c.y * 2 = 4
//!
//! /tags/[]/n = 3  AND  ( /s starts with "ab"  OR  /x in numbers up to 5 )          the product on y is left to the query
//! ```
//!
//! `[]` in a path is "some element". The meaning of a filter is [`Filter::admits`]; an index may serve any part of it
//! and treat the rest as [`Filter::All`]. Which paths are indexed, and how, is not known here.

mod derive;

pub use crate::bind::origin::{DocumentPath, PathStep};

use crate::aggregate::AggregateKind;
use crate::bind::CompiledQuery;
use crate::bind::origin::Origin;
use crate::tree::{Expr, Order, Projection, Source};
use crate::value::{Kind, Val, equal};
use std::ops::Bound;
use tesela_model::document::Node;
use tesela_model::json::Value;
use tesela_sql::ast::Direction;

/// A condition on documents. [`Filter::admits`] is its meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Every document.
    All,
    /// No document.
    None,
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Test(PathTest),
}

/// A condition on the value under a path; with `[]` in the path, on some such value.
#[derive(Clone, Debug, PartialEq)]
pub struct PathTest {
    pub path: DocumentPath,
    pub test: Test,
    /// The path starts at a computed property: an index may hold it, the stored document does not.
    pub computed: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Equals(Value),
    /// Equal to one of them. Never empty.
    OneOf(Vec<Value>),
    /// Defined, and something else.
    Differs(Value),
    /// Between two values of one primitive type, or on one side of a value among those of its type.
    Range {
        low: Bound<Value>,
        high: Bound<Value>,
    },
    /// A string that starts so.
    Prefix(String),
    /// Of one of these types; undefined is one.
    Kinds(Kinds),
}

/// A set of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    pub const DEFINED: Self = Self(0b111_1110);
    pub const UNDEFINED: Self = Self::of(Kind::Undefined);

    pub const fn of(kind: Kind) -> Self {
        Self(1 << kind as u8)
    }

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn contains(self, kind: Kind) -> bool {
        self.0 & Self::of(kind).0 != 0
    }

    /// All other types.
    pub const fn complement(self) -> Self {
        Self(!self.0 & 0b111_1111)
    }
}

/// How a query reads documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    pub filter: Filter,
    /// Whether the filter lets exactly the documents through that have a row.
    pub exact: bool,
    /// The paths of ORDER BY and their directions; empty without one, or when it orders by a score.
    pub order_by: Vec<(DocumentPath, Direction)>,
    /// Whether ORDER BY is by scores, which no index has in order.
    pub by_score: bool,
    /// Whether all that is wanted is how many documents the filter lets through. With `exact`, see
    /// [`Execution::push_count`](crate::Execution::push_count).
    pub counts_only: bool,
}

impl CompiledQuery {
    /// What an index can do for this query.
    pub fn access(&self) -> Access {
        let (filter, exact) = derive::filter(self);
        let (order_by, by_score) = self.order_paths();
        Access { filter, exact, order_by, by_score, counts_only: self.counts_only() }
    }

    fn order_paths(&self) -> (Vec<(DocumentPath, Direction)>, bool) {
        match &self.order {
            Order::None => (Vec::new(), false),
            Order::Fusion(_) => (Vec::new(), true),
            Order::By(items) => {
                let path = |expr: &Expr| Origin::of(expr, &self.slots).path().cloned();
                let paths: Option<Vec<_>> =
                    items.iter().map(|item| path(&item.expr).map(|path| (path, item.direction))).collect();
                paths.map_or((Vec::new(), true), |paths| (paths, false))
            }
        }
    }

    /// `SELECT COUNT(1) FROM c`, with or without WHERE: no document need be read for its values.
    fn counts_only(&self) -> bool {
        let [select] = &self.stages[..] else { return false };
        let Some(grouping) = &select.grouping else { return false };
        let counts = |(kind, arg): &(AggregateKind, Expr)| {
            *kind == AggregateKind::Count && matches!(arg, Expr::Constant(_) | Expr::Slot(_))
        };
        matches!(&select.sources[..], [Source::Document(_)])
            && !grouping.has_group_by
            && grouping.aggregates.iter().all(counts)
            && match &select.projection {
                Projection::Value(_) => true,
                Projection::List(items) => !items.is_empty(),
            }
    }

    /// Rows to leave out at the start of the answer.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Rows wanted at most, by TOP or LIMIT.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Whether equal rows are given once, here or in a subquery over the container: state that no page can carry.
    pub fn is_distinct(&self) -> bool {
        self.stages.iter().any(|select| select.distinct)
    }
}

impl Filter {
    /// Whether a document passes; tests of computed properties let it through.
    pub fn admits(&self, document: Node<'_>) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::And(parts) => parts.iter().all(|part| part.admits(document)),
            Self::Or(parts) => parts.iter().any(|part| part.admits(document)),
            Self::Test(test) if test.computed => true,
            Self::Test(PathTest { path, test, .. }) => test.some(&Val::Stored(document), path),
        }
    }

    /// Flattens, and drops what decides nothing.
    fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::All => {}
                Self::None => return Self::None,
                Self::And(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        if kept.len() > 1 { Self::And(kept) } else { kept.pop().unwrap_or(Self::All) }
    }

    fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::None => {}
                Self::All => return Self::All,
                Self::Or(inner) => kept.extend(inner),
                other => kept.push(other),
            }
        }
        if kept.len() > 1 { Self::Or(kept) } else { kept.pop().unwrap_or(Self::None) }
    }
}

impl Test {
    /// Whether some value under the path passes.
    fn some(&self, value: &Val<'_>, path: &[PathStep]) -> bool {
        match path.split_first() {
            None => self.passes(value),
            Some((PathStep::Name(name), rest)) => self.some(&value.get(name), rest),
            Some((PathStep::Index(index), rest)) => self.some(&value.at(*index), rest),
            Some((PathStep::Each, rest)) => {
                value.elements().is_some_and(|mut elements| elements.any(|element| self.some(&element, rest)))
            }
        }
    }

    fn passes(&self, value: &Val<'_>) -> bool {
        let ordered = |bound: &Value, wanted: fn(std::cmp::Ordering) -> bool| {
            crate::operators::ordering(value, &Val::Constant(bound)).is_some_and(wanted)
        };
        match self {
            Self::Equals(wanted) => equal(value, &Val::Constant(wanted)),
            Self::OneOf(wanted) => wanted.iter().any(|wanted| equal(value, &Val::Constant(wanted))),
            Self::Differs(other) => value.is_defined() && !equal(value, &Val::Constant(other)),
            Self::Range { low, high } => {
                let above = match low {
                    Bound::Included(low) => ordered(low, std::cmp::Ordering::is_ge),
                    Bound::Excluded(low) => ordered(low, std::cmp::Ordering::is_gt),
                    Bound::Unbounded => true,
                };
                let below = match high {
                    Bound::Included(high) => ordered(high, std::cmp::Ordering::is_le),
                    Bound::Excluded(high) => ordered(high, std::cmp::Ordering::is_lt),
                    Bound::Unbounded => true,
                };
                above && below
            }
            Self::Prefix(prefix) => value.as_str().is_some_and(|text| text.starts_with(&**prefix)),
            Self::Kinds(kinds) => kinds.contains(value.kind()),
        }
    }
}

#[cfg(test)]
mod tests;
