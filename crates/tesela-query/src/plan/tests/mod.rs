//! Plans as a client would see them.

mod corpus;
mod coverage;
mod merging;
mod scripts;

use super::{PlanContext, PlanError, PlanScope, QueryPlan, SupportedFeatures, plan};
use crate::bind::CompileContext;
use tesela_model::json::{self, Value};
use tesela_model::partition_key::{PartitionKeyDefinition, PartitionKeyKind, PropertyPath};

/// A key over these paths: version 2, hierarchical if there are several.
fn key(paths: &[&str]) -> PartitionKeyDefinition {
    let kind = if paths.len() > 1 { PartitionKeyKind::MultiHash } else { PartitionKeyKind::Hash };
    definition(paths, kind, Some(2))
}

fn definition(paths: &[&str], kind: PartitionKeyKind, version: Option<u8>) -> PartitionKeyDefinition {
    let paths = paths.iter().map(|path| PropertyPath::parse(path).unwrap()).collect();
    PartitionKeyDefinition { paths, kind, version, system_key: false }
}

fn value(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap()
}

/// The plan for a client that can do everything.
fn plan_of(text: &str, definition: &PartitionKeyDefinition) -> Result<QueryPlan, PlanError> {
    plan_with(text, &[], definition, SupportedFeatures::all(), PlanScope::Container)
}

fn plan_with(
    text: &str,
    parameters: &[(String, Value)],
    definition: &PartitionKeyDefinition,
    features: SupportedFeatures,
    scope: PlanScope,
) -> Result<QueryPlan, PlanError> {
    let query = tesela_sql::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    let compile = CompileContext::default();
    plan(&query, parameters, definition, features, &PlanContext { scope, compile: &compile })
}
