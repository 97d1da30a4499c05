//! Plans by example: `scripts/*.script`, one block per query.
//!
//! ```text
//! # comment                    goes with what follows
//! key /tenant /user            the partition key from here on
//! features OrderBy Top         what the client can do from here on; `features all` is the beginning
//!
//! > SELECT * FROM c WHERE c.n = @n
//! > @n = 1                     parameters, as JSON
//! what the plan says, empty fields left out
//! ```
//!
//! With `TESELA_UPDATE_SCRIPTS` set the files are written anew, to be read and judged in the diff.

use super::{key, plan_with, value};
use crate::plan::{
    KeySelection, PlanError, PlanKind, PlanScope, QueryFeature, QueryInfo, QueryPlan, SupportedFeatures,
};
use std::fmt::Write;
use std::path::Path;
use tesela_model::json;
use tesela_model::partition_key::PartitionKeyDefinition;

const UPDATE_VARIABLE: &str = "TESELA_UPDATE_SCRIPTS";

#[test]
fn scripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plan/tests/scripts");
    let mut ran = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let script = std::fs::read_to_string(&path).unwrap();
        let found = run(&script);
        if std::env::var_os(UPDATE_VARIABLE).is_some() {
            std::fs::write(&path, found).unwrap();
        } else {
            assert_eq!(found, script, "{}", path.display());
        }
        ran += 1;
    }
    assert!(ran > 0, "no script was found");
}

struct Setting {
    key: PartitionKeyDefinition,
    features: SupportedFeatures,
    scope: PlanScope,
}

fn run(script: &str) -> String {
    let mut setting = Setting { key: key(&["/pk"]), features: SupportedFeatures::all(), scope: PlanScope::Container };
    let blocks = script.trim_end().split("\n\n").map(|block| run_block(block, &mut setting));
    blocks.collect::<Vec<_>>().join("\n\n") + "\n"
}

/// The block with what the plan says now in place of what it said.
fn run_block(block: &str, setting: &mut Setting) -> String {
    let mut kept = Vec::new();
    let mut query = None;
    let mut parameters = Vec::new();
    for line in block.lines() {
        if let Some(parameter) = line.strip_prefix("> @") {
            let (name, text) = parameter.split_once(" = ").unwrap();
            parameters.push((format!("@{name}"), value(text)));
        } else if let Some(text) = line.strip_prefix("> ") {
            query = Some(text);
        } else if let Some(paths) = line.strip_prefix("key ") {
            setting.key = key(&paths.split(' ').collect::<Vec<_>>());
        } else if line == "features all" {
            setting.features = SupportedFeatures::all();
        } else if let Some(names) = line.strip_prefix("features ") {
            setting.features = SupportedFeatures::from_names(names.split(' '));
        } else if let Some(scope) = line.strip_prefix("scope ") {
            setting.scope = if scope == "one key" { PlanScope::OneKey } else { PlanScope::Container };
        } else if !line.starts_with('#') {
            continue;
        }
        kept.push(line.to_owned());
    }
    if let Some(query) = query {
        let plan = plan_with(query, &parameters, &setting.key, setting.features, setting.scope);
        kept.push(told(&plan));
    }
    kept.join("\n").trim_end().to_owned()
}

fn told(plan: &Result<QueryPlan, PlanError>) -> String {
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => return format!("refused{}: {error}", if error.is_unservable() { " (1004)" } else { "" }),
    };
    let mut out = String::new();
    match &plan.kind {
        PlanKind::Query(info) => tell_info(info, &mut out),
        PlanKind::HybridSearch(info) => {
            writeln!(out, "skip {:?} take {:?} weights {:?}", info.skip, info.take, info.component_weights).unwrap();
            writeln!(out, "statistics: {}", one_line(&info.global_statistics_query)).unwrap();
            assert_eq!(info.requires_global_statistics, !info.global_statistics_query.is_empty());
            for component in &info.components {
                out.push_str("component\n");
                tell_info(component, &mut out);
            }
        }
    }
    if let KeySelection::Keys(keys) = &plan.keys {
        let keys: Vec<String> = keys.iter().map(|key| json::to_string(&key.to_json())).collect();
        writeln!(out, "keys: {}", if keys.is_empty() { "none".to_owned() } else { keys.join(" ") }).unwrap();
    }
    if out.is_empty() { "as written, everywhere".to_owned() } else { out }
}

fn tell_info(info: &QueryInfo, out: &mut String) {
    let mut facts = Vec::new();
    let mut fact = |holds: bool, text: String| facts.extend(holds.then_some(text));
    fact(info.distinct_type != Default::default(), format!("distinct {:?}", info.distinct_type));
    for (name, count) in [("top", info.top), ("offset", info.offset), ("limit", info.limit)] {
        fact(count.is_some(), format!("{name} {}", count.unwrap_or_default()));
    }
    fact(!info.order_by.is_empty(), format!("orderBy {:?} {:?}", info.order_by, info.order_by_expressions));
    fact(info.has_non_streaming_order_by, "non-streaming".to_owned());
    fact(!info.group_by_expressions.is_empty(), format!("groupBy {:?}", info.group_by_expressions));
    fact(!info.aggregates.is_empty(), format!("aggregates {:?}", info.aggregates));
    let kinds = &info.group_by_alias_to_aggregate;
    assert!(kinds.iter().map(|(alias, _)| alias).eq(&info.group_by_aliases), "aliases in two orders");
    fact(!kinds.is_empty(), format!("aliases {kinds:?}"));
    fact(info.has_select_value, "value".to_owned());
    if let Some(alias) = &info.dcount {
        fact(true, format!("dcount {alias:?}"));
    }
    if !facts.is_empty() {
        writeln!(out, "{}", facts.join(", ")).unwrap();
    }
    if !info.rewritten_query.is_empty() {
        writeln!(out, "sent: {}", one_line(&info.rewritten_query)).unwrap();
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " / ")
}

/// Every feature is demanded by some script, so that none is forgotten in the check.
#[test]
fn every_feature_can_be_missing() {
    let script = include_str!("scripts/features.script");
    let refusals: Vec<&str> = script.lines().filter_map(|line| line.strip_prefix("refused (1004): ")).collect();
    for feature in QueryFeature::ALL {
        let named =
            |refusal: &&str| refusal.rsplit(": ").next().unwrap().split(", ").any(|name| name == feature.name());
        assert!(refusals.iter().any(named), "{} is never missed", feature.name());
    }
}
