//! The plan as plain data: field by field what a client reads, before it is spelt for the wire.

use super::keys::{KeySelection, QueryRange};
use crate::aggregate::AggregateKind;

/// How a client runs a query range by range and merges what comes back.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryPlan {
    pub kind: PlanKind,
    /// Where documents of the answer can be. Sorted by `min`, disjoint, never empty.
    pub ranges: Vec<QueryRange>,
    /// The same as key values, for clients that hash by themselves.
    pub keys: KeySelection,
}

/// Either an ordinary plan or one for ranking.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanKind {
    Query(QueryInfo),
    HybridSearch(HybridSearchInfo),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DistinctType {
    #[default]
    None,
    /// Equal rows come one after the other.
    Ordered,
    Unordered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortOrder {
    Ascending,
    Descending,
}

/// How the rows of one rewritten query are merged.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct QueryInfo {
    pub distinct_type: DistinctType,
    pub top: Option<u64>,
    pub offset: Option<u64>,
    pub limit: Option<u64>,
    pub order_by: Vec<SortOrder>,
    pub order_by_expressions: Vec<String>,
    pub group_by_expressions: Vec<String>,
    pub group_by_aliases: Vec<String>,
    /// The aggregate of `SELECT VALUE`; those of a SELECT list are in `group_by_alias_to_aggregate`.
    pub aggregates: Vec<AggregateKind>,
    pub group_by_alias_to_aggregate: Vec<(String, Option<AggregateKind>)>,
    /// What to send to each range; empty is what the user wrote.
    pub rewritten_query: String,
    pub has_select_value: bool,
    /// A count of distinct rows; its alias is absent under `SELECT VALUE`.
    pub dcount: Option<Option<String>>,
    pub has_non_streaming_order_by: bool,
}

/// How the rows of a ranking query are fused.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct HybridSearchInfo {
    /// Empty when no component needs it.
    pub global_statistics_query: String,
    pub components: Vec<QueryInfo>,
    pub components_without_payload: Vec<QueryInfo>,
    pub projection: Option<QueryInfo>,
    /// As the query gives them; empty is equal weights.
    pub component_weights: Vec<f64>,
    pub skip: Option<u64>,
    pub take: Option<u64>,
    pub requires_global_statistics: bool,
}
