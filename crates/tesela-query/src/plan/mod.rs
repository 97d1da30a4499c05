//! The plan of a query that spans partitions: what each range is asked, how a client merges the answers, and which
//! ranges are asked at all (R18).
//!
//! Official SDKs do not send a query that must be merged to the gateway; they ask for its plan, run the rewritten text
//! on every range the plan names, and put the parts together themselves.
//!
//! ```text
//! SELECT TOP 5 VALUE c.name FROM c WHERE c.pk IN ("x", "y") ORDER BY c.age DESC
//!
//! top 5, orderBy [Descending], orderByExpressions ["c.age"], hasSelectValue
//! rewritten  SELECT TOP 5 c._rid, [{"item": c.age}] AS orderByItems, c.name AS payload
//!            FROM c
//!            WHERE (((c.pk IN ("x", "y")) AND ({documentdb-formattableorderbyquery-filter})) AND IS_DEFINED(c.name))
//!            ORDER BY c.age DESC
//! ranges     the two points the keys ["x"] and ["y"] hash to
//! ```
//!
//! Invariants:
//!
//! * **Nothing is lost.** No document of the answer lies outside the ranges; they may hold more (`keys`).
//! * **The parts suffice.** Merging what the rewritten query yields per range, as the plan says, gives the answer of
//!   the query over all of them (`rewrite`, `ranking`). A query for which there is no such rewrite is refused,
//!   unless one partition holds all it can see: then the client is told to pass the query on as it is.
//! * **Rewritten text is text.** It parses and binds, once the client has filled its holes.
//! * **No silent needs.** Whatever the plan leaves to the client, the client has said it can do (`feature`).
//!
//! Left out: ranges of the retired key kind `Range` other than points and prefixes; they are covered by more.

mod document;
mod error;
mod feature;
mod filter;
mod info;
mod key_set;
mod keys;
mod outline;
mod ranking;
mod rewrite;
mod syntax;

#[cfg(test)]
mod tests;

pub use error::PlanError;
pub use feature::{QueryFeature, SupportedFeatures};
pub use info::{DistinctType, HybridSearchInfo, PlanKind, QueryInfo, QueryPlan, SortOrder};
pub use keys::{KeySelection, QueryRange, select_keys};
pub use outline::is_servable_by_gateway;

use crate::bind::{CompileContext, CompiledQuery, UserFunctions};
use crate::tree::Order;
use rewrite::{Rewrite, Window};
use std::borrow::Cow;
use tesela_model::json::Value;
use tesela_model::partition_key::PartitionKeyDefinition;
use tesela_sql::Span;
use tesela_sql::ast::{Query, RowCount, RowCountKind};

/// How much of the container the client will run the query on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PlanScope {
    #[default]
    Container,
    /// One logical partition, named by the request's partition key header.
    OneKey,
}

/// What a plan depends on beside the query and the container's key.
pub struct PlanContext<'a> {
    pub scope: PlanScope,
    /// Policies of the container. Its functions are not asked: whether one exists shows when the query is run.
    pub compile: &'a CompileContext<'a>,
}

/// Plans a query for a client with these features. Parameter names include their `@`.
pub fn plan(
    query: &Query,
    parameters: &[(String, Value)],
    definition: &PartitionKeyDefinition,
    features: SupportedFeatures,
    context: &PlanContext<'_>,
) -> Result<QueryPlan, PlanError> {
    let unbound = unbound_parameters(query, parameters);
    let known: Vec<(String, Value)> = parameters.iter().cloned().chain(unbound.iter().cloned()).collect();
    let compile = CompileContext { functions: &AnyFunction, ..*context.compile };
    let compiled = CompiledQuery::compile(&plannable(query), &known, &compile)?;
    // A value that is not known yet may select any key.
    let keys = if unbound.is_empty() { select_keys(&compiled, definition, &compile) } else { KeySelection::All };
    let ranges = keys.ranges(definition);
    let one_key = matches!(&ranges[..], [only] if only.is_point());
    let rewrite = Rewrite { query, window: window(query, parameters) };
    let kind = match distribute(&rewrite, &compiled, parameters, one_key) {
        Err(PlanError::ComposedAggregate { .. } | PlanError::NotDistributable { .. })
            if one_key || context.scope == PlanScope::OneKey =>
        {
            PlanKind::Query(rewrite.unchanged())
        }
        other => other?,
    };
    let missing: Vec<QueryFeature> =
        feature::needed(&kind).into_iter().filter(|needed| !features.contains(*needed)).collect();
    if !missing.is_empty() {
        return Err(PlanError::MissingFeatures(missing));
    }
    Ok(QueryPlan { kind, ranges, keys })
}

/// Chooses the rewrite.
fn distribute(
    rewrite: &Rewrite<'_>,
    compiled: &CompiledQuery,
    parameters: &[(String, Value)],
    one_key: bool,
) -> Result<PlanKind, PlanError> {
    let query = rewrite.query;
    if query.from.is_none() {
        return Ok(PlanKind::Query(rewrite.unchanged()));
    }
    if let Some(info) = rewrite.distinct_count() {
        return Ok(PlanKind::Query(info));
    }
    if let Some(source) = outline::gathering_source(query) {
        return Err(not_distributable("a subquery with DISTINCT, GROUP BY or an aggregate", source.span));
    }
    let gathers = query.group_by.is_some() || outline::is_aggregated(query);
    let ranks = query.order_by.as_ref().filter(|order_by| order_by.rank);
    if let Some(order_by) = ranks {
        if gathers || query.select.distinct {
            return Err(not_distributable("ORDER BY RANK of distinct or grouped rows", order_by.span));
        }
        let fused = ranking::fused(rewrite, &compiled.order, parameters);
        return fused.map(PlanKind::HybridSearch).ok_or_else(|| unnamed_source(order_by.span));
    }
    if let Some(composed) = outline::composed_aggregate(query) {
        return Err(PlanError::ComposedAggregate { span: composed.span });
    }
    Ok(PlanKind::Query(match (&compiled.order, &query.order_by) {
        _ if gathers => rewrite.gathered(),
        (Order::By(items), Some(order_by)) => rewrite.ordered(items).ok_or_else(|| unnamed_source(order_by.span))?,
        _ => rewrite.streamed(one_key),
    }))
}

fn not_distributable(clause: &'static str, span: Span) -> PlanError {
    PlanError::NotDistributable { clause, span }
}

/// `SELECT *` of a source that has no name cannot be said in other words.
fn unnamed_source(span: Span) -> PlanError {
    not_distributable("ORDER BY over a source without a name", span)
}

/// The service plans GROUP BY with ORDER BY and refuses the rewritten query when it is run, so the planner looks past
/// that one rule.
fn plannable(query: &Query) -> Cow<'_, Query> {
    if query.group_by.is_none() || query.order_by.is_none() {
        return Cow::Borrowed(query);
    }
    let mut without_order = query.clone();
    without_order.order_by = None;
    Cow::Owned(without_order)
}

/// Parameters without a value, with one. The service plans such queries, though it does not run them; TOP, OFFSET and
/// LIMIT are the exception, their figures are part of the plan.
fn unbound_parameters(query: &Query, parameters: &[(String, Value)]) -> Vec<(String, Value)> {
    let mut names = outline::parameters(query);
    names.retain(|name| !parameters.iter().any(|(known, _)| known == name));
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| (name, Value::Null)).collect()
}

/// The counts of TOP and OFFSET LIMIT; the binder has checked that parameters are counts.
fn window(query: &Query, parameters: &[(String, Value)]) -> Window {
    let value = |count: &RowCount| match &count.kind {
        RowCountKind::Literal(value) => Some(*value),
        RowCountKind::Parameter(name) => {
            let (_, value) = parameters.iter().find(|(known, _)| known == name)?;
            value.as_i64().and_then(|value| u64::try_from(value).ok())
        }
    };
    let clause = query.offset_limit.as_ref();
    Window {
        top: query.select.top.as_ref().and_then(value),
        offset: clause.and_then(|clause| value(&clause.offset)),
        limit: clause.and_then(|clause| value(&clause.limit)),
    }
}

/// Stands for whatever functions the container has, or will have.
struct AnyFunction;

impl UserFunctions for AnyFunction {
    fn knows(&self, _: &str) -> bool {
        true
    }

    fn call(&self, name: &str, _: &[Value]) -> Result<Option<Value>, String> {
        Err(format!("udf.{name} cannot be called while a query is planned"))
    }
}
