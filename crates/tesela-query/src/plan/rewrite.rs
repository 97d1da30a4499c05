//! Queries rewritten so that each range answers a part, and what the client has to do with the parts.
//!
//! | query | sent to each range | left to the client |
//! |---|---|---|
//! | plain | as written | rows one range after the other |
//! | TOP n | as written | the first n |
//! | OFFSET o LIMIT l | `OFFSET 0 LIMIT o+l` | skip, take |
//! | ORDER BY k | rows `{_rid, orderByItems, payload}` in order | merge by `orderByItems` |
//! | DISTINCT | without TOP and OFFSET LIMIT, which count distinct rows | drop what came before |
//! | aggregates | partial values `{item: …}` | add them up |
//! | GROUP BY k | rows `{groupByItems, payload}` | add up per group |
//! | COUNT of a DISTINCT subquery | the subquery | count distinct rows |
//!
//! A part must hold enough: an average travels as sum and count, a minimum with the count that tells whether there was
//! any value. A range must not drop rows it cannot judge alone, so TOP and OFFSET LIMIT leave the text when rows are
//! still to be merged into fewer.

use super::document::with_document;
use super::info::{DistinctType, QueryInfo, SortOrder};
use super::outline::{aggregate, named_items, source_name};
use super::syntax::{all_of, array, call, item, member, object, placeholder, row_count};
use crate::aggregate::AggregateKind;
use crate::tree::OrderItem;
use tesela_sql::ast::{
    Collection, Direction, Expr, ExprKind, Literal, OffsetLimit, Query, SelectItem, SelectSpec, SourceKind,
};
use tesela_sql::rules::ROW_COUNT_MAX;
use tesela_sql::{Span, print, print_expr};

/// Where clients put the condition that resumes an ordered scan, or `true`.
pub(super) const ORDER_FILTER: &str = "({documentdb-formattableorderbyquery-filter})";

/// The rows of the merged result that are wanted, with parameters filled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub top: Option<u64>,
    pub offset: Option<u64>,
    pub limit: Option<u64>,
}

impl Window {
    /// How many rows of one range can be among the wanted ones of OFFSET LIMIT.
    pub fn reach(self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_add(self.offset.unwrap_or(0)).min(ROW_COUNT_MAX))
    }
}

pub(super) fn offset_limit(limit: u64) -> OffsetLimit {
    OffsetLimit { offset: row_count(0), limit: row_count(limit), span: Span::default() }
}

/// A query taken apart for its ranges.
pub(super) struct Rewrite<'q> {
    pub query: &'q Query,
    pub window: Window,
}

impl Rewrite<'_> {
    /// What all rewrites say of the query.
    fn info(&self) -> QueryInfo {
        let distinct_type = if self.query.select.distinct { DistinctType::Unordered } else { DistinctType::None };
        let Window { top, offset, limit } = self.window;
        let has_select_value = matches!(self.query.select.spec, SelectSpec::Value(_));
        QueryInfo { distinct_type, top, offset, limit, has_select_value, ..QueryInfo::default() }
    }

    /// A query that one range answers completely.
    pub fn unchanged(&self) -> QueryInfo {
        let has_select_value = matches!(self.query.select.spec, SelectSpec::Value(_));
        QueryInfo { has_select_value, ..QueryInfo::default() }
    }

    /// Rows as they come. `one_key`: all of them from one logical partition, which skips and takes by itself.
    pub fn streamed(&self, one_key: bool) -> QueryInfo {
        let mut info = self.info();
        let distinct = self.query.select.distinct;
        let mut sent = self.query.clone();
        if distinct {
            sent.select.top = None;
            sent.offset_limit = None;
        } else if one_key {
            (info.offset, info.limit) = (None, None);
        } else if let Some(reach) = self.window.reach() {
            sent.offset_limit = Some(offset_limit(reach));
        }
        let changed = if distinct { sent != *self.query } else { info.limit.is_some() };
        if changed {
            info.rewritten_query = print(&sent);
        }
        info
    }

    /// Rows in an order. `None` without FROM, where there is nothing to order.
    pub fn ordered(&self, order: &[OrderItem]) -> Option<QueryInfo> {
        let mut info = self.info();
        let items = &self.query.order_by.as_ref()?.items;
        let keys: Vec<&Expr> = items.iter().map(|item| &item.expr).collect();
        if let (SelectSpec::Value(value), [key], true) =
            (&self.query.select.spec, &keys[..], self.query.select.distinct)
            && value == *key
        {
            // The only case in which equal rows are sure to be neighbours, as far as the service looks.
            info.distinct_type = DistinctType::Ordered;
        }
        let mut sent = self.ordered_query(&keys, |payload| payload)?;
        sent.order_by.clone_from(&self.query.order_by);
        if !self.query.select.distinct {
            sent.select.top.clone_from(&self.query.select.top);
            sent.offset_limit = self.window.reach().map(offset_limit);
        }
        info.order_by = order.iter().map(|item| sort_order(item.direction)).collect();
        info.order_by_expressions = keys.iter().map(|key| print_expr(key)).collect();
        info.has_non_streaming_order_by = keys.iter().any(|key| is_vector_distance(key));
        info.rewritten_query = print(&sent);
        Some(info)
    }

    /// Rows that carry their order: `SELECT c._rid, [{"item": key}] AS orderByItems, … AS payload FROM … WHERE …`.
    /// The caller adds the order itself and how many rows are wanted.
    pub fn ordered_query(&self, keys: &[&Expr], payload: impl FnOnce(Expr) -> Expr) -> Option<Query> {
        let (from, document) = with_document(self.query)?;
        let wrapped = payload(self.payload()?);
        let rid = SelectItem { expr: member(&document, "_rid"), alias: None, span: Span::default() };
        let mut sent = self.query.clone();
        sent.select.distinct = false;
        sent.select.top = None;
        sent.select.spec = SelectSpec::List(vec![rid, item(items(keys), "orderByItems"), item(wrapped, "payload")]);
        sent.from = Some(from);
        // SELECT VALUE leaves out rows without a value; a row that carries its order would keep them.
        let defined = match &self.query.select.spec {
            SelectSpec::Value(value) => Some(call("IS_DEFINED", vec![value.clone()])),
            SelectSpec::Star | SelectSpec::List(_) => None,
        };
        let conditions = self.query.where_.clone().into_iter().chain([placeholder(ORDER_FILTER)]).chain(defined);
        sent.where_ = all_of(conditions);
        sent.order_by = None;
        sent.offset_limit = None;
        Some(sent)
    }

    /// What the user selected, as one value.
    fn payload(&self) -> Option<Expr> {
        Some(match &self.query.select.spec {
            SelectSpec::Star => {
                let name = source_name(self.query.from.as_ref()?.sources.first()?)?;
                Expr::new(ExprKind::Identifier(name.to_owned()), Span::default())
            }
            SelectSpec::Value(value) => value.clone(),
            SelectSpec::List(items) => object(named_items(items).into_iter().map(|(name, expr)| (name, expr.clone()))),
        })
    }

    /// Groups and aggregates, as partial values.
    pub fn gathered(&self) -> QueryInfo {
        let mut info = self.info();
        let keys: Vec<&Expr> = self.query.group_by.iter().flat_map(|group_by| &group_by.keys).collect();
        info.group_by_expressions = keys.iter().map(|key| print_expr(key)).collect();
        let payload = match &self.query.select.spec {
            SelectSpec::Value(value) => match aggregate(value) {
                Some((kind, arg)) => {
                    info.aggregates = vec![kind];
                    array(vec![partial(kind, arg)])
                }
                None => value.clone(),
            },
            SelectSpec::List(items) => partial_items(items, &mut info),
            SelectSpec::Star => unreachable!("the binder refuses SELECT * with GROUP BY, and * holds no aggregate"),
        };
        let mut sent = self.query.clone();
        sent.select.distinct = false;
        sent.select.top = None;
        sent.offset_limit = None;
        sent.select.spec = if !keys.is_empty() {
            SelectSpec::List(vec![item(items(&keys), "groupByItems"), item(payload, "payload")])
        } else if info.has_select_value {
            // One row of one group: there is nothing an order could change.
            sent.order_by = None;
            SelectSpec::Value(payload)
        } else {
            sent.order_by = None;
            SelectSpec::List(vec![item(payload, "payload")])
        };
        info.rewritten_query = print(&sent);
        info
    }

    /// `COUNT` over the rows of a DISTINCT subquery: the client counts what the subquery yields.
    pub fn distinct_count(&self) -> Option<QueryInfo> {
        let inner = distinct_source(self.query)?;
        let (counted, alias) = match &self.query.select.spec {
            SelectSpec::Value(value) => (value, None),
            SelectSpec::List(items) => match named_items(items).pop() {
                Some((name, expr)) if items.len() == 1 => (expr, Some(name)),
                _ => return None,
            },
            SelectSpec::Star => return None,
        };
        let (AggregateKind::Count, arg) = aggregate(counted)? else { return None };
        if !counts_rows(arg, self.query) {
            return None;
        }
        let mut info = self.info();
        info.distinct_type = DistinctType::Unordered;
        info.dcount = Some(alias);
        info.rewritten_query = print(inner);
        Some(info)
    }
}

/// The DISTINCT subquery a query is all made from.
fn distinct_source(query: &Query) -> Option<&Query> {
    let bare = query.where_.is_none() && query.group_by.is_none() && query.order_by.is_none() && !query.select.distinct;
    match &query.from.as_ref()?.sources[..] {
        [source] if bare => match &source.kind {
            SourceKind::Named { collection: Collection::Subquery(inner), .. } if inner.select.distinct => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// Whether COUNT of this is the number of rows: a constant, or the row itself.
fn counts_rows(arg: &Expr, query: &Query) -> bool {
    match &arg.kind {
        ExprKind::Literal(literal) => *literal != Literal::Undefined,
        ExprKind::Identifier(name) => {
            let row = query.from.as_ref().and_then(|from| source_name(from.sources.first()?));
            row == Some(name)
        }
        _ => false,
    }
}

fn partial_items(items: &[SelectItem], info: &mut QueryInfo) -> Expr {
    let mut members = Vec::with_capacity(items.len());
    for (name, expr) in named_items(items) {
        let found = aggregate(expr);
        let kind = found.map(|(kind, _)| kind);
        let value = found.map_or_else(|| expr.clone(), |(kind, arg)| partial(kind, arg));
        info.group_by_aliases.push(name.clone());
        info.group_by_alias_to_aggregate.push((name.clone(), kind));
        members.push((name, value));
    }
    object(members)
}

/// `{"item": …}`: what one range knows of an aggregate.
fn partial(kind: AggregateKind, arg: &Expr) -> Expr {
    let of = |function: &str| call(function, vec![arg.clone()]);
    // An extreme of nothing is undefined, and so is one that mixed types spoil: the count tells them apart.
    let extreme = |function: &str, name: &'static str| {
        let known = object([(name, of(function)), ("count", of("COUNT"))]);
        object([("item", of(function)), ("item2", known)])
    };
    match kind {
        AggregateKind::Average => object([("item", object([("sum", of("SUM")), ("count", of("COUNT"))]))]),
        AggregateKind::Max => extreme("MAX", "max"),
        AggregateKind::Min => extreme("MIN", "min"),
        AggregateKind::Count => object([("item", of("COUNT"))]),
        AggregateKind::CountIf => object([("item", of("COUNTIF"))]),
        AggregateKind::MakeList => object([("item", of("MAKELIST"))]),
        AggregateKind::MakeSet => object([("item", of("MAKESET"))]),
        AggregateKind::Sum => object([("item", of("SUM"))]),
    }
}

/// `[{"item": a}, {"item": b}]`
fn items(keys: &[&Expr]) -> Expr {
    array(keys.iter().map(|key| object([("item", (*key).clone())])).collect())
}

pub(super) fn sort_order(direction: Direction) -> SortOrder {
    match direction {
        Direction::Ascending => SortOrder::Ascending,
        Direction::Descending => SortOrder::Descending,
    }
}

fn is_vector_distance(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { name, .. } if name.name.eq_ignore_ascii_case("VectorDistance"))
}
