//! A filter never loses a document with a row; an exact one adds none.

use super::*;
use crate::{CompileContext, ComputedProperty, Execution, ExecutionOptions};
use proptest::prelude::*;
use tesela_model::document::Document;

fn compile(text: &str) -> CompiledQuery {
    CompiledQuery::compile(&tesela_sql::parse(text).unwrap(), &[], &CompileContext::default()).unwrap()
}

fn path(steps: &[&str]) -> DocumentPath {
    let step = |step: &&str| match *step {
        "[]" => PathStep::Each,
        name => name.parse().map_or_else(|_| PathStep::Name(name.to_owned()), PathStep::Index),
    };
    steps.iter().map(step).collect()
}

fn test(steps: &[&str], test: Test) -> Filter {
    Filter::Test(PathTest { path: path(steps), test, computed: false })
}

fn filter(text: &str) -> (Filter, bool) {
    let access = compile(text).access();
    (access.filter, access.exact)
}

#[test]
fn conditions_on_paths_are_said_exactly() {
    let number = |n: i32| Value::from(n);
    for (condition, expected) in [
        ("c.a.b = 5", test(&["a", "b"], Test::Equals(number(5)))),
        ("5 = c.a[0]", test(&["a", "0"], Test::Equals(number(5)))),
        ("c.a != 5", test(&["a"], Test::Differs(number(5)))),
        ("NOT (c.a != 5)", test(&["a"], Test::Equals(number(5)))),
        ("c.a", test(&["a"], Test::Equals(Value::Bool(true)))),
        ("NOT c.a", test(&["a"], Test::Equals(Value::Bool(false)))),
        ("3 < c.a", test(&["a"], range(Bound::Excluded(number(3)), Bound::Unbounded))),
        ("NOT (c.a > 3)", test(&["a"], range(Bound::Unbounded, Bound::Included(number(3))))),
        ("c.a BETWEEN 1 AND 2", test(&["a"], range(Bound::Included(number(1)), Bound::Included(number(2))))),
        ("c.a IN (1, 2)", test(&["a"], Test::OneOf(vec![number(1), number(2)]))),
        ("ARRAY_CONTAINS([1, 2], c.a)", test(&["a"], Test::OneOf(vec![number(1), number(2)]))),
        ("STARTSWITH(c.a, 'x')", test(&["a"], Test::Prefix("x".into()))),
        ("c.a LIKE 'x%'", test(&["a"], Test::Prefix("x".into()))),
        ("c.a LIKE 'x'", test(&["a"], Test::Equals("x".into()))),
        ("IS_DEFINED(c.a)", test(&["a"], Test::Kinds(Kinds::DEFINED))),
        ("NOT IS_DEFINED(c.a)", test(&["a"], Test::Kinds(Kinds::UNDEFINED))),
        ("IS_STRING(c.a)", test(&["a"], Test::Kinds(Kinds::of(Kind::String)))),
        ("ARRAY_CONTAINS(c.a, 1)", test(&["a", "[]"], Test::Equals(number(1)))),
        ("true", Filter::All),
        ("1 > 2", Filter::None),
        ("c.a = 1 AND true", test(&["a"], Test::Equals(number(1)))),
        (
            "NOT (c.a = 1 AND c.b > 'x')",
            Filter::Or(vec![
                test(&["a"], Test::Differs(number(1))),
                test(&["b"], range(Bound::Unbounded, Bound::Included("x".into()))),
            ]),
        ),
    ] {
        assert_eq!(filter(&format!("SELECT * FROM c WHERE {condition}")), (expected, true), "{condition}");
    }
}

fn range(low: Bound<Value>, high: Bound<Value>) -> Test {
    Test::Range { low, high }
}

#[test]
fn what_is_left_to_the_query_makes_the_filter_inexact() {
    let tags = |value: i32| test(&["tags", "[]", "n"], Test::Equals(Value::from(value)));
    for (text, expected) in [
        ("SELECT * FROM c WHERE c.x * 2 = 4", Filter::All),
        ("SELECT * FROM c WHERE c.a = 1 AND c.x * 2 = 4", test(&["a"], Test::Equals(Value::from(1)))),
        ("SELECT * FROM c WHERE c.a = 1 OR c.x * 2 = 4", Filter::All),
        ("SELECT VALUE t FROM c JOIN t IN c.tags WHERE t.n = 3", tags(3)),
        ("SELECT * FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.n = 3)", tags(3)),
        ("SELECT * FROM c WHERE NOT EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.n = 3)", Filter::All),
        (
            "SELECT VALUE r.n FROM (SELECT VALUE {n: c.name} FROM c) AS r WHERE r.n = 'x'",
            test(&["name"], Test::Equals("x".into())),
        ),
        ("SELECT VALUE b FROM c.a.b", test(&["a", "b"], Test::Kinds(Kinds::DEFINED))),
        ("SELECT * FROM c WHERE c.a LIKE 'x%y'", test(&["a"], Test::Prefix("x".into()))),
        ("SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, {n: 3, m: {}}, true)", tags(3)),
    ] {
        assert_eq!(filter(text), (expected, false), "{text}");
    }
}

#[test]
fn computed_properties_are_paths_of_the_index() {
    let computed = [ComputedProperty { name: "lower".into(), query: "SELECT VALUE LOWER(c.name) FROM c".into() }];
    let context = CompileContext { computed_properties: &computed, ..CompileContext::default() };
    let query = tesela_sql::parse("SELECT * FROM c WHERE c.lower = 'x' ORDER BY c.lower").unwrap();
    let access = CompiledQuery::compile(&query, &[], &context).unwrap().access();
    let expected = PathTest { path: path(&["lower"]), test: Test::Equals("x".into()), computed: true };
    assert_eq!(access.filter, Filter::Test(expected));
    assert_eq!(access.order_by, [(path(&["lower"]), Direction::Ascending)]);
}

#[test]
fn a_count_needs_no_documents() {
    for (text, counts) in [
        ("SELECT VALUE COUNT(1) FROM c", true),
        ("SELECT COUNT(c) AS n, COUNT(true) FROM c WHERE c.a = 1", true),
        ("SELECT VALUE COUNT(c.a) FROM c", false),
        ("SELECT VALUE COUNT(1) FROM c GROUP BY c.a", false),
        ("SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags", false),
        ("SELECT VALUE SUM(1) FROM c", false),
    ] {
        assert_eq!(compile(text).access().counts_only, counts, "{text}");
    }
    let query = compile("SELECT COUNT(1) AS n FROM c WHERE c.a = 1");
    let mut execution = Execution::new(&query, ExecutionOptions::default());
    execution.push_count(40);
    execution.push_count(2);
    assert_eq!(execution.finish().unwrap()[0].json, br#"{"n":42}"#);
}

/// Conditions of every shape the derivation knows, and some it does not.
const ATOMS: &[&str] = &[
    "c.a = 1",
    "c.a != 1",
    "c.a < 'b'",
    "c.a >= 0",
    "c.a <= true",
    "c.a > null",
    "2 > c.a",
    "c.a = c.b",
    "c.a",
    "c.b",
    "c.a BETWEEN 0 AND 1",
    "c.a NOT BETWEEN 0 AND 1",
    "c.a BETWEEN 'a' AND 2",
    "c.a NOT BETWEEN 'a' AND 2",
    "c.a IN (1, 'ab', null)",
    "c.a NOT IN (1, true)",
    "c.a LIKE 'a%'",
    "c.a NOT LIKE 'a_'",
    "c.a LIKE 'ab'",
    "IS_DEFINED(c.a)",
    "IS_STRING(c.a)",
    "IS_NULL(c.b)",
    "IS_PRIMITIVE(c.a)",
    "IS_INTEGER(c.a)",
    "STARTSWITH(c.a, 'a')",
    "STARTSWITH(c.a, 'A', true)",
    "CONTAINS(c.a, 'b')",
    "StringEquals(c.a, 'ab')",
    "REGEXMATCH(c.a, 'b$')",
    "ARRAY_CONTAINS(c.list, 1)",
    "ARRAY_CONTAINS(c.list, {x: 1}, true)",
    "ARRAY_CONTAINS([1, 2], c.a)",
    "ARRAY_CONTAINS([], c.a)",
    "ARRAY_CONTAINS_ANY(c.list, 1, 'q')",
    "ARRAY_CONTAINS_ALL(c.list, 1, 2)",
    "c.list = [1]",
    "c.list[0] = 1",
    "c.list < [2]",
    "EXISTS(SELECT VALUE t FROM t IN c.list WHERE t = 1)",
    "EXISTS(SELECT VALUE t FROM t IN c.list WHERE NOT IS_DEFINED(t.x))",
    "c.o.x = 1",
    "undefined",
    "true",
    "false",
    "c.a + 1 = 2",
    "(c.a ?? 1) = 1",
    "(c.a ? c.b : true)",
];

fn condition() -> impl Strategy<Value = String> {
    let atom = (0..ATOMS.len()).prop_map(|index| format!("({})", ATOMS[index]));
    atom.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" AND "))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" OR "))),
            inner.prop_map(|one| format!("(NOT {one})")),
        ]
    })
}

fn document() -> impl Strategy<Value = String> {
    let scalar =
        || prop_oneof!["null", "true", "false", "-1", "0", "1", "1\\.0", "2", "\"a\"", "\"ab\"", "\"b\"", "\"q\""];
    let value = prop_oneof![
        4 => scalar(),
        1 => prop::collection::vec(scalar(), 0..3).prop_map(|all| format!("[{}]", all.join(","))),
        1 => scalar().prop_map(|one| format!(r#"{{"x":{one}}}"#)),
    ];
    let list = prop::collection::vec(value.clone(), 0..3).prop_map(|all| format!("[{}]", all.join(",")));
    let field = |value: BoxedStrategy<String>| prop::option::weighted(0.8, value);
    (field(value.clone().boxed()), field(value.clone().boxed()), field(list.boxed()), field(value.boxed())).prop_map(
        |(a, b, list, o)| {
            let members = [("a", a), ("b", b), ("list", list), ("o", o)];
            let written = members.into_iter().filter_map(|(name, value)| Some(format!(r#""{name}":{}"#, value?)));
            format!("{{{}}}", written.collect::<Vec<_>>().join(","))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_document_with_a_row_passes(condition in condition(), document in document()) {
        let query = compile(&format!("SELECT VALUE 1 FROM c WHERE {condition}"));
        let document = Document::encode(document.as_bytes()).unwrap();
        let mut execution = Execution::new(&query, ExecutionOptions::default());
        execution.push(document.root(), 1).unwrap();
        let has_row = !execution.finish().unwrap().is_empty();
        let access = query.access();
        let admitted = access.filter.admits(document.root());
        prop_assert!(admitted || !has_row, "{:?} loses {}", access.filter, document.text());
        prop_assert!(has_row || !admitted || !access.exact, "{:?} adds {}", access.filter, document.text());
    }
}
