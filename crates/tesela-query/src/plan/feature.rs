//! What a plan asks of its client, and what clients say they can do.
//!
//! The needs are read off the finished plan: whatever it leaves to the client to do is a feature the client must have
//! listed. So no rewrite can need something that is not checked.

use super::info::{DistinctType, HybridSearchInfo, PlanKind, QueryInfo};
use crate::aggregate::AggregateKind;

/// Something a plan may leave to the client, by its name on the wire.
///
/// The wire knows three more (`CompositeAggregate`, `HybridSearchSkipOrderByRewrite`, `GenerateEmbeddings`); no plan of
/// ours needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueryFeature {
    Aggregate,
    CountIf,
    DCount,
    Distinct,
    GroupBy,
    HybridSearch,
    ListAndSetAggregate,
    MultipleAggregates,
    MultipleOrderBy,
    NonStreamingOrderBy,
    NonValueAggregate,
    OffsetAndLimit,
    OrderBy,
    Top,
    WeightedRankFusion,
}

impl QueryFeature {
    pub const ALL: [Self; 15] = [
        Self::Aggregate,
        Self::CountIf,
        Self::DCount,
        Self::Distinct,
        Self::GroupBy,
        Self::HybridSearch,
        Self::ListAndSetAggregate,
        Self::MultipleAggregates,
        Self::MultipleOrderBy,
        Self::NonStreamingOrderBy,
        Self::NonValueAggregate,
        Self::OffsetAndLimit,
        Self::OrderBy,
        Self::Top,
        Self::WeightedRankFusion,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Aggregate => "Aggregate",
            Self::CountIf => "CountIf",
            Self::DCount => "DCount",
            Self::Distinct => "Distinct",
            Self::GroupBy => "GroupBy",
            Self::HybridSearch => "HybridSearch",
            Self::ListAndSetAggregate => "ListAndSetAggregate",
            Self::MultipleAggregates => "MultipleAggregates",
            Self::MultipleOrderBy => "MultipleOrderBy",
            Self::NonStreamingOrderBy => "NonStreamingOrderBy",
            Self::NonValueAggregate => "NonValueAggregate",
            Self::OffsetAndLimit => "OffsetAndLimit",
            Self::OrderBy => "OrderBy",
            Self::Top => "Top",
            Self::WeightedRankFusion => "WeightedRankFusion",
        }
    }
}

/// The features of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SupportedFeatures(u32);

impl SupportedFeatures {
    pub const NONE: Self = Self(0);

    pub fn all() -> Self {
        QueryFeature::ALL.into_iter().collect()
    }

    /// From names in any case; those unknown here do not matter here.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let known = |name: &str| QueryFeature::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(name));
        names.into_iter().filter_map(known).collect()
    }

    pub const fn contains(self, feature: QueryFeature) -> bool {
        self.0 & 1 << feature as u32 != 0
    }
}

impl FromIterator<QueryFeature> for SupportedFeatures {
    fn from_iter<I: IntoIterator<Item = QueryFeature>>(features: I) -> Self {
        Self(features.into_iter().fold(0, |bits, feature| bits | 1 << feature as u32))
    }
}

/// What the plan leaves to the client, each feature once.
pub(super) fn needed(kind: &PlanKind) -> Vec<QueryFeature> {
    match kind {
        PlanKind::Query(info) => needed_to_merge(info),
        PlanKind::HybridSearch(info) => needed_to_fuse(info),
    }
}

fn needed_to_fuse(info: &HybridSearchInfo) -> Vec<QueryFeature> {
    let weighted = (!info.component_weights.is_empty()).then_some(QueryFeature::WeightedRankFusion);
    [QueryFeature::HybridSearch].into_iter().chain(weighted).collect()
}

fn needed_to_merge(info: &QueryInfo) -> Vec<QueryFeature> {
    let named = info.group_by_alias_to_aggregate.iter().filter_map(|(_, kind)| *kind);
    let aggregates: Vec<AggregateKind> = info.aggregates.iter().copied().chain(named).collect();
    let has = |kinds: &[AggregateKind]| aggregates.iter().any(|kind| kinds.contains(kind));
    let grouped = !info.group_by_expressions.is_empty();
    let needs = |feature| match feature {
        QueryFeature::Aggregate => !aggregates.is_empty(),
        QueryFeature::CountIf => has(&[AggregateKind::CountIf]),
        QueryFeature::DCount => info.dcount.is_some(),
        QueryFeature::Distinct => info.distinct_type != DistinctType::None,
        QueryFeature::GroupBy => grouped,
        QueryFeature::ListAndSetAggregate => has(&[AggregateKind::MakeList, AggregateKind::MakeSet]),
        QueryFeature::MultipleAggregates => aggregates.len() > 1,
        QueryFeature::MultipleOrderBy => info.order_by.len() > 1,
        QueryFeature::NonStreamingOrderBy => info.has_non_streaming_order_by,
        QueryFeature::NonValueAggregate => !aggregates.is_empty() && !grouped && !info.has_select_value,
        QueryFeature::OffsetAndLimit => info.offset.is_some() || info.limit.is_some(),
        QueryFeature::OrderBy => !info.order_by.is_empty(),
        QueryFeature::Top => info.top.is_some(),
        QueryFeature::HybridSearch | QueryFeature::WeightedRankFusion => false,
    };
    QueryFeature::ALL.into_iter().filter(|feature| needs(*feature)).collect()
}
