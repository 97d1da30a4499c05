//! The answer to a query plan request: how a client should run a query range by range and merge.
//!
//! The plan itself is made elsewhere; this is its spelling on the wire. Every property is always
//! written, absent values as `null` or empty, because clients read them without looking first.
//! An empty `rewritten_query` means "send what the user wrote". Ranges are effective partition keys
//! in upper-case hex; a point has `min == max`, both inclusive.
//!
//! Also here: the features a client says it can merge, in `x-ms-cosmos-supported-query-features`.

use tesela_model::json::{self, Object, Value};

#[cfg(test)]
mod tests;

/// Version of the answer's form that all current clients read.
const PLAN_VERSION: i64 = 2;

/// Something a query may need its client to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryFeature {
    Aggregate,
    CompositeAggregate,
    Distinct,
    GroupBy,
    MultipleAggregates,
    MultipleOrderBy,
    OffsetAndLimit,
    OrderBy,
    Top,
    NonValueAggregate,
    DCount,
    NonStreamingOrderBy,
    ListAndSetAggregate,
    CountIf,
    HybridSearch,
    WeightedRankFusion,
    HybridSearchSkipOrderByRewrite,
    GenerateEmbeddings,
}

impl QueryFeature {
    pub const ALL: [Self; 18] = [
        Self::Aggregate,
        Self::CompositeAggregate,
        Self::Distinct,
        Self::GroupBy,
        Self::MultipleAggregates,
        Self::MultipleOrderBy,
        Self::OffsetAndLimit,
        Self::OrderBy,
        Self::Top,
        Self::NonValueAggregate,
        Self::DCount,
        Self::NonStreamingOrderBy,
        Self::ListAndSetAggregate,
        Self::CountIf,
        Self::HybridSearch,
        Self::WeightedRankFusion,
        Self::HybridSearchSkipOrderByRewrite,
        Self::GenerateEmbeddings,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Aggregate => "Aggregate",
            Self::CompositeAggregate => "CompositeAggregate",
            Self::Distinct => "Distinct",
            Self::GroupBy => "GroupBy",
            Self::MultipleAggregates => "MultipleAggregates",
            Self::MultipleOrderBy => "MultipleOrderBy",
            Self::OffsetAndLimit => "OffsetAndLimit",
            Self::OrderBy => "OrderBy",
            Self::Top => "Top",
            Self::NonValueAggregate => "NonValueAggregate",
            Self::DCount => "DCount",
            Self::NonStreamingOrderBy => "NonStreamingOrderBy",
            Self::ListAndSetAggregate => "ListAndSetAggregate",
            Self::CountIf => "CountIf",
            Self::HybridSearch => "HybridSearch",
            Self::WeightedRankFusion => "WeightedRankFusion",
            Self::HybridSearchSkipOrderByRewrite => "HybridSearchSkipOrderByRewrite",
            Self::GenerateEmbeddings => "GenerateEmbeddings",
        }
    }
}

/// The features a client supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct QueryFeatures(u32);

impl QueryFeatures {
    pub const NONE: Self = Self(0);

    /// Reads the comma separated header. Names this server does not know are no reason to fail.
    pub fn parse(header: &str) -> Self {
        let known =
            |name: &str| QueryFeature::ALL.into_iter().find(|feature| feature.name().eq_ignore_ascii_case(name));
        header.split(',').filter_map(|name| known(name.trim_ascii())).collect()
    }

    pub const fn contains(self, feature: QueryFeature) -> bool {
        self.0 & 1 << feature as u32 != 0
    }
}

impl FromIterator<QueryFeature> for QueryFeatures {
    fn from_iter<I: IntoIterator<Item = QueryFeature>>(features: I) -> Self {
        Self(features.into_iter().fold(0, |bits, feature| bits | 1 << feature as u32))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DistinctType {
    #[default]
    None,
    Ordered,
    Unordered,
}

impl DistinctType {
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Ordered => "Ordered",
            Self::Unordered => "Unordered",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortOrder {
    Ascending,
    Descending,
}

impl SortOrder {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ascending => "Ascending",
            Self::Descending => "Descending",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateKind {
    Average,
    Count,
    CountIf,
    Max,
    Min,
    Sum,
    MakeList,
    MakeSet,
}

impl AggregateKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Average => "Average",
            Self::Count => "Count",
            Self::CountIf => "CountIf",
            Self::Max => "Max",
            Self::Min => "Min",
            Self::Sum => "Sum",
            Self::MakeList => "MakeList",
            Self::MakeSet => "MakeSet",
        }
    }
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
    pub aggregates: Vec<AggregateKind>,
    pub group_by_alias_to_aggregate: Vec<(String, Option<AggregateKind>)>,
    pub rewritten_query: String,
    pub has_select_value: bool,
    /// A count of distinct rows; its alias is absent under `SELECT VALUE`.
    pub dcount: Option<Option<String>>,
    pub has_non_streaming_order_by: bool,
}

/// How the rows of a ranking query are fused.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct HybridSearchInfo {
    pub global_statistics_query: String,
    pub components: Vec<QueryInfo>,
    pub components_without_payload: Vec<QueryInfo>,
    pub projection: Option<QueryInfo>,
    pub component_weights: Vec<f64>,
    pub skip: Option<u64>,
    pub take: Option<u64>,
    pub requires_global_statistics: bool,
}

/// Part of the effective partition key space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRange {
    pub min: String,
    pub max: String,
    pub is_min_inclusive: bool,
    pub is_max_inclusive: bool,
}

impl QueryRange {
    /// One key.
    pub fn point(epk: impl Into<String>) -> Self {
        let min = epk.into();
        Self { max: min.clone(), min, is_min_inclusive: true, is_max_inclusive: true }
    }

    /// From `min` up to but not with `max`.
    pub fn half_open(min: impl Into<String>, max: impl Into<String>) -> Self {
        Self { min: min.into(), max: max.into(), is_min_inclusive: true, is_max_inclusive: false }
    }
}

/// Either an ordinary plan or one for ranking.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanKind {
    Query(QueryInfo),
    HybridSearch(HybridSearchInfo),
}

/// The whole answer. `ranges` are sorted by `min` and never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryPlan {
    pub kind: PlanKind,
    pub ranges: Vec<QueryRange>,
}

impl QueryPlan {
    pub fn to_json(&self) -> Vec<u8> {
        let mut body = Vec::new();
        json::write(&self.to_value(), &mut body);
        body
    }

    pub fn to_value(&self) -> Value {
        let (name, info) = match &self.kind {
            PlanKind::Query(info) => ("queryInfo", info.to_value()),
            PlanKind::HybridSearch(info) => ("hybridSearchQueryInfo", info.to_value()),
        };
        object([
            ("partitionedQueryExecutionInfoVersion", Value::from(PLAN_VERSION)),
            (name, info),
            ("queryRanges", list(&self.ranges, QueryRange::to_value)),
        ])
    }
}

impl QueryInfo {
    pub fn to_value(&self) -> Value {
        let aggregate = |kind: &Option<AggregateKind>| kind.map_or(Value::Null, |kind| Value::from(kind.name()));
        let by_alias = self.group_by_alias_to_aggregate.iter();
        let by_alias: Object = by_alias.map(|(alias, kind)| (alias.clone(), aggregate(kind))).collect();
        let dcount = |alias: &Option<String>| object([("dCountAlias", optional(alias.as_deref()))]);
        object([
            ("distinctType", Value::from(self.distinct_type.name())),
            ("top", optional_number(self.top)),
            ("offset", optional_number(self.offset)),
            ("limit", optional_number(self.limit)),
            ("orderBy", list(&self.order_by, |order| Value::from(order.name()))),
            ("orderByExpressions", list(&self.order_by_expressions, |text| Value::from(text.as_str()))),
            ("groupByExpressions", list(&self.group_by_expressions, |text| Value::from(text.as_str()))),
            ("groupByAliases", list(&self.group_by_aliases, |text| Value::from(text.as_str()))),
            ("aggregates", list(&self.aggregates, |kind| Value::from(kind.name()))),
            ("groupByAliasToAggregateType", Value::Object(by_alias)),
            ("rewrittenQuery", Value::from(self.rewritten_query.as_str())),
            ("hasSelectValue", Value::Bool(self.has_select_value)),
            ("dCountInfo", self.dcount.as_ref().map_or(Value::Null, dcount)),
            ("hasNonStreamingOrderBy", Value::Bool(self.has_non_streaming_order_by)),
        ])
    }
}

impl HybridSearchInfo {
    fn to_value(&self) -> Value {
        object([
            ("globalStatisticsQuery", Value::from(self.global_statistics_query.as_str())),
            ("componentQueryInfos", list(&self.components, QueryInfo::to_value)),
            ("componentWithoutPayloadQueryInfos", list(&self.components_without_payload, QueryInfo::to_value)),
            ("projectionQueryInfo", self.projection.as_ref().map_or(Value::Null, QueryInfo::to_value)),
            ("componentWeights", list(&self.component_weights, |weight| Value::from(*weight))),
            ("skip", optional_number(self.skip)),
            ("take", optional_number(self.take)),
            ("requiresGlobalStatistics", Value::Bool(self.requires_global_statistics)),
        ])
    }
}

impl QueryRange {
    fn to_value(&self) -> Value {
        object([
            ("min", Value::from(self.min.as_str())),
            ("max", Value::from(self.max.as_str())),
            ("isMinInclusive", Value::Bool(self.is_min_inclusive)),
            ("isMaxInclusive", Value::Bool(self.is_max_inclusive)),
        ])
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn list<T>(items: &[T], to_value: impl Fn(&T) -> Value) -> Value {
    Value::Array(items.iter().map(to_value).collect())
}

fn optional(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::from)
}

fn optional_number(number: Option<u64>) -> Value {
    number.map_or(Value::Null, Value::from)
}
