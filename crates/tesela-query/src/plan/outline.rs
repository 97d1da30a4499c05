//! What can be seen of a query without binding it: its aggregates, the names it gives, how far it can be taken apart.

use crate::aggregate::AggregateKind;
use tesela_sql::ast::{
    Collection, Expr, ExprKind, FromClause, Ident, Literal, PathStep, PathStepKind, Query, SelectItem, SelectSpec,
    Source, SourceKind,
};

/// Whether the service's gateway answers a query by itself when it spans partitions: it passes rows on as they come,
/// and leaves to its clients whatever must be merged (ORDER BY, TOP, OFFSET LIMIT, DISTINCT, GROUP BY, aggregates,
/// ranking). A query without FROM has one row wherever it is run.
pub fn is_servable_by_gateway(query: &Query) -> bool {
    let merged = query.order_by.is_some()
        || query.offset_limit.is_some()
        || query.select.top.is_some()
        || gathers(query)
        || gathering_source(query).is_some();
    query.from.is_none() || !merged
}

/// Whether rows of a select depend on more than one document.
fn gathers(query: &Query) -> bool {
    query.select.distinct || query.group_by.is_some() || is_aggregated(query)
}

/// The first source, when it is a subquery that must see all documents before it has a row.
pub(super) fn gathering_source(query: &Query) -> Option<&Source> {
    let source = query.from.as_ref()?.sources.first()?;
    let Collection::Subquery(inner) = collection(source) else { return None };
    (gathers(inner) || gathering_source(inner).is_some()).then_some(source)
}

pub(super) fn collection(source: &Source) -> &Collection {
    let (SourceKind::Named { collection, .. } | SourceKind::Iteration { collection, .. }) = &source.kind;
    collection
}

pub(super) fn is_aggregated(query: &Query) -> bool {
    match &query.select.spec {
        SelectSpec::Star => false,
        SelectSpec::Value(expr) => has_aggregate(expr),
        SelectSpec::List(items) => items.iter().any(|item| has_aggregate(&item.expr)),
    }
}

fn has_aggregate(expr: &Expr) -> bool {
    let mut found = aggregate(expr).is_some();
    expr.for_each_child(|child| found = found || has_aggregate(child));
    found
}

/// An aggregate by itself, with its argument.
pub(super) fn aggregate(expr: &Expr) -> Option<(AggregateKind, &Expr)> {
    match &expr.kind {
        ExprKind::Call { name, args } => Some((AggregateKind::from_name(&name.name)?, args.first()?)),
        _ => None,
    }
}

/// An expression around an aggregate, if the select has one.
pub(super) fn composed_aggregate(query: &Query) -> Option<&Expr> {
    let composed = |expr: &Expr| has_aggregate(expr) && aggregate(expr).is_none();
    match &query.select.spec {
        SelectSpec::Star => None,
        SelectSpec::Value(expr) => Some(expr).filter(|expr| composed(expr)),
        SelectSpec::List(items) => items.iter().map(|item| &item.expr).find(|expr| composed(expr)),
    }
}

/// The items of a SELECT list under the names their values get: the alias, the last step of a path, else `$1`, `$2`.
pub(super) fn named_items(items: &[SelectItem]) -> Vec<(String, &Expr)> {
    let mut unnamed = 0;
    let mut name = |item: &SelectItem| {
        let alias = item.alias.as_ref().map(|alias| alias.name.as_str());
        alias.or_else(|| last_step(&item.expr)).map_or_else(
            || {
                unnamed += 1;
                format!("${unnamed}")
            },
            str::to_owned,
        )
    };
    items.iter().map(|item| (name(item), &item.expr)).collect()
}

fn last_step(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Identifier(name) => Some(name),
        ExprKind::Member { name, .. } => Some(&name.name),
        ExprKind::Index { index, .. } => match &index.kind {
            ExprKind::Literal(Literal::String(name)) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// The name a source goes by, if it has one.
pub(super) fn source_name(source: &Source) -> Option<&str> {
    match &source.kind {
        SourceKind::Named { alias: Some(alias), .. } | SourceKind::Iteration { alias, .. } => Some(&alias.name),
        SourceKind::Named { collection: Collection::Path { root, steps }, .. } => match steps.last() {
            None => Some(&root.name),
            Some(PathStep { kind: PathStepKind::Member(name) | PathStepKind::Quoted(name), .. }) => Some(name),
            Some(_) => None,
        },
        SourceKind::Named { collection: Collection::Subquery(_), .. } => None,
    }
}

/// The alias under which FROM gives the document itself, if it does.
pub(super) fn document_name(from: &FromClause) -> Option<&str> {
    let first = from.sources.first()?;
    match &first.kind {
        SourceKind::Named { collection: Collection::Path { steps, .. }, .. } if steps.is_empty() => source_name(first),
        _ => None,
    }
}

/// A name the query uses for nothing: `base`, else `base1`, `base2`, …
pub(super) fn unused_name(query: &Query, base: &str) -> String {
    let mut used = Vec::new();
    visit(query, &mut |word| {
        if let Word::Name(name) = word {
            used.push(name.to_owned());
        }
    });
    let numbered = (1..).map(|number| format!("{base}{number}"));
    let free = |name: &String| !used.iter().any(|used| used.eq_ignore_ascii_case(name));
    std::iter::once(base.to_owned()).chain(numbered).find(free).expect("a query has finitely many names")
}

/// The parameters of the query's expressions, as often as they occur, without those of TOP, OFFSET and LIMIT.
pub(super) fn parameters(query: &Query) -> Vec<String> {
    let mut names = Vec::new();
    visit(query, &mut |word| {
        if let Word::Parameter(name) = word {
            names.push(name.to_owned());
        }
    });
    names
}

enum Word<'q> {
    /// An alias or identifier.
    Name(&'q str),
    Parameter(&'q str),
}

/// Calls `found` for the names and parameters of a query and its subqueries.
fn visit<'q>(query: &'q Query, found: &mut dyn FnMut(Word<'q>)) {
    for source in query.from.iter().flat_map(|from| &from.sources) {
        let alias: Option<&Ident> = match &source.kind {
            SourceKind::Named { alias, .. } => alias.as_ref(),
            SourceKind::Iteration { alias, .. } => Some(alias),
        };
        alias.into_iter().for_each(|alias| found(Word::Name(&alias.name)));
        match collection(source) {
            Collection::Subquery(inner) => visit(inner, found),
            Collection::Path { root, steps } => {
                found(Word::Name(&root.name));
                for step in steps {
                    if let PathStepKind::Member(name) | PathStepKind::Quoted(name) = &step.kind {
                        found(Word::Name(name));
                    }
                }
            }
        }
    }
    query.for_each_expr(|expr| visit_expr(expr, found));
}

fn visit_expr<'q>(expr: &'q Expr, found: &mut dyn FnMut(Word<'q>)) {
    match &expr.kind {
        ExprKind::Identifier(name) => found(Word::Name(name)),
        ExprKind::Parameter(name) => found(Word::Parameter(name)),
        ExprKind::Subquery { query, .. } => visit(query, found),
        _ => {}
    }
    expr.for_each_child(|child| visit_expr(child, found));
}
