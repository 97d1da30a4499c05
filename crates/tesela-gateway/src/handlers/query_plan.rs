//! Query plans: what an SDK asks before it runs a query range by range.

use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use tesela_model::json::{self, Value};
use tesela_model::limits::QUERY_TEXT_BYTES_MAX;
use tesela_protocol::header;
use tesela_protocol::query_plan as wire;
use tesela_protocol::status::Status;
use tesela_query::aggregate::AggregateKind;
use tesela_query::plan::{
    DistinctType, HybridSearchInfo, PlanKind, PlanScope, QueryInfo, QueryPlan, SortOrder, SupportedFeatures,
};
use tesela_router::QuerySpec;
use tesela_router::catalog::Container;
use tesela_store::Store;

/// The query in a body: `{"query": …, "parameters": [{"name", "value"}]}`.
pub(super) fn spec(body: &[u8]) -> Result<QuerySpec, ApiError> {
    let value =
        json::parse(body).map_err(|error| ApiError::bad_request(format!("the body is not valid JSON: {error}")))?;
    let text = value.get("query").and_then(Value::as_str);
    let text = text.ok_or_else(|| ApiError::bad_request("the body must have the property 'query', a string"))?;
    if text.len() > QUERY_TEXT_BYTES_MAX {
        return Err(ApiError::bad_request(format!("the query is longer than {QUERY_TEXT_BYTES_MAX} bytes")));
    }
    let parameters = match value.get("parameters") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(parameters)) => parameters.iter().map(parameter).collect::<Result<_, _>>()?,
        Some(_) => return Err(ApiError::bad_request("'parameters' must be a list")),
    };
    Ok(QuerySpec { text: text.to_owned(), parameters })
}

fn parameter(value: &Value) -> Result<(String, Value), ApiError> {
    match (value.get("name").and_then(Value::as_str), value.get("value")) {
        (Some(name), value) if name.starts_with('@') => Ok((name.to_owned(), value.cloned().unwrap_or(Value::Null))),
        _ => Err(ApiError::bad_request("a parameter must have a 'name' that starts with @ and a 'value'")),
    }
}

impl<S: Store> Gateway<S> {
    pub(super) fn query_plan(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        let features = call.text(&header::SUPPORTED_QUERY_FEATURES)?.unwrap_or_default();
        let features = SupportedFeatures::from_names(features.split(',').map(str::trim));
        let scope = if call.partition_key()?.is_some() { PlanScope::OneKey } else { PlanScope::Container };
        let plan = self.router().plan(container, &spec(&call.body)?, features, scope)?;
        let mut answer = Answer::json(Status::Ok, plan_body(&plan));
        answer.set_request_charge(1.0);
        super::item_answer::write_owner(&mut answer, container);
        Ok(answer)
    }
}

/// A plan as the wire spells it.
pub(super) fn plan_body(plan: &QueryPlan) -> Vec<u8> {
    let kind = match &plan.kind {
        PlanKind::Query(info) => wire::PlanKind::Query(query_info(info)),
        PlanKind::HybridSearch(info) => wire::PlanKind::HybridSearch(hybrid_info(info)),
    };
    let ranges = plan.ranges.iter().map(|range| wire::QueryRange {
        min: range.min.to_hex(),
        max: range.max.to_hex(),
        is_min_inclusive: range.is_min_inclusive,
        is_max_inclusive: range.is_max_inclusive,
    });
    wire::QueryPlan { kind, ranges: ranges.collect() }.to_json()
}

fn aggregate(kind: AggregateKind) -> wire::AggregateKind {
    match kind {
        AggregateKind::Average => wire::AggregateKind::Average,
        AggregateKind::Count => wire::AggregateKind::Count,
        AggregateKind::CountIf => wire::AggregateKind::CountIf,
        AggregateKind::MakeList => wire::AggregateKind::MakeList,
        AggregateKind::MakeSet => wire::AggregateKind::MakeSet,
        AggregateKind::Max => wire::AggregateKind::Max,
        AggregateKind::Min => wire::AggregateKind::Min,
        AggregateKind::Sum => wire::AggregateKind::Sum,
    }
}

fn query_info(info: &QueryInfo) -> wire::QueryInfo {
    let by_alias = info.group_by_alias_to_aggregate.iter().map(|(alias, kind)| (alias.clone(), kind.map(aggregate)));
    let order = |order: &SortOrder| match order {
        SortOrder::Ascending => wire::SortOrder::Ascending,
        SortOrder::Descending => wire::SortOrder::Descending,
    };
    wire::QueryInfo {
        distinct_type: match info.distinct_type {
            DistinctType::None => wire::DistinctType::None,
            DistinctType::Ordered => wire::DistinctType::Ordered,
            DistinctType::Unordered => wire::DistinctType::Unordered,
        },
        top: info.top,
        offset: info.offset,
        limit: info.limit,
        order_by: info.order_by.iter().map(order).collect(),
        order_by_expressions: info.order_by_expressions.clone(),
        group_by_expressions: info.group_by_expressions.clone(),
        group_by_aliases: info.group_by_aliases.clone(),
        aggregates: info.aggregates.iter().copied().map(aggregate).collect(),
        group_by_alias_to_aggregate: by_alias.collect(),
        rewritten_query: info.rewritten_query.clone(),
        has_select_value: info.has_select_value,
        dcount: info.dcount.clone(),
        has_non_streaming_order_by: info.has_non_streaming_order_by,
    }
}

fn hybrid_info(info: &HybridSearchInfo) -> wire::HybridSearchInfo {
    wire::HybridSearchInfo {
        global_statistics_query: info.global_statistics_query.clone(),
        components: info.components.iter().map(query_info).collect(),
        components_without_payload: info.components_without_payload.iter().map(query_info).collect(),
        projection: info.projection.as_ref().map(query_info),
        component_weights: info.component_weights.clone(),
        skip: info.skip,
        take: info.take,
        requires_global_statistics: info.requires_global_statistics,
    }
}
