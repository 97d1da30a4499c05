//! However the documents are spread and however their pages arrive, the answer is that of one partition.

use super::{Merge, MergeOptions, Part, Step};
use crate::{CompileContext, CompiledQuery, Execution, ExecutionOptions, Flow, Output, Row, StatisticsPass};
use proptest::prelude::*;
use std::collections::VecDeque;
use tesela_model::document::Document;

/// One of every shape a merge knows, and their combinations with DISTINCT, OFFSET and LIMIT.
const QUERIES: &[&str] = &[
    "SELECT * FROM c",
    "SELECT VALUE c.n FROM c WHERE c.n > 2",
    "SELECT TOP 3 c.n, c.g FROM c",
    "SELECT VALUE c.n FROM c OFFSET 2 LIMIT 4",
    "SELECT DISTINCT c.g FROM c",
    "SELECT DISTINCT VALUE c.m FROM c OFFSET 1 LIMIT 3",
    "SELECT c.n, c.g FROM c ORDER BY c.n",
    "SELECT c.n, c.g FROM c ORDER BY c.n DESC",
    "SELECT VALUE c.m FROM c ORDER BY c.m DESC OFFSET 1 LIMIT 5",
    "SELECT TOP 4 c.g, c.n FROM c ORDER BY c.g DESC, c.n ASC",
    "SELECT DISTINCT VALUE c.m FROM c ORDER BY c.m",
    "SELECT DISTINCT TOP 3 VALUE c.m FROM c ORDER BY c.m DESC",
    "SELECT DISTINCT VALUE c.g FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 2",
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT COUNT(c.m) AS c, SUM(c.n) AS s, AVG(c.n) AS a, MIN(c.m) AS i, MAX(c.m) AS x FROM c WHERE c.n != 3",
    "SELECT VALUE MAKELIST(c.n) FROM c",
    "SELECT VALUE MAKESET(c.m) FROM c",
    "SELECT VALUE COUNTIF(c.n > 2) FROM c",
    "SELECT VALUE MAX(c.n) + MIN(c.n) FROM c",
    "SELECT c.g, COUNT(1) AS n, SUM(c.n) AS s FROM c GROUP BY c.g",
    "SELECT c.g, c.m FROM c GROUP BY c.g, c.m OFFSET 1 LIMIT 3",
    "SELECT TOP 2 VALUE c.m FROM c GROUP BY c.m",
    "SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c.g",
    "SELECT VALUE x FROM c JOIN x IN c.list WHERE x > 1",
    "SELECT c.g, x AS e FROM c JOIN x IN c.list ORDER BY c.n",
    "SELECT VALUE SUM(x) FROM c JOIN x IN c.list",
    "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.g FROM c) AS d",
    "SELECT TOP 1 VALUE d FROM (SELECT DISTINCT VALUE c.n FROM c) AS d",
    "SELECT VALUE d.g FROM (SELECT DISTINCT c.g, c.n FROM c) AS d WHERE d.n < 4",
    "SELECT VALUE MAX(t.s) FROM (SELECT c.g, SUM(c.n) AS s FROM c GROUP BY c.g) AS t",
    "SELECT VALUE x FROM (SELECT DISTINCT VALUE c.list FROM c) AS l JOIN x IN l",
    "SELECT VALUE {n: 1, r: (SELECT VALUE 2)}",
    "SELECT c.n FROM c ORDER BY RANK FullTextScore(c.t, 'red')",
    "SELECT TOP 3 c.n FROM c ORDER BY RANK RRF(FullTextScore(c.t, 'red'), FullTextScore(c.t, 'blue fish'), [1, 2])",
    "SELECT TOP 4 c.n FROM c ORDER BY VectorDistance(c.v, [1, 2])",
];

fn document() -> impl Strategy<Value = String> {
    let mixed = prop_oneof![
        Just(String::new()),
        Just(r#","m":null"#.to_owned()),
        Just(r#","m":true"#.to_owned()),
        (0..4).prop_map(|n| format!(r#","m":{n}"#)),
        (0..3).prop_map(|n| format!(r#","m":{n}.0"#)),
        prop_oneof!["a", "b", "Z"].prop_map(|s| format!(r#","m":"{s}""#)),
        Just(r#","m":[1]"#.to_owned()),
        Just(r#","m":{"y":2,"x":1}"#.to_owned()),
        Just(r#","m":{"x":1,"y":2}"#.to_owned()),
    ];
    let text = prop::collection::vec(prop_oneof!["red", "blue", "fish", "the", "one"], 0..5);
    let list = prop::collection::vec(0..4, 0..3);
    (0..6, prop_oneof![Just(""), Just(r#","g":"p""#), Just(r#","g":"q""#)], mixed, list, text).prop_map(
        |(n, group, mixed, list, text)| {
            format!(r#"{{"n":{n}{group}{mixed},"list":{list:?},"t":"{}","v":[{n},1]}}"#, text.join(" "))
        },
    )
}

fn compile(text: &str) -> CompiledQuery {
    CompiledQuery::compile(&tesela_sql::parse(text).unwrap(), &[], &CompileContext::default()).unwrap()
}

fn run(query: &CompiledQuery, documents: &[(u64, Document)], options: ExecutionOptions<'_>) -> Part {
    let partial = options.output == Output::Partial;
    let mut execution = Execution::new(query, options);
    let mut part = Part { done: true, ..Part::default() };
    for (rid, document) in documents {
        let flow = execution.push(document.root(), *rid).unwrap();
        part.rows.extend(execution.take_rows());
        if flow == Flow::Enough {
            break;
        }
    }
    if partial {
        let (rows, groups) = execution.finish_partial().unwrap();
        part.rows.extend(rows);
        part.groups = groups;
    } else {
        part.rows.extend(execution.finish().unwrap());
    }
    part
}

/// Cuts a part into pages of at most `size` rows.
fn pages(part: Part, size: usize) -> VecDeque<Part> {
    let mut pages: VecDeque<Part> =
        part.rows.chunks(size).map(|rows| Part { rows: rows.to_vec(), ..Part::default() }).collect();
    pages.push_back(Part { rows: Vec::new(), groups: part.groups, done: true });
    pages
}

fn texts(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| String::from_utf8(row.json.clone()).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_merge_answers_as_one_partition_would(
        documents in prop::collection::vec(document(), 0..14),
        cuts in prop::collection::vec(0..14_usize, 0..3),
        which in 0..QUERIES.len(),
        page_size in 1..4_usize,
    ) {
        let query = compile(QUERIES[which]);
        let documents: Vec<(u64, Document)> = (1..).zip(documents.iter().map(|text| Document::encode(text.as_bytes()).unwrap())).collect();
        let mut statistics = StatisticsPass::new(&query);
        for (_, document) in &documents {
            statistics.push(document.root()).unwrap();
        }
        let statistics = statistics.finish();
        let options = |output| ExecutionOptions { output, statistics: statistics.clone(), ..ExecutionOptions::default() };
        let expected = run(&query, &documents, options(Output::Complete));

        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(documents.len())).chain([0, documents.len()]).collect();
        cuts.sort_unstable();
        let mut parts: Vec<VecDeque<Part>> =
            cuts.windows(2).map(|cut| pages(run(&query, &documents[cut[0]..cut[1]], options(Output::Partial)), page_size)).collect();

        let mut merge = Merge::new(&query, parts.len(), MergeOptions::default());
        let mut rows = Vec::new();
        loop {
            match merge.step().unwrap() {
                Step::Row(row) => rows.push(row),
                Step::Done => break,
                // Asked for several, the last one arrives first.
                Step::Fetch(partitions) => for partition in partitions.into_iter().rev() {
                    merge.provide(partition, parts[partition].pop_front().unwrap()).unwrap();
                },
            }
        }
        prop_assert_eq!(texts(&rows), texts(&expected.rows), "{}", QUERIES[which]);
    }
}
