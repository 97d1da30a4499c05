//! The parts suffice: rewritten queries, run range by range and merged as clients merge them, answer the query (R18).
//!
//! The client here follows the plan and nothing else: it knows neither the query nor the documents. Where the order
//! leaves rows equal it may differ from the direct answer, so test documents have no such ties.

use super::{key, value};
use crate::aggregate::AggregateKind;
use crate::bind::{CompileContext, CompiledQuery};
use crate::execution::{Execution, ExecutionOptions, StatisticsPass};
use crate::plan::{
    DistinctType, HybridSearchInfo, PlanContext, PlanKind, PlanScope, QueryInfo, SortOrder, SupportedFeatures, plan,
};
use std::cmp::Ordering;
use tesela_model::document::Document;
use tesela_model::epk::{Epk, effective_partition_key};
use tesela_model::json::{self, Object, Value};

/// Ends of the ranges the test container is cut into.
const CUTS: [&str; 4] = ["", "10", "20", "30"];

/// Queries over the test container, every clause and most pairs of them.
const QUERIES: &[&str] = &[
    "SELECT VALUE c.id FROM c WHERE c.n > 10",
    "SELECT c.id, t FROM c JOIN t IN c.tags WHERE t != 1",
    "SELECT VALUE c.id FROM c WHERE c.pk = \"p3\" OFFSET 1 LIMIT 2",
    "SELECT c.id FROM c ORDER BY c.n",
    "SELECT * FROM c WHERE c.even ORDER BY c.n DESC",
    "SELECT TOP 7 VALUE c.id FROM c ORDER BY c.n DESC",
    "SELECT VALUE c.maybe FROM c ORDER BY c.n",
    "SELECT c.n FROM c ORDER BY c.n OFFSET 13 LIMIT 9",
    "SELECT c.n + 1, c[\"id\"], c.team AS t FROM c ORDER BY c.team, c.n DESC",
    "SELECT VALUE c.n FROM c WHERE c.pk IN (\"p1\", \"p2\") ORDER BY c.n",
    "SELECT VALUE r.x FROM (SELECT VALUE {\"x\": c.n} FROM c WHERE c.even) AS r ORDER BY r.x DESC",
    "SELECT VALUE inner FROM c.inner ORDER BY inner.m",
    "SELECT VALUE 1 FROM c WHERE c.n < 3",
    "SELECT DISTINCT VALUE c.team FROM c",
    "SELECT DISTINCT c.team, c.even FROM c",
    "SELECT DISTINCT VALUE c.team FROM c ORDER BY c.team",
    "SELECT DISTINCT TOP 2 VALUE c.team FROM c ORDER BY c.team DESC",
    "SELECT DISTINCT VALUE c.team FROM c ORDER BY c.team OFFSET 1 LIMIT 2",
    "SELECT VALUE COUNT(1) FROM c",
    "SELECT VALUE COUNT(c.maybe) FROM c WHERE c.n > 5",
    "SELECT VALUE SUM(c.n) FROM c",
    "SELECT VALUE SUM(c.mixed) FROM c",
    "SELECT VALUE AVG(c.n) FROM c",
    "SELECT VALUE AVG(c.nothing) FROM c",
    "SELECT VALUE MIN(c.n) FROM c WHERE c.n > 5",
    "SELECT VALUE MAX(c.mixed) FROM c",
    "SELECT VALUE MIN(c.nothing) FROM c",
    "SELECT VALUE COUNTIF(c.even) FROM c",
    "SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags",
    "SELECT VALUE COUNT(1) FROM c WHERE c.pk = \"p3\"",
    "SELECT COUNT(1), SUM(c.n) AS total, MIN(c.n) AS low, AVG(c.n), MAX(c.nothing) FROM c",
    "SELECT c.team, COUNT(1) AS n, AVG(c.n) AS a, MAX(c.n) FROM c GROUP BY c.team",
    "SELECT VALUE SUM(c.n) FROM c GROUP BY c.team, c.even",
    "SELECT VALUE {\"t\": c.team} FROM c GROUP BY c.team",
    "SELECT UPPER(c.team) AS t, COUNT(1) AS n FROM c WHERE c.n > 4 GROUP BY UPPER(c.team)",
    "SELECT c.maybe, COUNT(1) AS n FROM c GROUP BY c.maybe",
    "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.team FROM c)",
    "SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.team, c.even FROM c)",
    "SELECT TOP 4 c.id FROM c ORDER BY VectorDistance(c.v, [1, 0.5])",
    "SELECT TOP 5 c.id FROM c ORDER BY RANK FullTextScore(c.text, \"river\", \"stone\")",
    "SELECT c.id FROM c ORDER BY RANK FullTextScore(c.text, [\"river\", \"stone\"]) OFFSET 2 LIMIT 3",
    "SELECT TOP 6 c.id FROM c WHERE c.even \
     ORDER BY RANK RRF(FullTextScore(c.text, \"river\"), VectorDistance(c.v, [1, 0.5]))",
    "SELECT TOP 6 c.id FROM c \
     ORDER BY RANK RRF(VectorDistance(c.v, [1, 0.5]), FullTextScore(c.text, \"river\"), [1, 3])",
];

fn documents() -> Vec<Document> {
    let document = |n: i64| {
        let maybe = if n % 3 == 0 { String::new() } else { format!("\"maybe\":{},", n % 5) };
        let mixed = if n == 17 { "\"text\"".to_owned() } else { n.to_string() };
        let text = format!("{}{}", "river ".repeat((n % 7) as usize), "stone sand ".repeat((n % 4 + n) as usize));
        let text = format!(
            "{{\"id\":\"d{n}\",\"_rid\":\"r{n:03}\",\"pk\":\"p{}\",\"n\":{n},\"even\":{},\"team\":\"t{}\",{maybe}\
             \"mixed\":{mixed},\"inner\":{{\"m\":{}}},\"tags\":[1,{n}],\"v\":[{},{}],\"text\":\"{text}\"}}",
            n % 11,
            n % 2 == 0,
            n % 4,
            100 - n,
            (n as f64).sin(),
            (n as f64).cos(),
        );
        Document::encode(text.as_bytes()).unwrap()
    };
    (0..40).map(document).collect()
}

/// Runs a text over some documents as a partition would.
fn run(text: &str, documents: &[Document]) -> Vec<Value> {
    let parsed = tesela_sql::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    let query = CompiledQuery::compile(&parsed, &[], &CompileContext::default());
    let query = query.unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut statistics = StatisticsPass::new(&query);
    documents.iter().for_each(|document| statistics.push(document.root()).unwrap());
    let statistics = if query.needs_statistics() { statistics.finish() } else { Vec::new() };
    let mut execution = Execution::new(&query, ExecutionOptions { statistics, ..ExecutionOptions::default() });
    for (rid, document) in documents.iter().enumerate() {
        execution.push(document.root(), rid as u64 + 1).unwrap();
    }
    let mut rows = execution.take_rows();
    rows.extend(execution.finish().unwrap());
    rows.iter().map(|row| json::parse(&row.json).unwrap()).collect()
}

/// The client's side.
struct Client {
    text: &'static str,
    /// The documents of the ranges the plan names, range by range.
    targets: Vec<Vec<Document>>,
    all: Vec<Vec<Document>>,
}

impl Client {
    /// Asks every target.
    fn rows(&self, rewritten: &str) -> Vec<Value> {
        let text = if rewritten.is_empty() { self.text } else { rewritten };
        let text = text.replace("{documentdb-formattableorderbyquery-filter}", "true");
        self.targets.iter().flat_map(|documents| run(&text, documents)).collect()
    }

    fn merge(&self, info: &QueryInfo) -> Vec<Value> {
        let mut rows = self.rows(&info.rewritten_query);
        if !info.order_by.is_empty() {
            rows = sorted(rows, &info.order_by);
            rows = rows.iter().filter_map(|row| row.get("payload").cloned()).collect();
        }
        if info.has_groups() {
            rows = grouped(&rows, info);
        } else if let [kind] = info.aggregates[..] {
            let parts: Vec<Value> = rows.iter().map(|row| row.as_array().unwrap()[0].clone()).collect();
            rows = finished(kind, &parts).into_iter().collect();
        }
        if info.distinct_type != DistinctType::None {
            let adjacent = info.distinct_type == DistinctType::Ordered;
            rows = distinct(rows, adjacent);
        }
        if let Some(alias) = &info.dcount {
            let count = Value::from(rows.len() as i64);
            rows = vec![alias.as_ref().map_or(count.clone(), |alias| object([(alias.clone(), count)]))];
        }
        let skipped = rows.into_iter().skip(info.offset.unwrap_or(0) as usize);
        let taken = [info.top, info.limit].into_iter().flatten().min().unwrap_or(u64::MAX);
        skipped.take(taken as usize).collect()
    }

    /// Statistics everywhere, then the components, then ranks.
    fn fuse(&self, info: &HybridSearchInfo) -> Vec<Value> {
        let parts: Vec<Value> =
            self.all.iter().flat_map(|documents| run(&info.global_statistics_query, documents)).collect();
        let fill = |text: &str| filled(text, &parts);
        let mut rows: Vec<Value> = Vec::new();
        for component in &info.components {
            assert!(component.has_non_streaming_order_by && component.order_by.len() == 1);
            for row in self.rows(&fill(&component.rewritten_query)) {
                if !rows.iter().any(|known| known.get("_rid") == row.get("_rid")) {
                    rows.push(row);
                }
            }
        }
        rows.sort_by(|a, b| json::compare(a.get("_rid").unwrap(), b.get("_rid").unwrap()));
        let mut fused = vec![0.0; rows.len()];
        for (at, component) in info.components.iter().enumerate() {
            let score = |row: &Value| scores(row)[at];
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|a, b| match component.order_by[0] {
                SortOrder::Ascending => score(&rows[*a]).total_cmp(&score(&rows[*b])),
                SortOrder::Descending => score(&rows[*b]).total_cmp(&score(&rows[*a])),
            });
            let weight = info.component_weights.get(at).copied().unwrap_or(1.0);
            let mut rank = 0;
            for (place, row) in order.iter().enumerate() {
                let tied = place > 0 && score(&rows[order[place - 1]]) == score(&rows[*row]);
                rank += usize::from(!tied);
                fused[*row] += weight / (60 + rank) as f64;
            }
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|a, b| fused[*b].total_cmp(&fused[*a]));
        let payload = |row: &Value| row.get("payload").unwrap().get("payload").unwrap().clone();
        let wanted = order.iter().map(|row| payload(&rows[*row])).skip(info.skip.unwrap_or(0) as usize);
        wanted.take(info.take.unwrap() as usize).collect()
    }
}

impl QueryInfo {
    fn has_groups(&self) -> bool {
        !self.group_by_expressions.is_empty() || !self.group_by_aliases.is_empty()
    }
}

fn scores(row: &Value) -> Vec<f64> {
    let scores = row.get("payload").unwrap().get("componentScores").unwrap();
    scores.as_array().unwrap().iter().map(|score| score.as_f64().unwrap()).collect()
}

/// The text with the summed statistics in its holes.
fn filled(text: &str, parts: &[Value]) -> String {
    let sum = |of: &dyn Fn(&Value) -> f64| parts.iter().map(of).sum::<f64>();
    let hole = |name: &str| format!("{{documentdb-formattablehybridsearchquery-{name}}}");
    let number = |part: &Value, name: &str| part.get(name).and_then(Value::as_f64).unwrap();
    let mut text = text.replace(&hole("totaldocumentcount"), &sum(&|part| number(part, "documentCount")).to_string());
    let texts = |part: &Value| part.get("fullTextStatistics").unwrap().as_array().unwrap().to_vec();
    for at in 0..texts(&parts[0]).len() {
        let words = sum(&|part| number(&texts(part)[at], "totalWordCount"));
        text = text.replace(&hole(&format!("totalwordcount-{at}")), &words.to_string());
        let hits = |part: &Value| texts(part)[at].get("hitCounts").unwrap().as_array().unwrap().to_vec();
        let terms = hits(&parts[0]).len();
        let hits: Vec<String> =
            (0..terms).map(|term| sum(&|part| hits(part)[term].as_f64().unwrap()).to_string()).collect();
        text = text.replace(&hole(&format!("hitcountsarray-{at}")), &format!("[{}]", hits.join(",")));
    }
    text
}

fn sorted(mut rows: Vec<Value>, order: &[SortOrder]) -> Vec<Value> {
    // An order value that is missing comes before all others.
    let item = |row: &Value, at: usize| row.get("orderByItems").unwrap().as_array().unwrap()[at].get("item").cloned();
    let compare = |a: Option<Value>, b: Option<Value>| match (a, b) {
        (Some(a), Some(b)) => json::compare(&a, &b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    rows.sort_by(|a, b| {
        let column = |at: usize| match order[at] {
            SortOrder::Ascending => compare(item(a, at), item(b, at)),
            SortOrder::Descending => compare(item(b, at), item(a, at)),
        };
        (0..order.len()).map(column).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
    rows
}

fn grouped(rows: &[Value], info: &QueryInfo) -> Vec<Value> {
    let mut groups: Vec<(Option<&Value>, Vec<&Value>)> = Vec::new();
    for row in rows {
        let (keys, payload) = (row.get("groupByItems"), row.get("payload").unwrap());
        match groups.iter_mut().find(|(known, _)| *known == keys) {
            Some((_, parts)) => parts.push(payload),
            None => groups.push((keys, vec![payload])),
        }
    }
    let merged = groups.iter().filter_map(|(_, parts)| match info.aggregates[..] {
        [kind] => {
            let parts: Vec<Value> = parts.iter().map(|part| part.as_array().unwrap()[0].clone()).collect();
            finished(kind, &parts)
        }
        _ if info.has_select_value => parts.first().map(|part| (*part).clone()),
        _ => Some(merged_payload(parts, info)),
    });
    merged.collect()
}

fn merged_payload(parts: &[&Value], info: &QueryInfo) -> Value {
    let members = info.group_by_alias_to_aggregate.iter().filter_map(|(alias, kind)| {
        let values: Vec<Value> = parts.iter().filter_map(|part| part.get(alias).cloned()).collect();
        let value = match kind {
            Some(kind) => finished(*kind, &values),
            None => values.first().cloned(),
        };
        value.map(|value| (alias.clone(), value))
    });
    object(members)
}

/// Adds up the parts of one aggregate; `None` is undefined.
fn finished(kind: AggregateKind, parts: &[Value]) -> Option<Value> {
    let items = || parts.iter().map(|part| part.get("item").cloned());
    let sum = |numbers: Vec<Option<f64>>| numbers.into_iter().sum::<Option<f64>>();
    let of = |name: &'static str| items().map(|item| item?.get(name)?.as_f64()).collect::<Vec<_>>();
    let extreme = |wanted: Ordering, name: &str| {
        let known: Vec<&Value> = parts.iter().filter_map(|part| part.get("item2")).collect();
        let some = known.iter().filter(|part| part.get("count").and_then(Value::as_f64) != Some(0.0));
        let values: Option<Vec<Value>> = some.map(|part| part.get(name).cloned()).collect();
        let better = |a: Value, b: Value| if json::compare(&b, &a) == wanted { b } else { a };
        values?.into_iter().reduce(better)
    };
    match kind {
        AggregateKind::Count | AggregateKind::CountIf | AggregateKind::Sum => {
            sum(items().map(|item| item?.as_f64()).collect()).map(Value::from)
        }
        AggregateKind::Average => {
            let count = sum(of("count"))?;
            let total = sum(of("sum"))?;
            (count > 0.0).then(|| Value::from(total / count))
        }
        AggregateKind::Max => extreme(Ordering::Greater, "max"),
        AggregateKind::Min => extreme(Ordering::Less, "min"),
        AggregateKind::MakeList | AggregateKind::MakeSet => {
            let lists: Option<Vec<Value>> = items().collect();
            Some(Value::from(lists?.iter().flat_map(|list| list.as_array().unwrap().to_vec()).collect::<Vec<_>>()))
        }
    }
}

fn distinct(rows: Vec<Value>, adjacent: bool) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for row in rows {
        let known = if adjacent { kept.last() == Some(&row) } else { kept.contains(&row) };
        if !known {
            kept.push(row);
        }
    }
    kept
}

fn object(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Object>())
}

fn canonical(mut rows: Vec<Value>, ordered: bool) -> Vec<Value> {
    if !ordered {
        rows.sort_by(json::compare);
    }
    // Sums of parts differ in the last digits from sums of the whole.
    rows.iter().map(rounded).collect()
}

fn rounded(row: &Value) -> Value {
    match row {
        Value::Number(number) => Value::from((number.as_f64() * 1e9).round() / 1e9),
        Value::Array(items) => Value::from(items.iter().map(rounded).collect::<Vec<_>>()),
        Value::Object(members) => object(members.iter().map(|(name, member)| (name.to_owned(), rounded(member)))),
        other => other.clone(),
    }
}

fn check(text: &'static str) {
    let definition = key(&["/pk"]);
    let query = tesela_sql::parse(text).unwrap();
    let compile = CompileContext::default();
    let context = PlanContext { scope: PlanScope::Container, compile: &compile };
    let plan =
        plan(&query, &[], &definition, SupportedFeatures::all(), &context).unwrap_or_else(|e| panic!("{text}: {e}"));
    let cuts: Vec<Epk> = CUTS.iter().map(|cut| Epk::from_hex(cut).unwrap()).chain([Epk::max()]).collect();
    let mut all: Vec<Vec<Document>> = vec![Vec::new(); CUTS.len()];
    for document in documents() {
        let epk = effective_partition_key(&definition.extract(document.root()), &definition);
        all[cuts.iter().rposition(|cut| *cut <= epk).unwrap()].push(document);
    }
    assert!(all.iter().all(|part| !part.is_empty()), "a partition without documents tests nothing");
    let meets = |at: usize| plan.ranges.iter().any(|range| range.min < cuts[at + 1] && cuts[at] <= range.max);
    let targets = (0..CUTS.len()).filter(|at| meets(*at)).map(|at| all[at].clone()).collect();
    let client = Client { text, targets, all: all.clone() };
    let merged = match &plan.kind {
        PlanKind::Query(info) => client.merge(info),
        PlanKind::HybridSearch(info) => client.fuse(info),
    };
    let whole: Vec<Document> = all.into_iter().flatten().collect();
    let ordered = query.order_by.is_some();
    assert_eq!(canonical(merged, ordered), canonical(run(text, &whole), ordered), "{text}");
}

#[test]
fn merged_parts_are_the_answer() {
    QUERIES.iter().for_each(|text| check(text));
}

/// Rows that any choice satisfies: only their number and their kind are settled.
#[test]
fn windows_without_order_have_their_size() {
    for (text, rows) in [
        ("SELECT TOP 7 VALUE c.id FROM c", 7),
        ("SELECT VALUE c.id FROM c OFFSET 35 LIMIT 10", 5),
        ("SELECT DISTINCT TOP 3 VALUE c.team FROM c", 3),
    ] {
        let query = tesela_sql::parse(text).unwrap();
        let compile = CompileContext::default();
        let context = PlanContext { scope: PlanScope::Container, compile: &compile };
        let plan = plan(&query, &[], &key(&["/pk"]), SupportedFeatures::all(), &context).unwrap();
        let PlanKind::Query(info) = &plan.kind else { panic!("{text} ranks") };
        let parts: Vec<Vec<Document>> = documents().chunks(9).map(<[Document]>::to_vec).collect();
        let client = Client { text, targets: parts.clone(), all: parts };
        let merged = client.merge(info);
        assert_eq!(merged.len(), rows, "{text}");
        assert_eq!(distinct(merged, false).len(), rows, "{text}");
    }
}

/// Clients resume an ordered scan with conditions of their own in the hole.
#[test]
fn the_hole_takes_resume_filters() {
    let plan = super::plan_of("SELECT VALUE c.id FROM c WHERE c.even ORDER BY c.n", &key(&["/pk"])).unwrap();
    let PlanKind::Query(info) = plan.kind else { panic!("not a ranking") };
    let resumed = |filter: &str| {
        let text = info.rewritten_query.replace("{documentdb-formattableorderbyquery-filter}", filter);
        run(&text, &documents()).iter().map(|row| row.get("payload").unwrap().clone()).collect::<Vec<_>>()
    };
    assert_eq!(resumed("true").len(), 20);
    let after = " ( c.n > 34 OR IS_STRING(c.n) OR IS_ARRAY(c.n) OR IS_OBJECT(c.n) ) ";
    assert_eq!(resumed(after), vec![value("\"d36\""), value("\"d38\"")]);
    assert_eq!(resumed("NOT IS_DEFINED(c.n)"), Vec::<Value>::new());
}
