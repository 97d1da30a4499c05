//! The open conformance corpus, evaluated in this process (R18).
//!
//! Compares as the corpus' own runner does, without a server between: documents are pushed into an execution as the
//! one partition of a container. The corpus is not part of the repository; where it is missing the test says so and
//! passes. Cases the corpus itself calls doubtful are run and counted, not judged.

#![expect(clippy::unwrap_used, reason = "a test stops at the first thing that is not as it must be")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use tesela_model::document::Document;
use tesela_model::json::{self, Object, Value};
use tesela_query::full_text::Language;
use tesela_query::functions::Geospatial;
use tesela_query::functions::vector::Measure;
use tesela_query::{
    CompileContext, CompiledQuery, ComputedProperty, Execution, ExecutionOptions, Flow, FullTextPath, StatisticsPass,
    VectorPath,
};

/// Overrides where the corpus is looked for.
const CORPUS_VARIABLE: &str = "TESELA_CONFORMANCE_DIR";
const SYSTEM_PROPERTIES: [&str; 7] = ["_rid", "_self", "_etag", "_attachments", "_ts", "_lsn", "__pk"];
/// A moment in 2025, for functions that read the clock.
const NOW_TICKS: i64 = 17_500_000_000_000_000;

/// Cases whose expectation we do not share, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

fn corpus() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/open");
    let directory = std::env::var_os(CORPUS_VARIABLE).map_or(beside, PathBuf::from);
    directory.join("query.jsonl").exists().then_some(directory)
}

fn cases(name: &str) -> Option<Vec<Value>> {
    let Some(directory) = corpus() else {
        eprintln!("conformance corpus not found (set {CORPUS_VARIABLE}): nothing was checked");
        return None;
    };
    let text = std::fs::read_to_string(directory.join(name)).unwrap();
    Some(text.lines().map(|line| json::parse(line.as_bytes()).unwrap()).collect())
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The container a case runs in.
#[derive(Default)]
struct Container {
    documents: Vec<Document>,
    computed: Vec<ComputedProperty>,
    vectors: Vec<VectorPath>,
    full_text: Vec<FullTextPath>,
    geospatial: Geospatial,
}

impl Container {
    fn of(case: &Value) -> Self {
        let (documents, properties) = match case.get("dataset").and_then(Value::as_str) {
            Some(dataset) => {
                let path = corpus().unwrap().join("datasets").join(format!("{dataset}.json"));
                let file = json::parse(&std::fs::read(path).unwrap()).unwrap();
                (file.get("documents").cloned(), file.get("container").cloned())
            }
            None => (case.get("input").cloned(), case.get("container").cloned()),
        };
        let documents = match documents {
            Some(Value::Array(documents)) => documents,
            _ => vec![json::parse(br#"{"id":"only"}"#).unwrap()],
        };
        let mut container = Self { documents: documents.iter().map(Document::from_value).collect(), ..Self::default() };
        if let Some(properties) = properties {
            container.configure(&properties);
        }
        container
    }

    fn configure(&mut self, properties: &Value) {
        let list = |value: Option<&Value>| value.and_then(Value::as_array).map(<[Value]>::to_vec).unwrap_or_default();
        let path = |value: &Value| text(value, "path").split('/').skip(1).map(str::to_owned).collect();
        for property in list(properties.get("computedProperties")) {
            let (name, query) = (text(&property, "name").to_owned(), text(&property, "query").to_owned());
            self.computed.push(ComputedProperty { name, query });
        }
        let embeddings = properties.get("vectorEmbeddingPolicy").and_then(|policy| policy.get("vectorEmbeddings"));
        for embedding in list(embeddings) {
            let measure = Measure::from_name(text(&embedding, "distanceFunction")).unwrap();
            self.vectors.push(VectorPath { path: path(&embedding), measure });
        }
        let texts = properties.get("fullTextPolicy").and_then(|policy| policy.get("fullTextPaths"));
        for entry in list(texts) {
            let language = Language::from_tag(text(&entry, "language")).unwrap_or_default();
            self.full_text.push(FullTextPath { path: path(&entry), language });
        }
        if properties.get("geospatialConfig").is_some_and(|config| text(config, "type") == "Geometry") {
            self.geospatial = Geospatial::Geometry;
        }
    }

    fn context(&self) -> CompileContext<'_> {
        CompileContext {
            computed_properties: &self.computed,
            geospatial: self.geospatial,
            vectors: &self.vectors,
            full_text: &self.full_text,
            now_ticks: NOW_TICKS,
            ..CompileContext::default()
        }
    }

    fn compile(&self, case: &Value) -> Result<CompiledQuery, String> {
        let query = tesela_sql::parse(text(case, "query")).map_err(|fault| fault.to_string())?;
        let parameters: Vec<(String, Value)> = match case.get("parameters") {
            Some(Value::Array(list)) => list
                .iter()
                .map(|p| (text(p, "name").to_owned(), p.get("value").cloned().unwrap_or(Value::Null)))
                .collect(),
            _ => Vec::new(),
        };
        CompiledQuery::compile(&query, &parameters, &self.context()).map_err(|error| error.to_string())
    }

    fn run(&self, case: &Value) -> Result<Vec<Value>, String> {
        let query = self.compile(case)?;
        let mut statistics = StatisticsPass::new(&query);
        if query.needs_statistics() {
            for document in &self.documents {
                statistics.push(document.root()).map_err(|error| error.to_string())?;
            }
        }
        let options =
            ExecutionOptions { now_ticks: NOW_TICKS, statistics: statistics.finish(), ..ExecutionOptions::default() };
        let mut execution = Execution::new(&query, options);
        let mut rows = Vec::new();
        for (index, document) in self.documents.iter().enumerate() {
            let flow = execution.push(document.root(), index as u64 + 1).map_err(|error| error.to_string())?;
            rows.extend(execution.take_rows());
            if flow == Flow::Enough {
                break;
            }
        }
        rows.extend(execution.finish().map_err(|error| error.to_string())?);
        Ok(rows.iter().map(|row| json::parse(&row.json).expect("rows are JSON")).collect())
    }
}

fn strip(value: &Value) -> Value {
    match value {
        Value::Object(object) => Value::Object(
            object
                .iter()
                .filter(|(name, _)| !SYSTEM_PROPERTIES.contains(name))
                .map(|(name, member)| (name, strip(member)))
                .collect::<Object>(),
        ),
        Value::Array(elements) => Value::Array(elements.iter().map(strip).collect()),
        other => other.clone(),
    }
}

fn same(a: &Value, b: &Value, tolerance: f64, inner_unordered: bool) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
        }
        (Value::Array(a), Value::Array(b)) if inner_unordered => same_multiset(a, b, tolerance, true),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, tolerance, inner_unordered))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b, tolerance, inner_unordered)))
        }
        _ => a == b,
    }
}

fn same_multiset(a: &[Value], b: &[Value], tolerance: f64, inner_unordered: bool) -> bool {
    let mut rest: Vec<&Value> = b.iter().collect();
    a.len() == b.len()
        && a.iter().all(|a| match rest.iter().position(|b| same(a, b, tolerance, inner_unordered)) {
            Some(at) => {
                rest.swap_remove(at);
                true
            }
            None => false,
        })
}

fn rows_match(case: &Value, got: &[Value]) -> bool {
    let tolerance = case.get("tolerance").and_then(Value::as_f64).unwrap_or(1e-9);
    let flag = |name: &str| case.get(name).and_then(Value::as_bool) == Some(true);
    let project = case.get("project").and_then(Value::as_str);
    let modulo = case.get("map").and_then(Value::as_str) == Some("mod7");
    let got: Vec<Value> = got
        .iter()
        .map(|row| {
            let row = strip(row);
            let row = match (project, &row) {
                (Some(name), Value::Object(object)) => object.get(name).cloned().unwrap_or(Value::Null),
                _ => row,
            };
            match row.as_i64() {
                Some(number) if modulo => Value::from(number % 7),
                _ => row,
            }
        })
        .collect();
    let expected: Vec<Value> = match case.get("expected_any") {
        Some(Value::Array(alternatives)) if !alternatives.is_empty() => alternatives.clone(),
        _ if flag("undefined") => vec![Value::Array(Vec::new())],
        _ if text(case, "kind") == "expr" => vec![Value::Array(case.get("expected").cloned().into_iter().collect())],
        _ => vec![case.get("expected").cloned().unwrap_or(Value::Null)],
    };
    expected.iter().any(|rows| {
        let rows: Vec<Value> = rows.as_array().unwrap_or_default().iter().map(strip).collect();
        if flag("ordered") {
            same(&Value::Array(rows), &Value::Array(got.clone()), tolerance, flag("inner_unordered"))
        } else {
            same_multiset(&rows, &got, tolerance, flag("inner_unordered"))
        }
    })
}

#[derive(Default)]
struct Score {
    passed: usize,
    failures: Vec<String>,
    doubtful: BTreeMap<bool, usize>,
}

impl Score {
    fn judge(&mut self, case: &Value, outcome: Result<(), String>) {
        let id = text(case, "id");
        if case.get("doubtful").and_then(Value::as_bool) == Some(true) {
            *self.doubtful.entry(outcome.is_ok()).or_default() += 1;
            if let Err(why) = outcome {
                eprintln!("doubtful, answered otherwise: {id}: {}\n    {why}", text(case, "query"));
            }
            return;
        }
        match outcome {
            Ok(()) => self.passed += 1,
            Err(why) if EXCEPTIONS.iter().any(|(known, _)| *known == id) => eprintln!("exception: {id}: {why}"),
            Err(why) => self.failures.push(format!("{id}: {}\n    {why}", text(case, "query"))),
        }
    }

    fn finish(self, name: &str) {
        let (agree, differ) = (self.doubtful.get(&true).unwrap_or(&0), self.doubtful.get(&false).unwrap_or(&0));
        eprintln!(
            "{name}: {} passed, {} failed; doubtful: {agree} agree, {differ} differ",
            self.passed,
            self.failures.len()
        );
        assert!(self.failures.is_empty(), "{}", self.failures.join("\n"));
    }
}

fn evaluate(file: &str) {
    let Some(cases) = cases(file) else { return };
    let mut score = Score::default();
    for case in &cases {
        let outcome = match Container::of(case).run(case) {
            Ok(rows) if rows_match(case, &rows) => Ok(()),
            Ok(rows) => {
                let mut got = json::to_string(&Value::Array(rows));
                got.truncate(got.char_indices().nth(600).map_or(got.len(), |(at, _)| at));
                Err(format!("got {got}"))
            }
            Err(error) => Err(error),
        };
        score.judge(case, outcome);
    }
    score.finish(file);
}

#[test]
fn queries_give_the_expected_rows() {
    evaluate("query.jsonl");
}

#[test]
fn expressions_give_the_expected_values() {
    evaluate("expr.jsonl");
}

#[test]
fn queries_are_accepted_and_refused_as_expected() {
    let Some(cases) = cases("parse.jsonl") else { return };
    let mut score = Score::default();
    let (mut codes_agree, mut codes_differ) = (0, Vec::new());
    for case in &cases {
        let result = Container::of(case).compile(case);
        let outcome = match (text(case, "kind"), text(case, "level"), result) {
            ("parse_ok", _, Ok(_)) => Ok(()),
            // Only the grammar is vouched for: names may be unbound.
            ("parse_ok", "syntax", Err(why)) if !why.starts_with("SC1001") => Ok(()),
            ("parse_error", _, Err(why)) => {
                let codes = case.get("expected").and_then(|expected| expected.get("codes")).and_then(Value::as_array);
                match codes.filter(|codes| !codes.is_empty()) {
                    Some(codes) if codes.iter().all(|code| why.contains(code.as_str().unwrap())) => codes_agree += 1,
                    Some(codes) => codes_differ.push(format!("{} wants {codes:?}, got {why}", text(case, "query"))),
                    None => {}
                }
                Ok(())
            }
            ("parse_error", _, Ok(_)) => Err("accepted".to_owned()),
            (_, _, Err(why)) => Err(why),
            (kind, _, Ok(_)) => Err(format!("unknown kind {kind}")),
        };
        score.judge(case, outcome);
    }
    eprintln!("error codes: {codes_agree} as reported by the service, {} otherwise", codes_differ.len());
    for difference in codes_differ {
        eprintln!("    {difference}");
    }
    score.finish("parse.jsonl");
}

/// A query meets documents it was not written for: it may find nothing or fail, but it ends.
#[test]
fn queries_survive_documents_of_others() {
    let Some(directory) = corpus() else { return };
    let mut documents = vec![Document::encode(b"{}").unwrap(), Document::encode(b"[[1,[2]],null]").unwrap()];
    for dataset in std::fs::read_dir(directory.join("datasets")).unwrap() {
        let file = json::parse(&std::fs::read(dataset.unwrap().path()).unwrap()).unwrap();
        let some = file.get("documents").and_then(Value::as_array).unwrap_or_default().iter().take(3);
        documents.extend(some.map(Document::from_value));
    }
    let mut ran = 0;
    for file in ["query.jsonl", "expr.jsonl", "parse.jsonl", "plan.jsonl"] {
        for case in cases(file).unwrap() {
            let container = Container { documents: documents.clone(), ..Container::default() };
            ran += usize::from(container.run(&case).is_ok());
        }
    }
    assert!(ran > 1000, "only {ran} queries ran");
}
