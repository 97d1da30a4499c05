//! Random documents, policies, queries, scopes and page sizes.

use super::{Ask, Bench, compile};
use crate::query::PageError;
use crate::read::FeedScope;
use proptest::prelude::*;
use std::time::Duration;
use tesela_model::epk::{Epk, EpkRange};

/// What happens before the query.
#[derive(Clone, Debug)]
enum Step {
    Put {
        pk: u8,
        id: u8,
        members: String,
        indexed: bool,
    },
    Delete {
        pk: u8,
        id: u8,
    },
    /// Seconds go by.
    Wait(u8),
    /// A query that makes the partition remember who lacks a path.
    Order(&'static str),
}

fn any_value() -> impl Strategy<Value = String> {
    let long = |tail: &str| format!("\"{}{tail}\"", "x".repeat(252));
    let fixed = prop::sample::select(vec![
        "null".to_owned(),
        "true".to_owned(),
        "false".to_owned(),
        "1.5".to_owned(),
        "-0".to_owned(),
        "1e300".to_owned(),
        "[]".to_owned(),
        "[2,\"a\"]".to_owned(),
        "[1]".to_owned(),
        "{}".to_owned(),
        "{\"x\":1}".to_owned(),
        "{\"x\":\"a\",\"y\":[3]}".to_owned(),
        long(""),
        long("abcdefgh"),
        long("abcdez"),
        long("\u{1F600}"),
    ]);
    prop_oneof![3 => (0..6_i32).prop_map(|n| n.to_string()), 3 => "\"[abc]{0,2}\"", 2 => fixed]
}

fn any_members() -> impl Strategy<Value = String> {
    let member = (prop::sample::select(vec!["a", "b", "c", "no"]), any_value());
    let tags = prop::option::of(prop::collection::vec(any_value(), 0..3));
    let ttl = prop::option::weighted(0.2, prop::sample::select(vec![-1, 5, 50]));
    (prop::collection::btree_map(member.0, member.1, 0..4), tags, ttl).prop_map(|(members, tags, ttl)| {
        let mut text: String = members.iter().map(|(name, value)| format!(",\"{name}\":{value}")).collect();
        if let Some(tags) = tags {
            text += &format!(",\"tags\":[{}]", tags.join(","));
        }
        if let Some(ttl) = ttl {
            text += &format!(",\"ttl\":{ttl}");
        }
        text
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0..3_u8, 0..20_u8, any_members(), prop::bool::weighted(0.98))
            .prop_map(|(pk, id, members, indexed)| Step::Put { pk, id, members, indexed }),
        2 => (0..3_u8, 0..20_u8).prop_map(|(pk, id)| Step::Delete { pk, id }),
        1 => (0..20_u8).prop_map(Step::Wait),
        1 => prop::sample::select(vec!["a", "b", "c"]).prop_map(Step::Order),
    ]
}

fn any_definition() -> impl Strategy<Value = String> {
    let policy = prop::sample::select(vec![
        r#"{}"#,
        r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/no/*"}]}"#,
        r#"{"includedPaths":[{"path":"/a/?"},{"path":"/tags/[]/?"}],"excludedPaths":[{"path":"/*"}]}"#,
        r#"{"indexingMode":"none","automatic":false}"#,
        r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}],[{"path":"/b"},{"path":"/c"}]]}"#,
        r#"{"compositeIndexes":[[{"path":"/b","order":"descending"},{"path":"/a"},{"path":"/c"}],[{"path":"/c","order":"descending"},{"path":"/a","order":"descending"}]]}"#,
    ]);
    let ttl = prop::sample::select(vec!["", r#","defaultTtl":-1"#, r#","defaultTtl":10"#]);
    (policy, ttl).prop_map(|(policy, ttl)| format!(r#","indexingPolicy":{policy}{ttl}"#))
}

fn any_constant() -> impl Strategy<Value = String> {
    any_value().prop_map(|value| if value == "-0" { "0".to_owned() } else { value })
}

fn any_scalar() -> impl Strategy<Value = String> {
    any_constant().prop_filter("comparisons are of scalars", |value| !value.starts_with(['[', '{']))
}

fn any_path() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["c.a", "c.b", "c.c", "c.no", "c.a.x", "c.a[0]", "c.id", "c.twice", "c.pk"])
}

fn any_condition() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => (any_path(), prop::sample::select(vec!["=", "!=", "<", "<=", ">", ">="]), any_constant())
            .prop_map(|(path, op, value)| format!("{path} {op} {value}")),
        1 => (any_path(), any_scalar(), any_scalar())
            .prop_map(|(path, low, high)| format!("({path} BETWEEN {low} AND {high})")),
        1 => (any_path(), prop::collection::vec(any_constant(), 1..4))
            .prop_map(|(path, values)| format!("{path} IN ({})", values.join(", "))),
        1 => (any_path(), "[abx]{0,2}").prop_map(|(path, prefix)| format!("STARTSWITH({path}, '{prefix}')")),
        1 => (any_path(), prop::sample::select(vec!["IS_DEFINED", "IS_STRING", "IS_NUMBER", "IS_ARRAY", "IS_PRIMITIVE"]))
            .prop_map(|(path, check)| format!("{check}({path})")),
        1 => any_constant().prop_map(|value| format!("ARRAY_CONTAINS(c.tags, {value})")),
        1 => (any_scalar(), any_scalar())
            .prop_map(|(low, high)| format!("EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t > {low} AND t < {high})")),
        1 => any_path().prop_map(|path| format!("{path} * 2 > 3")),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("({})", parts.join(" AND "))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("({})", parts.join(" OR "))),
            inner.prop_map(|part| format!("NOT ({part})")),
        ]
    })
}

fn any_query() -> impl Strategy<Value = String> {
    let select = prop::sample::select(vec![
        ("", "c.id, c._rid", "", "", true),
        ("TOP 7 ", "VALUE c.id", "", "", true),
        ("", "VALUE c.id", "", "OFFSET 2 LIMIT 6", true),
        ("", "c.id, t", "JOIN t IN c.tags", "", true),
        ("DISTINCT ", "VALUE c.a", "", "", true),
        ("", "VALUE COUNT(1)", "", "", false),
        ("", "COUNT(1) AS n, MAX(c.a) AS m", "", "", false),
        ("", "c.b, COUNT(1) AS n", "", "GROUP BY c.b", false),
    ]);
    let order = prop::sample::select(vec![
        "",
        "ORDER BY c.a",
        "ORDER BY c.a DESC",
        "ORDER BY c.b",
        "ORDER BY c.b DESC",
        "ORDER BY c.no",
        "ORDER BY c._ts DESC",
        "ORDER BY c.a, c.b DESC",
        "ORDER BY c.a DESC, c.b",
        "ORDER BY c.b, c.c",
        "ORDER BY c.b DESC, c.c DESC",
        "ORDER BY c.b DESC, c.a, c.c",
        "ORDER BY c.c, c.a",
        "ORDER BY c.a, c.c",
        "ORDER BY c.a DESC, c.c DESC",
        "ORDER BY c.twice",
    ]);
    (select, prop::option::of(any_condition()), order).prop_map(|(select, condition, order)| {
        let (top, list, join, tail, orders) = select;
        let condition = condition.map_or(String::new(), |condition| format!("WHERE {condition}"));
        let order = if orders { order } else { "" };
        format!("SELECT {top}{list} FROM c {join} {condition} {order} {tail}")
    })
}

fn any_scope() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0_u8), 2 => 1..4_u8, 1 => 4..7_u8]
}

fn scope(bench: &Bench, number: u8) -> FeedScope {
    let point = |text: &str| Epk::from_hex(text).unwrap();
    match number {
        0 => FeedScope::All,
        1..=3 => FeedScope::Logical(bench.key(&(number - 1).to_string()).epk),
        4 => FeedScope::Range(EpkRange::full()),
        5 => FeedScope::Range(EpkRange::new(point(""), point("20")).unwrap()),
        _ => FeedScope::Range(EpkRange::new(point("20"), point("FF")).unwrap()),
    }
}

async fn perform(bench: &Bench, step: &Step) {
    match step {
        Step::Put { pk, id, members, indexed } => {
            bench.put(&format!(r#"{{"id":"{id}","pk":{pk}{members}}}"#), *indexed).await;
        }
        Step::Delete { pk, id } => bench.delete(&pk.to_string(), &id.to_string()).await,
        Step::Wait(seconds) => bench.env.advance(Duration::from_secs(u64::from(*seconds))),
        Step::Order(path) => {
            let query = compile(&format!("SELECT VALUE c.id FROM c ORDER BY c.{path}"));
            let _ = bench.rows(&Ask::all(&query, 100)).await;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Index answer = scan answer, and paging at any size gives the same rows.
    #[test]
    fn every_way_gives_the_same_answer(
        definition in any_definition(),
        steps in prop::collection::vec(any_step(), 0..60),
        queries in prop::collection::vec((any_query(), any_scope(), 1..9_usize), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new(&definition).await;
            for step in &steps {
                perform(&bench, step).await;
            }
            for (text, number, items) in &queries {
                let query = compile(text);
                let ask = Ask { query: &query, scope: scope(&bench, *number), items: *items };
                match bench.rows(&ask).await {
                    Ok(rows) => {
                        let scanned = bench.scanned(&ask).await;
                        prop_assert_eq!(&rows, &scanned, "{} by {}", text, bench.path(&ask));
                        let whole = bench.rows(&Ask { items: 1000, scope: ask.scope.clone(), ..ask }).await.unwrap();
                        prop_assert_eq!(&whole, &scanned, "{} at once", text);
                    }
                    Err(PageError::Order(_)) => prop_assert!(text.contains("ORDER BY")),
                    Err(other) => panic!("{text}: {other}"),
                }
            }
            Ok(())
        })?;
    }
}
