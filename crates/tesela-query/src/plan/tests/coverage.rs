//! No document of an answer lies outside the ranges of its plan, whatever the condition (R18).

use super::{definition, key, plan_of};
use crate::bind::{CompileContext, CompiledQuery, ComputedProperty};
use crate::execution::{Execution, ExecutionOptions};
use crate::plan::{KeySelection, QueryRange, is_servable_by_gateway, select_keys};
use proptest::prelude::*;
use tesela_model::document::Document;
use tesela_model::epk::{Epk, effective_partition_key};
use tesela_model::partition_key::{PartitionKeyDefinition, PartitionKeyKind};

/// Values of the key, in the spelling of queries and documents alike.
const VALUES: [&str; 13] =
    ["null", "true", "false", "0", "-0.0", "1", "-1", "1.5", "\"\"", "\"x\"", "\"1\"", "{}", "[1]"];

fn literal() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&VALUES[..])
}

/// An operand: often the key, sometimes not.
fn operand() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["c.a", "c.a", "c[\"a\"]", "c.b", "c.b", "c.x", "ABS(c.a)", "undefined", "(c.a ?? c.b)"])
}

fn leaf() -> impl Strategy<Value = String> {
    let literals = || prop::collection::vec(literal(), 1..12);
    prop_oneof![
        (operand(), prop::sample::select(vec!["=", "=", "=", "!=", "<", ">="]), literal())
            .prop_map(|(operand, op, literal)| format!("({operand} {op} {literal})")),
        (literal(), operand()).prop_map(|(literal, operand)| format!("({literal} = {operand})")),
        (operand(), operand()).prop_map(|(left, right)| format!("({left} = {right})")),
        (operand(), prop::bool::ANY, literals()).prop_map(|(operand, not, items)| {
            format!("({operand} {} ({}))", if not { "NOT IN" } else { "IN" }, items.join(", "))
        }),
        (operand(), literals(), prop::bool::ANY).prop_map(|(operand, items, partial)| format!(
            "ARRAY_CONTAINS([{}], {operand}, {partial})",
            items.join(", ")
        )),
        (prop::sample::select(vec!["IS_NULL", "IS_BOOL", "IS_DEFINED", "IS_OBJECT", "IS_NUMBER"]), operand())
            .prop_map(|(test, operand)| format!("{test}({operand})")),
        (operand(), literal(), literal())
            .prop_map(|(operand, low, high)| format!("({operand} BETWEEN {low} AND {high})")),
        operand().prop_map(str::to_owned),
        literal().prop_map(str::to_owned),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        let several = |inner: BoxedStrategy<String>| prop::collection::vec(inner, 2..4);
        let inner = inner.boxed();
        prop_oneof![
            several(inner.clone()).prop_map(|all| format!("({})", all.join(" AND "))),
            several(inner.clone()).prop_map(|all| format!("({})", all.join(" OR "))),
            inner.clone().prop_map(|one| format!("(NOT {one})")),
            (inner.clone(), prop::bool::ANY).prop_map(|(one, value)| format!("({one} = {value})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} ?? {b})")),
            inner.clone().prop_map(|one| format!("EXISTS(SELECT VALUE t FROM t IN c.tags WHERE {one})")),
            inner.clone().prop_map(|one| format!("(NOT EXISTS(SELECT VALUE t FROM t IN c.tags WHERE {one}))")),
            inner.clone().prop_map(|one| format!("(1 = (SELECT VALUE c.x FROM c WHERE {one}))")),
            inner.clone().prop_map(|one| format!("(NOT IS_NULL((SELECT VALUE c.x FROM c WHERE {one})))")),
            inner.prop_map(|one| format!("(0 = (SELECT VALUE COUNT(1) FROM t IN c.tags WHERE {one}))")),
        ]
    })
}

/// Every pair of key values, with and without the property beside them.
fn documents() -> Vec<Document> {
    let member =
        |name: &str, value: &str| if value.is_empty() { String::new() } else { format!("\"{name}\":{value},") };
    let values = || VALUES.into_iter().chain([""]);
    let pairs = values().flat_map(|a| values().map(move |b| (a, b)));
    pairs
        .enumerate()
        .map(|(at, (a, b))| {
            let x = if at % 2 == 0 { "1" } else { "" };
            let text = format!("{{{}{}{}\"tags\":[1]}}", member("a", a), member("b", b), member("x", x));
            Document::encode(text.as_bytes()).unwrap()
        })
        .collect()
}

fn definitions() -> Vec<PartitionKeyDefinition> {
    vec![
        key(&["/a"]),
        key(&["/a", "/b"]),
        definition(&["/a"], PartitionKeyKind::Hash, Some(1)),
        definition(&["/a", "/b"], PartitionKeyKind::Hash, Some(2)),
        definition(&["/a", "/b"], PartitionKeyKind::Range, Some(1)),
    ]
}

fn satisfies(query: &CompiledQuery, document: &Document) -> bool {
    let mut execution = Execution::new(query, ExecutionOptions::default());
    execution.push(document.root(), 1).unwrap();
    !execution.take_rows().is_empty() || !execution.finish().unwrap().is_empty()
}

fn covered(ranges: &[QueryRange], epk: &Epk) -> bool {
    ranges.iter().any(|range| range.contains(epk))
}

fn check(condition: &str, from: &str) -> Result<(), TestCaseError> {
    let text = format!("SELECT VALUE 1 FROM {from} WHERE {condition}");
    let parsed = tesela_sql::parse(&text).unwrap();
    let query = CompiledQuery::compile(&parsed, &[], &CompileContext::default()).unwrap();
    let answer: Vec<Document> = documents().into_iter().filter(|document| satisfies(&query, document)).collect();
    for definition in definitions() {
        let plan = plan_of(&text, &definition).unwrap();
        prop_assert!(plan.ranges.is_sorted_by(|a, b| a.max < b.min), "{text}: {:?}", plan.ranges);
        for document in &answer {
            let epk = effective_partition_key(&definition.extract(document.root()), &definition);
            prop_assert!(covered(&plan.ranges, &epk), "{text} {:?} loses {}", definition.kind, document.text());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_document_is_lost(condition in condition()) {
        check(&condition, "c")?;
    }

    #[test]
    fn no_document_is_lost_behind_subqueries(inner in condition(), outer in condition()) {
        check(&outer, &format!("(SELECT VALUE c FROM c WHERE {inner}) AS c"))?;
    }
}

/// Thousands of branches give thousands of points, in one pass.
#[test]
fn long_disjunctions_stay_exact() {
    let branches: Vec<String> = (0..20_000).map(|at| format!("c.pk=\"k{at}\"")).collect();
    let plan = plan_of(&format!("SELECT * FROM c WHERE {}", branches.join(" OR ")), &key(&["/pk"])).unwrap();
    assert_eq!(plan.ranges.len(), 20_000);

    // Pairs, as clients write when they read many items at once.
    let branches: Vec<String> = (0..8_000).map(|at| format!("(c.t=\"t{at}\" AND c.u={})", at + 1)).collect();
    let text = format!("SELECT * FROM c WHERE ({}) AND c.n = 1 AND c.t != 2", branches.join(" OR "));
    let plan = plan_of(&text, &key(&["/t", "/u"])).unwrap();
    assert_eq!(plan.ranges.len(), 8_000);
    assert!(plan.ranges.iter().all(QueryRange::is_point));
}

/// What would be millions of keys is named by their prefixes.
#[test]
fn products_fall_back_to_prefixes() {
    let list = (1..=500).map(|at| at.to_string()).collect::<Vec<_>>().join(", ");
    let plan = plan_of(
        &format!("SELECT * FROM c WHERE c.a IN ({list}) AND c.b IN ({list}) AND c.c IN ({list})"),
        &key(&["/a", "/b", "/c"]),
    );
    let KeySelection::Keys(keys) = plan.unwrap().keys else { panic!("all keys") };
    assert_eq!(keys.len(), 500);
    assert!(keys.iter().all(|key| key.components().len() == 1));
}

/// Ranges in hex, without the corpus: everything, nothing, a point of version 1, a prefix with a point inside it.
#[test]
fn ranges_are_where_keys_hash_to() {
    let told = |text: &str, definition: &PartitionKeyDefinition| {
        let told = |range: &QueryRange| {
            let end = if range.is_max_inclusive { "]" } else { ")" };
            assert!(range.is_min_inclusive);
            format!("[{},{}{end}", range.min, range.max)
        };
        plan_of(text, definition).unwrap().ranges.iter().map(told).collect::<Vec<_>>().join(" ")
    };
    let version_1 = definition(&["/pk"], PartitionKeyKind::Hash, None);
    assert_eq!(told("SELECT * FROM c", &version_1), "[,FF)");
    assert_eq!(told("SELECT * FROM c WHERE false", &version_1), "[,]");
    assert_eq!(told("SELECT * FROM c WHERE NOT IS_DEFINED(c.pk)", &version_1), "[05C1D529E345DC00,05C1D529E345DC00]");
    let levels = key(&["/a", "/b"]);
    let below = told("SELECT * FROM c WHERE c.a = 1", &levels);
    let point = below[1..].split(',').next().unwrap();
    assert_eq!(below, format!("[{point},{point}FF)"));
    assert_eq!(told("SELECT * FROM c WHERE c.a = 1 OR (c.a = 1 AND c.b = 2)", &levels), below);
}

/// A computed property hides the stored one, so a condition on it tells nothing of the key.
#[test]
fn computed_properties_are_no_keys() {
    let computed = [ComputedProperty { name: "pk".to_owned(), query: "SELECT VALUE LOWER(c.name) FROM c".to_owned() }];
    let context = CompileContext { computed_properties: &computed, ..CompileContext::default() };
    let query = tesela_sql::parse("SELECT * FROM c WHERE c.pk = \"x\"").unwrap();
    let compiled = CompiledQuery::compile(&query, &[], &context).unwrap();
    assert_eq!(select_keys(&compiled, &key(&["/pk"]), &context), KeySelection::All);

    let computed = [ComputedProperty { name: "other".to_owned(), query: "SELECT VALUE c.pk FROM c".to_owned() }];
    let context = CompileContext { computed_properties: &computed, ..CompileContext::default() };
    let query = tesela_sql::parse("SELECT * FROM c WHERE c.other = \"x\"").unwrap();
    let compiled = CompiledQuery::compile(&query, &[], &context).unwrap();
    assert!(select_keys(&compiled, &key(&["/pk"]), &context).pins_whole_key(&key(&["/pk"])));
}

/// R18: what the service's gateway passes on by itself, and what it leaves to clients (400/1004).
#[test]
fn the_gateway_serves_what_needs_no_merging() {
    for (text, served) in [
        ("SELECT * FROM c WHERE c.n > 1", true),
        ("SELECT VALUE t FROM c JOIN t IN c.tags", true),
        ("SELECT (SELECT VALUE COUNT(1) FROM t IN c.tags) AS n FROM c", true),
        ("SELECT c.id FROM c JOIN (SELECT DISTINCT VALUE t FROM t IN c.tags) AS t", true),
        ("SELECT TOP 1 VALUE 1", true),
        ("SELECT VALUE r FROM (SELECT VALUE c FROM c) AS r", true),
        ("SELECT TOP 1 * FROM c", false),
        ("SELECT * FROM c OFFSET 0 LIMIT 1", false),
        ("SELECT * FROM c ORDER BY c.n", false),
        ("SELECT * FROM c ORDER BY RANK FullTextScore(c.t, \"x\")", false),
        ("SELECT DISTINCT c.n FROM c", false),
        ("SELECT c.n FROM c GROUP BY c.n", false),
        ("SELECT VALUE count(1) FROM c", false),
        ("SELECT MAX(c.n) - 1 FROM c", false),
        ("SELECT VALUE r FROM (SELECT DISTINCT c.n FROM c) AS r", false),
    ] {
        assert_eq!(is_servable_by_gateway(&tesela_sql::parse(text).unwrap()), served, "{text}");
    }
}

/// R18: which queries one partition answers though crossing was not allowed.
#[test]
fn whole_keys_are_pinned() {
    let single = key(&["/pk"]);
    let levels = key(&["/a", "/b"]);
    for (text, definition, pinned) in [
        ("SELECT * FROM c WHERE c.pk = 1 AND c.n > 2", &single, true),
        ("SELECT * FROM c WHERE c.pk = 0", &single, true),
        ("SELECT * FROM c WHERE c.pk IN (1, 1.0)", &single, true),
        ("SELECT * FROM c WHERE c.pk = 1 AND c.pk = 2", &single, true),
        ("SELECT * FROM c WHERE c.pk IN (1, 2)", &single, false),
        ("SELECT * FROM c WHERE c.n = 1", &single, false),
        ("SELECT * FROM r WHERE r.a = 1 AND r.b = 2", &levels, true),
        ("SELECT * FROM r WHERE r.a = 1", &levels, false),
    ] {
        assert_eq!(plan_of(text, definition).unwrap().keys.pins_whole_key(definition), pinned, "{text}");
    }
}
