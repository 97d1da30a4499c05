//! Why there is no plan.

use super::feature::QueryFeature;
use crate::error::QueryError;
use tesela_sql::Span;

/// Why a query cannot be run range by range by the client that asks. All are the client's to mend (400 on the wire);
/// see [`PlanError::is_unservable`] for the sub-status.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The query itself is wrong.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The plan would leave something to the client that it does not offer.
    #[error("the query needs features the client did not list as supported: {}", list(.0))]
    MissingFeatures(Vec<QueryFeature>),
    /// Partial results can be merged for a bare aggregate only.
    #[error(
        "compositions of aggregates and other expressions cannot be merged across partitions: \
         select each aggregate by itself"
    )]
    ComposedAggregate { span: Span },
    /// A part of the query must see the documents of all partitions before the rest can go on.
    #[error("{clause} cannot be merged across partitions: give a partition key or let the gateway run the query")]
    NotDistributable { clause: &'static str, span: Span },
}

impl PlanError {
    /// Whether the query is right and could be served, but not by this client across partitions: sub-status 1004.
    pub fn is_unservable(&self) -> bool {
        match self {
            Self::Query(_) => false,
            Self::MissingFeatures(_) | Self::ComposedAggregate { .. } | Self::NotDistributable { .. } => true,
        }
    }
}

fn list(features: &[QueryFeature]) -> String {
    features.iter().map(|feature| feature.name()).collect::<Vec<_>>().join(", ")
}
