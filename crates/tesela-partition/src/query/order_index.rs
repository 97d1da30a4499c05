//! An index that has documents in the order a query asks for.
//!
//! *Terms* of the one path of an ORDER BY are in its order. Documents without a value have no term and come first or
//! last. A *composite index* has a row for every document; it serves an ORDER BY with exactly its paths, all in its
//! directions or all in the opposite ones. Leading paths that the filter fixes to one value may be left out: with
//! `WHERE c.a = 1 ORDER BY c.b`, the rows of (a, b) that begin with 1 are in the order of b.
//!
//! Some index forms stand for several values (see [`value_code`]): rows that are equal up to such a form are a *run*,
//! and their documents are put in order by their values.

use super::lookup::{Lookup, LookupNode, PathValues, path_text};
use super::values::Span;
use crate::index::{Composite, IndexSchema, PathCode, invert, value_code};
use crate::layout::Key;
use std::cmp::Ordering;
use std::fmt;
use tesela_model::document::Node;
use tesela_query::access::{DocumentPath, PathStep};
use tesela_query::value::{Val, key};
use tesela_sql::ast::Direction as SortDirection;
use tesela_store::{Direction, KeyRange};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderIndex {
    rows: Rows,
    items: Vec<OrderItem>,
    direction: Direction,
}

/// One item of ORDER BY, by its property names.
#[derive(Clone, Debug, PartialEq)]
struct OrderItem {
    path: Vec<String>,
    descends: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Rows {
    Terms {
        path: DocumentPath,
        /// What the filter says of the path; any value, or none, when it is silent.
        values: Option<PathValues>,
    },
    Composite {
        index: Composite,
        /// The forms of leading paths that the filter fixes, and how many those are.
        fixed: Vec<u8>,
        fixed_paths: usize,
        /// What the filter says of the first path of the order.
        values: Option<PathValues>,
    },
}

impl OrderIndex {
    /// The index for an ORDER BY, if there is one. Takes out of the lookup what the index settles.
    pub fn choose(
        order_by: &[(DocumentPath, SortDirection)],
        lookup: &mut Lookup,
        schema: &IndexSchema,
    ) -> Option<Self> {
        let items: Vec<OrderItem> = order_by.iter().map(OrderItem::new).collect::<Option<_>>()?;
        if items.iter().any(|item| schema.computes(&item.steps())) {
            return None;
        }
        let mut best: Option<(usize, Composite, Vec<u8>, Direction)> = None;
        for composite in schema.composites() {
            if let Some((fixed_paths, fixed, direction)) = serve(composite, &items, lookup)
                && best.as_ref().is_none_or(|(known, ..)| fixed_paths > *known)
            {
                best = Some((fixed_paths, composite.clone(), fixed, direction));
            }
        }
        let first = items.first()?.steps();
        if let Some((fixed_paths, index, fixed, direction)) = best {
            for (path, _) in index.parts().take(fixed_paths) {
                lookup.take_values(&names(path));
            }
            let values = lookup.take_values(&first);
            return Some(Self { rows: Rows::Composite { index, fixed, fixed_paths, values }, items, direction });
        }
        if items.len() > 1 || !schema.serves(&first) {
            return None;
        }
        let direction = if items[0].descends { Direction::Backward } else { Direction::Forward };
        let values = lookup.take_values(&first);
        Some(Self { rows: Rows::Terms { path: first, values }, items, direction })
    }

    /// Whether a policy has an index for this order, complete or not.
    pub fn is_wanted(order_by: &[(DocumentPath, SortDirection)], lookup: &Lookup, schema: &IndexSchema) -> bool {
        let items: Option<Vec<OrderItem>> = order_by.iter().map(OrderItem::new).collect();
        // The index does not know of places in arrays: such an order is not its business.
        let Some(items) = items else { return true };
        schema.wanted_composites().any(|composite| serve(composite, &items, lookup).is_some())
    }

    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether equal documents come in descending `_rid` order.
    pub fn ties_descend(&self) -> bool {
        self.items[0].descends
    }

    /// The beginning of the terms of the path whose absence must be asked after: documents without it belong to the
    /// answer and have no row.
    pub fn absentees(&self) -> Option<Vec<u8>> {
        match &self.rows {
            Rows::Terms { path, values: None } => Some(PathCode::of_steps(path).terms_prefix()),
            Rows::Terms { .. } | Rows::Composite { .. } => None,
        }
    }

    /// The rows, range by range in the order of the scan.
    pub fn ranges(&self) -> Vec<KeyRange> {
        let prefix = self.code_prefix();
        let range = |low: &[u8], high: &[u8]| KeyRange::between(self.key(low), self.key(high));
        let inverted = self.inverts_first();
        let span = |span: &Span| {
            let (low, high) = if inverted { inverted_span(span) } else { (span.low.clone(), span.high.clone()) };
            range(&[prefix, &low].concat(), &[prefix, &high].concat())
        };
        let mut ranges: Vec<KeyRange> = match self.values() {
            Some(values) => values.values.spans.iter().map(span).collect(),
            None => vec![KeyRange::prefix(&self.key(prefix))],
        };
        if inverted != (self.direction == Direction::Backward) {
            ranges.reverse();
        }
        ranges
    }

    fn values(&self) -> Option<&PathValues> {
        match &self.rows {
            Rows::Terms { values, .. } | Rows::Composite { values, .. } => values.as_ref(),
        }
    }

    fn code_prefix(&self) -> &[u8] {
        match &self.rows {
            Rows::Terms { .. } => &[],
            Rows::Composite { fixed, .. } => fixed,
        }
    }

    fn inverts_first(&self) -> bool {
        match &self.rows {
            Rows::Terms { .. } => false,
            Rows::Composite { index, fixed_paths, .. } => index.parts().nth(*fixed_paths).is_some_and(|(_, down)| down),
        }
    }

    /// The key of a row up to the end of its code.
    pub fn key(&self, code: &[u8]) -> Vec<u8> {
        match &self.rows {
            Rows::Terms { path, .. } => {
                Key::terms(&[&PathCode::of_steps(path).terms_prefix(), code].concat()).start.to_vec()
            }
            Rows::Composite { index, .. } => Key::composites(index.id(), code).start.to_vec(),
        }
    }

    /// The number at the end of a row's key.
    pub fn tie(&self, ordinal: u64) -> u64 {
        match &self.rows {
            Rows::Composite { index, .. } if index.inverts_ordinals() => !ordinal,
            Rows::Terms { .. } | Rows::Composite { .. } => ordinal,
        }
    }

    /// The code of a document: what its row says of it. Undefined when it has none.
    pub fn code_of(&self, root: Node<'_>) -> Vec<u8> {
        match &self.rows {
            Rows::Composite { index, .. } => index.values(root),
            Rows::Terms { .. } => {
                let mut code = Vec::new();
                match find(root, &self.items[0].path) {
                    Some(node) => value_code::write(node, &mut code),
                    None => code.push(value_code::UNDEFINED),
                }
                code
            }
        }
    }

    /// Whether the document has a value under the one path of the order.
    pub fn has_value(&self, root: Node<'_>) -> bool {
        find(root, &self.items[0].path).is_some()
    }

    /// The values of the order, as bytes that sort as the query wants them.
    pub fn sort_key(&self, root: Node<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        for item in &self.items {
            let value = find(root, &item.path).map_or(Val::Undefined, Val::Stored);
            if item.descends { key::append_descending(&value, &mut bytes) } else { key::append(&value, &mut bytes) }
        }
        bytes
    }

    /// How much of a code its run shares: up to the first form that stands for several values. `None` when there is
    /// no such form.
    pub fn run(&self, code: &[u8]) -> Option<usize> {
        let parts: Vec<bool> = match &self.rows {
            Rows::Terms { .. } => vec![false],
            Rows::Composite { index, .. } => index.parts().map(|(_, descends)| descends).collect(),
        };
        let mut at = 0;
        for descends in parts {
            let (length, shared) = value_code::first_form(code.get(at..)?, descends)?;
            at += length;
            if shared {
                return Some(at);
            }
        }
        None
    }

    /// The order of codes in the direction of the scan.
    pub fn compare_codes(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.direction {
            Direction::Forward => a.cmp(b),
            Direction::Backward => b.cmp(a),
        }
    }
}

impl OrderItem {
    /// `None` for a path through an array: the index does not know which element it is.
    fn new((path, direction): &(DocumentPath, SortDirection)) -> Option<Self> {
        let name = |step: &PathStep| match step {
            PathStep::Name(name) => Some(name.clone()),
            PathStep::Index(_) | PathStep::Each => None,
        };
        let path = path.iter().map(name).collect::<Option<Vec<_>>>().filter(|path| !path.is_empty())?;
        Some(Self { path, descends: *direction == SortDirection::Descending })
    }

    fn steps(&self) -> DocumentPath {
        names(&self.path)
    }
}

fn names(path: &[String]) -> DocumentPath {
    path.iter().map(|name| PathStep::Name(name.clone())).collect()
}

fn find<'a>(root: Node<'a>, path: &[String]) -> Option<Node<'a>> {
    path.iter().try_fold(root, |node, name| node.get(name))
}

/// How a composite index serves an order: how many leading paths the filter fixes, to which forms, and the direction.
fn serve(index: &Composite, items: &[OrderItem], lookup: &Lookup) -> Option<(usize, Vec<u8>, Direction)> {
    let fixed_paths = index.parts().len().checked_sub(items.len())?;
    let mut fixed = Vec::new();
    for (path, descends) in index.parts().take(fixed_paths) {
        let mut form = fixed_form(lookup, &names(path))?.to_vec();
        if descends {
            invert(&mut form);
        }
        fixed.extend(form);
    }
    let pairs = || index.parts().skip(fixed_paths).zip(items);
    if !pairs().all(|((path, _), item)| path == item.path) {
        return None;
    }
    let direction = if pairs().all(|((_, descends), item)| descends == item.descends) {
        Direction::Forward
    } else if pairs().all(|((_, descends), item)| descends != item.descends) {
        Direction::Backward
    } else {
        return None;
    };
    let ties_descend = index.inverts_ordinals() == (direction == Direction::Forward);
    (ties_descend == items[0].descends).then_some((fixed_paths, fixed, direction))
}

/// The one form the filter leaves to a path.
fn fixed_form<'l>(lookup: &'l Lookup, path: &[PathStep]) -> Option<&'l [u8]> {
    lookup.conjuncts().iter().find_map(|node| match node {
        LookupNode::Values(values) if values.path == path => match values.values.spans.as_slice() {
            [span] if span.one && values.values.exact => Some(span.low.as_slice()),
            _ => None,
        },
        _ => None,
    })
}

/// The span whose inverted forms are those of `span`. A bound may be the beginning of forms, and all that begin with
/// the lower one belong to the span while those that begin with the upper one do not.
fn inverted_span(span: &Span) -> (Vec<u8>, Vec<u8>) {
    let behind = |bound: &[u8]| {
        let mut bound = bound.to_vec();
        invert(&mut bound);
        KeyRange::prefix(&bound).end.map(|end| end.to_vec()).unwrap_or_else(|| vec![u8::MAX])
    };
    (behind(&span.high), behind(&span.low))
}

impl fmt::Display for OrderIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rows {
            Rows::Terms { path, .. } => write!(f, "index {}/?", path_text(path))?,
            Rows::Composite { index, .. } => {
                let part = |(path, descends): (&[String], bool)| {
                    format!("{} {}", path_text(&names(path)), if descends { "DESC" } else { "ASC" })
                };
                write!(f, "composite index ({})", index.parts().map(part).collect::<Vec<_>>().join(", "))?;
            }
        }
        f.write_str(if self.direction == Direction::Forward { " forward" } else { " backward" })?;
        match self.values() {
            Some(values) => write!(f, " within {values}"),
            None => Ok(()),
        }
    }
}
