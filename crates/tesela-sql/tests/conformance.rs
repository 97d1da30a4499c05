//! The open corpora against the parser, the rules and the printer.
//!
//! The corpora stand beside the repository, in `../shared/conformance/open`; a clone without
//! them skips these tests and says so.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tesela_model::json::{self, Value};
use tesela_sql::ast::{Direction, Query};
use tesela_sql::{code, parse, print, rules};

/// Codes of [`tesela_sql::rules`]; what else a case expects is the binder's to find.
const RULE_CODES: &[&str] = &[
    code::STAR_SOURCES,
    code::STAR_GROUPED,
    code::TOP_RANGE,
    code::LIMIT_RANGE,
    code::OFFSET_RANGE,
    code::SUBQUERY_ORDER,
    code::SUBQUERY_TOP,
    code::SUBQUERY_OFFSET,
    code::RANK_ITERATION,
    code::RANK_JOIN,
    code::RANK_FROM_SUBQUERY,
    code::RANK_IN_SUBQUERY,
];

/// The recorded normal form keeps escapes undecoded and escapes their backslash again
/// (`'\n'` becomes `"\\n"`), which is another string. We decode, as the service evaluates.
const UNDECODED_ESCAPES: &str = "StringLiteral";

/// Recordings of this family name one code each, however many rules the query breaks; other
/// families record all of them, and so do we.
const ONE_CODE_RECORDED: &str = "TestSkipTake";

fn corpus(file: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/open").join(file);
    match std::fs::read_to_string(&path) {
        Ok(text) => text
            .lines()
            .map(|line| json::parse(line.as_bytes()).unwrap_or_else(|error| panic!("{file}: {error}")))
            .collect(),
        Err(error) => {
            eprintln!("SKIPPED: no corpus at {}: {error}", path.display());
            Vec::new()
        }
    }
}

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn squash(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The .NET SDK's normal form names the default direction.
fn with_directions(mut query: Query) -> Query {
    if let Some(order_by) = query.order_by.as_mut().filter(|order_by| !order_by.rank) {
        for item in &mut order_by.items {
            item.direction.get_or_insert(Direction::Ascending);
        }
    }
    query
}

fn assert_round_trip(query: &Query, id: &str) {
    let printed = print(query);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{id}: {error} in {printed}"));
    assert_eq!(&again, query, "{id}: {printed}");
    assert_eq!(print(&again), printed, "{id}");
}

/// Reports all failures of a corpus at once.
fn assert_none(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn accepted_queries_are_parsed_and_grouped_as_recorded() {
    let mut failures = Vec::new();
    for case in corpus("parse.jsonl").iter().filter(|case| text(case, "kind") == "parse_ok") {
        let (id, source) = (text(case, "id"), text(case, "query"));
        let query = match parse(source) {
            Ok(query) => query,
            Err(error) => {
                failures.push(format!("{id}: {error}: {source}"));
                continue;
            }
        };
        assert_round_trip(&query, id);
        let faults = rules::check(&query);
        if text(case, "level") == "semantic" && !faults.is_empty() {
            failures.push(format!("{id}: {faults:?}: {source}"));
        }
        let normalized = case.get("expected").map(|expected| text(expected, "normalized")).unwrap_or_default();
        let printed = squash(&print(&with_directions(query)));
        if !normalized.is_empty() && printed != squash(normalized) && !id.contains(UNDECODED_ESCAPES) {
            failures.push(format!("{id}:\n  {printed}\n  {normalized}"));
        }
    }
    assert_none(&failures);
}

#[test]
fn syntax_errors_are_refused() {
    let mut failures = Vec::new();
    for case in corpus("parse.jsonl").iter().filter(|case| text(case, "kind") == "parse_error") {
        let (id, source) = (text(case, "id"), text(case, "query"));
        if text(case, "level") != "syntax" {
            continue;
        }
        match parse(source) {
            Ok(_) => failures.push(format!("{id}: accepted: {source}")),
            Err(error) => assert_eq!(error.code, code::SYNTAX, "{id}"),
        }
    }
    assert_none(&failures);
}

#[test]
fn rules_report_the_recorded_codes() {
    let mut failures = Vec::new();
    for case in corpus("parse.jsonl").iter().filter(|case| text(case, "kind") == "parse_error") {
        let (id, source) = (text(case, "id"), text(case, "query"));
        let expected: Option<BTreeSet<&str>> = case
            .get("expected")
            .and_then(|expected| expected.get("codes"))
            .and_then(Value::as_array)
            .map(|codes| codes.iter().filter_map(Value::as_str).filter(|code| RULE_CODES.contains(code)).collect());
        let (Some(expected), Ok(query)) = (expected, parse(source)) else { continue };
        let found: BTreeSet<&str> = rules::check(&query).iter().map(|error| error.code).collect();
        let allowed = if id.contains(ONE_CODE_RECORDED) { found.is_superset(&expected) } else { found == expected };
        if !allowed {
            failures.push(format!("{id}: {found:?} for {expected:?}: {source}"));
        }
    }
    assert_none(&failures);
}

#[test]
fn queries_with_results_or_plans_are_parsed() {
    let mut failures = Vec::new();
    for file in ["query.jsonl", "expr.jsonl", "plan.jsonl"] {
        for case in &corpus(file) {
            let (id, source) = (text(case, "id"), text(case, "query"));
            match parse(source) {
                Ok(query) => {
                    assert_round_trip(&query, id);
                    let refused = case.get("error").is_some();
                    let faults = rules::check(&query);
                    if !refused && !faults.is_empty() {
                        failures.push(format!("{id}: {faults:?}: {source}"));
                    }
                }
                Err(error) => failures.push(format!("{id}: {error}: {source}")),
            }
        }
    }
    assert_none(&failures);
}

#[test]
fn rewritten_queries_are_canonical() {
    let mut failures = Vec::new();
    for case in &corpus("plan.jsonl") {
        let rewritten = case
            .get("expected")
            .and_then(|expected| expected.get("queryInfo"))
            .map(|info| text(info, "rewrittenQuery"))
            .unwrap_or_default()
            .replace("({documentdb-formattableorderbyquery-filter})", "true");
        if rewritten.is_empty() {
            continue;
        }
        let printed = parse(&rewritten).map(|query| print(&query)).unwrap_or_else(|error| error.to_string());
        if printed != rewritten {
            failures.push(format!("{}:\n  {printed}\n  {rewritten}", text(case, "id")));
        }
    }
    assert_none(&failures);
}
