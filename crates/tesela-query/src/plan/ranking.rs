//! ORDER BY RANK over many partitions.
//!
//! A score by BM25 needs figures of the whole container, and a fused rank needs the ranks of all ranges. So the client
//! first runs a *statistics query* everywhere and adds up the answers, fills the figures into one *component query* per
//! score, runs those, and fuses the rows by their ranks:
//!
//! ```text
//! SELECT TOP 10 c.name FROM c ORDER BY RANK RRF(FullTextScore(c.text, "swim"), VectorDistance(c.v, @v))
//!
//! statistics    SELECT COUNT(1) AS documentCount, [{"totalWordCount": …, "hitCounts": […]}] AS fullTextStatistics …
//! component 0   … ORDER BY _FullTextScore(c.text, ["swim"], {…-totaldocumentcount}, {…-totalwordcount-0}, …) DESC
//! component 1   … ORDER BY VectorDistance(c.v, @v)
//! ```
//!
//! Every component yields more rows than are wanted ([`COMPONENT_ROWS_MIN`]), since a row that no component has among
//! its best can still be fused to the front; and every row carries all scores, so that the client need not meet it in
//! each component. Statistics ignore WHERE: a score must not depend on who else was filtered out.
//!
//! Left out: components without payload and the later projection, an optimisation some clients offer
//! (`HybridSearchSkipOrderByRewrite`); all of them take this form as well.

use super::info::{HybridSearchInfo, QueryInfo};
use super::rewrite::{Rewrite, offset_limit, sort_order};
use super::syntax::{array, call, expr, float, integer, item, object, placeholder, row_count};
use crate::tree::Order;
use tesela_model::json::Value;
use tesela_sql::ast::{Direction, Expr, ExprKind, OrderBy, OrderItem, Query, SelectSpec};
use tesela_sql::rules::ROW_COUNT_MAX;
use tesela_sql::{Span, print, print_expr};

/// Rows a component yields at least, of each range, and how many for each row wanted (the service's figures).
const COMPONENT_ROWS_MIN: u64 = 120;
const COMPONENT_ROWS_PER_ROW: u64 = 2;

const DOCUMENT_COUNT: &str = "{documentdb-formattablehybridsearchquery-totaldocumentcount}";

/// One score of the ranking.
struct Component {
    score: Expr,
    /// The direction that is best first.
    best_first: Direction,
    /// What a row without a score gets: behind all others.
    missing: Expr,
    /// VectorDistance takes no direction in the text, it knows which end is best.
    written: Option<Direction>,
}

/// A FullTextScore: the text and the terms it is searched for.
struct Search {
    text: Expr,
    terms: Vec<Expr>,
}

/// The plan of a ranking query. `None` when the query is not one.
pub(super) fn fused(rewrite: &Rewrite<'_>, order: &Order, parameters: &[(String, Value)]) -> Option<HybridSearchInfo> {
    let scores = scores(rewrite.query.order_by.as_ref()?)?;
    let directions: Vec<Direction> = match order {
        Order::By(items) => items.iter().map(|item| item.direction).collect(),
        Order::Fusion(components) => components.iter().map(|component| component.direction).collect(),
        Order::None => return None,
    };
    let mut searches = Vec::new();
    let components: Vec<Component> = scores
        .components
        .iter()
        .zip(directions)
        .map(|(score, direction)| component(score, direction, parameters, &mut searches))
        .collect();
    let component_weights = match order {
        Order::Fusion(fused) if scores.weighted => fused.iter().map(|component| component.weight).collect(),
        _ => Vec::new(),
    };
    let queries: Option<Vec<QueryInfo>> =
        components.iter().map(|component| component_query(rewrite, component, &components)).collect();
    let requires_global_statistics = !searches.is_empty();
    let statistics = if requires_global_statistics { statistics_query(rewrite.query, searches) } else { String::new() };
    Some(HybridSearchInfo {
        global_statistics_query: statistics,
        components: queries?,
        components_without_payload: Vec::new(),
        projection: None,
        component_weights,
        skip: rewrite.window.offset,
        take: rewrite.window.limit.or(rewrite.window.top),
        requires_global_statistics,
    })
}

struct Scores<'q> {
    components: Vec<&'q Expr>,
    weighted: bool,
}

/// The calls a ranking is made of: the one of `RANK f(…)`, or those inside RRF.
fn scores(order_by: &OrderBy) -> Option<Scores<'_>> {
    let [item] = &order_by.items[..] else { return None };
    match &item.expr.kind {
        ExprKind::Call { name, args } if name.name.eq_ignore_ascii_case("RRF") => {
            let components: Vec<&Expr> = args.iter().filter(|arg| matches!(arg.kind, ExprKind::Call { .. })).collect();
            Some(Scores { weighted: components.len() < args.len(), components })
        }
        _ => Some(Scores { components: vec![&item.expr], weighted: false }),
    }
}

fn component(
    score: &Expr,
    best_first: Direction,
    parameters: &[(String, Value)],
    searches: &mut Vec<Search>,
) -> Component {
    if let ExprKind::Call { name, args } = &score.kind
        && name.name.eq_ignore_ascii_case("FullTextScore")
        && let Some((text, terms)) = args.split_first()
    {
        let search =
            Search { text: text.clone(), terms: terms.iter().flat_map(|term| flattened(term, parameters)).collect() };
        // The number counts full-text components only, as the statistics do.
        let number = searches.len();
        let score = full_text_score(&search, number);
        searches.push(search);
        return Component { score, best_first, missing: integer(-1), written: Some(best_first) };
    }
    let worst = if best_first == Direction::Ascending { f64::MAX } else { f64::MIN };
    Component { score: score.clone(), best_first, missing: float(worst), written: None }
}

/// The terms of one argument: an array stands for its elements, so that hits can be counted term by term.
fn flattened(term: &Expr, parameters: &[(String, Value)]) -> Vec<Expr> {
    match &term.kind {
        ExprKind::Array(items) => items.clone(),
        ExprKind::Parameter(name) => match parameters.iter().find(|(known, _)| known == name) {
            Some((_, Value::Array(items))) => items.iter().map(super::syntax::constant).collect(),
            _ => vec![term.clone()],
        },
        _ => vec![term.clone()],
    }
}

fn full_text_score(search: &Search, number: usize) -> Expr {
    let figure = |name: &str| placeholder(format!("{{documentdb-formattablehybridsearchquery-{name}-{number}}}"));
    let args = vec![
        search.text.clone(),
        array(search.terms.clone()),
        placeholder(DOCUMENT_COUNT),
        figure("totalwordcount"),
        figure("hitcountsarray"),
    ];
    call("_FullTextScore", args)
}

fn component_query(rewrite: &Rewrite<'_>, component: &Component, all: &[Component]) -> Option<QueryInfo> {
    let scores = array(all.iter().map(score_or_worst).collect());
    let payload = |payload| object([("payload", payload), ("componentScores", scores)]);
    let mut sent = rewrite.ordered_query(&[&component.score], payload)?;
    let ordered = OrderItem { expr: component.score.clone(), direction: component.written, span: Span::default() };
    sent.order_by = Some(OrderBy { rank: false, items: vec![ordered], span: Span::default() });
    let mut info = QueryInfo {
        order_by: vec![sort_order(component.best_first)],
        order_by_expressions: vec![print_expr(&component.score)],
        has_select_value: matches!(rewrite.query.select.spec, SelectSpec::Value(_)),
        has_non_streaming_order_by: true,
        ..QueryInfo::default()
    };
    if let Some(reach) = rewrite.window.reach() {
        let rows = component_rows(reach);
        sent.offset_limit = Some(offset_limit(rows));
        (info.offset, info.limit) = (Some(0), Some(rows));
    } else if let Some(top) = rewrite.window.top {
        let rows = component_rows(top);
        sent.select.top = Some(row_count(rows));
        info.top = Some(rows);
    }
    info.rewritten_query = print(&sent);
    Some(info)
}

fn component_rows(wanted: u64) -> u64 {
    wanted.saturating_mul(COMPONENT_ROWS_PER_ROW).clamp(COMPONENT_ROWS_MIN, ROW_COUNT_MAX)
}

/// `(score ?? worst)`
fn score_or_worst(component: &Component) -> Expr {
    let (left, right) = (Box::new(component.score.clone()), Box::new(component.missing.clone()));
    expr(ExprKind::Coalesce { left, right })
}

/// Documents, words per text and hits per term of one range; sums of these are those of the container.
fn statistics_query(query: &Query, searches: Vec<Search>) -> String {
    let figures = |Search { text, terms }: Search| {
        let hit = |term| call("COUNTIF", vec![call("FullTextContains", vec![text.clone(), term])]);
        let hits = array(terms.into_iter().map(hit).collect());
        let words = call("SUM", vec![call("_FullTextWordCount", vec![text.clone()])]);
        object([("totalWordCount", words), ("hitCounts", hits)])
    };
    let count = call("COUNT", vec![integer(1)]);
    let figures = array(searches.into_iter().map(figures).collect());
    let mut sent = query.clone();
    sent.select.distinct = false;
    sent.select.top = None;
    sent.select.spec = SelectSpec::List(vec![item(count, "documentCount"), item(figures, "fullTextStatistics")]);
    sent.where_ = None;
    sent.order_by = None;
    sent.offset_limit = None;
    print(&sent)
}
