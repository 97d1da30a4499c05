//! Runs the scripts beside this module: whole queries over a handful of documents.
//!
//! ```text
//! # a comment
//! doc {"id": 1}                              one more document
//! clear                                      no documents, parameters or computed properties
//! param @p = 5                               a parameter of the following queries
//! computed low = SELECT VALUE ... FROM c     a computed property
//! > SELECT VALUE c.id FROM c                 a query, and its rows as exact JSON text, one to a line
//! 1
//! > SELECT VALUE d.id FROM c                 or why it fails: a code, or a part of the message
//! !! SC2001
//! ```
//!
//! A query ends at the next blank line, comment or command. The functions `udf.double` and `udf.fail` are known.

use super::{Execution, ExecutionOptions, Flow, Input};
use crate::{CompileContext, CompiledQuery, ComputedProperty, QueryError, StatisticsPass, UserFunctions};
use std::path::PathBuf;
use tesela_model::document::Document;
use tesela_model::json::{self, Value};

struct Functions;

impl UserFunctions for Functions {
    fn knows(&self, name: &str) -> bool {
        name == "double" || name == "fail"
    }

    fn call(&self, name: &str, args: &[Value]) -> Result<Option<Value>, String> {
        match name {
            "double" => Ok(args[0].as_f64().map(|number| Value::from(2.0 * number))),
            _ => Err("thrown".to_owned()),
        }
    }
}

#[derive(Default)]
struct World {
    documents: Vec<Document>,
    parameters: Vec<(String, Value)>,
    computed: Vec<ComputedProperty>,
}

impl World {
    fn command(&mut self, line: &str) -> Result<bool, String> {
        let parse = |text: &str| json::parse(text.as_bytes()).map_err(|error| error.to_string());
        if line == "clear" {
            *self = Self::default();
        } else if let Some(text) = line.strip_prefix("doc ") {
            self.documents.push(Document::encode(text.as_bytes()).map_err(|error| error.to_string())?);
        } else if let Some((name, value)) = line.strip_prefix("param ").and_then(|rest| rest.split_once(" = ")) {
            self.parameters.push((name.to_owned(), parse(value)?));
        } else if let Some((name, query)) = line.strip_prefix("computed ").and_then(|rest| rest.split_once(" = ")) {
            self.computed.push(ComputedProperty { name: name.to_owned(), query: query.to_owned() });
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn compile(&self, text: &str) -> Result<CompiledQuery, QueryError> {
        let context =
            CompileContext { computed_properties: &self.computed, functions: &Functions, ..CompileContext::default() };
        CompiledQuery::compile(&tesela_sql::parse(text)?, &self.parameters, &context)
    }

    fn run(&self, text: &str) -> Result<Vec<String>, QueryError> {
        let query = self.compile(text)?;
        let mut statistics = StatisticsPass::new(&query);
        for document in &self.documents {
            statistics.push(document.root())?;
        }
        let options =
            ExecutionOptions { functions: &Functions, statistics: statistics.finish(), ..ExecutionOptions::default() };
        rows(&query, options, self.documents.iter().zip(1..))
    }
}

fn rows<'d>(
    query: &CompiledQuery,
    options: ExecutionOptions<'_>,
    documents: impl IntoIterator<Item = (&'d Document, u64)>,
) -> Result<Vec<String>, QueryError> {
    let mut execution = Execution::new(query, options);
    let mut rows = Vec::new();
    for (document, rid) in documents {
        let flow = execution.push(document.root(), rid)?;
        rows.extend(execution.take_rows());
        if flow == Flow::Enough {
            break;
        }
    }
    rows.extend(execution.finish()?);
    Ok(rows.into_iter().map(|row| String::from_utf8(row.json).unwrap()).collect())
}

fn check(world: &World, query: &str, expected: &[&str]) -> Result<(), String> {
    match (world.run(query), expected) {
        (Err(error), [refusal]) if refusal.starts_with("!! ") => {
            let wanted = refusal.trim_start_matches("!! ");
            if error.to_string().contains(wanted) { Ok(()) } else { Err(format!("fails otherwise: {error}")) }
        }
        (Err(error), _) => Err(format!("fails: {error}")),
        (Ok(rows), expected) if rows == expected => Ok(()),
        (Ok(rows), _) => Err(format!("gives\n      {}", rows.join("\n      "))),
    }
}

#[test]
fn every_query_of_the_scripts_answers_as_written() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/execution/scripts");
    let (mut cases, mut failures) = (0, Vec::new());
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let script = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = script.lines().map(str::trim_end).collect();
        let mut world = World::default();
        let mut at = 0;
        while at < lines.len() {
            let (line, number) = (lines[at], at + 1);
            at += 1;
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some(query) = line.strip_prefix("> ") else {
                let known = world.command(line).unwrap_or_else(|error| panic!("{name}:{number}: {error}"));
                assert!(known, "{name}:{number}: {line}");
                continue;
            };
            let ends = |line: &&str| {
                line.is_empty()
                    || ["#", "> ", "doc ", "clear", "param ", "computed "]
                        .iter()
                        .any(|command| line.starts_with(command))
            };
            let count = lines[at..].iter().take_while(|line| !ends(line)).count();
            cases += 1;
            if let Err(why) = check(&world, query, &lines[at..at + count]) {
                failures.push(format!("{name}:{number}: {query}\n    {why}"));
            }
            at += count;
        }
    }
    assert!(cases > 0, "no script was found");
    assert!(failures.is_empty(), "{} of {cases} queries fail:\n{}", failures.len(), failures.join("\n"));
}

/// Documents in the order of an index give the same rows, without being held.
#[test]
fn ordered_input_is_not_sorted_again() {
    let mut world = World::default();
    for (n, g) in [(3, "x"), (1, "y"), (2, "x"), (1, "x"), (3, "y"), (2, "y")] {
        world.command(&format!(r#"doc {{"n": {n}, "g": "{g}"}}"#)).unwrap();
    }
    for (text, descending) in [
        ("SELECT c.n, c.g FROM c ORDER BY c.n", false),
        ("SELECT c.n, c.g FROM c ORDER BY c.n DESC", true),
        ("SELECT TOP 3 c.n, c.g FROM c ORDER BY c.n", false),
        ("SELECT c.g FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 2", true),
        ("SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n", false),
        ("SELECT DISTINCT VALUE c.g FROM c ORDER BY c.n DESC", true),
    ] {
        let mut from_index: Vec<(&Document, u64)> = world.documents.iter().zip(1..).collect();
        from_index.sort_by_key(|(document, rid)| (document.root().get("n").unwrap().as_f64().unwrap() as u64, *rid));
        if descending {
            from_index.reverse();
        }
        let query = world.compile(text).unwrap();
        let options = ExecutionOptions { input: Input::Ordered, ..ExecutionOptions::default() };
        assert_eq!(rows(&query, options, from_index).unwrap(), world.run(text).unwrap(), "{text}");
    }
}

#[test]
fn a_limit_stops_the_reading() {
    let mut world = World::default();
    for n in 0..10 {
        world.command(&format!(r#"doc {{"n": {n}}}"#)).unwrap();
    }
    let pushes = |text: &str| {
        let query = world.compile(text).unwrap();
        let mut execution = Execution::new(&query, ExecutionOptions::default());
        let mut documents = world.documents.iter().zip(1..);
        documents
            .position(|(document, rid)| execution.push(document.root(), rid).unwrap() == Flow::Enough)
            .map(|at| at + 1)
    };
    assert_eq!(pushes("SELECT TOP 3 * FROM c"), Some(3));
    assert_eq!(pushes("SELECT * FROM c OFFSET 2 LIMIT 3"), Some(5));
    assert_eq!(pushes("SELECT TOP 0 * FROM c"), Some(1));
    assert_eq!(pushes("SELECT TOP 3 * FROM c ORDER BY c.n DESC"), None, "the best may come last");
}

#[test]
fn a_streaming_query_goes_on_where_it_stopped() {
    let mut world = World::default();
    for n in 0..10 {
        world.command(&format!(r#"doc {{"n": {n}}}"#)).unwrap();
    }
    let query = world.compile("SELECT VALUE c.n FROM c OFFSET 3 LIMIT 5").unwrap();
    let mut first = Execution::new(&query, ExecutionOptions::default());
    for (document, rid) in world.documents[..5].iter().zip(1..) {
        first.push(document.root(), rid).unwrap();
    }
    let mut got: Vec<String> = first.take_rows().into_iter().map(|row| String::from_utf8(row.json).unwrap()).collect();
    let options = ExecutionOptions { resume: first.progress(), ..ExecutionOptions::default() };
    got.extend(rows(&query, options, world.documents[5..].iter().zip(6..)).unwrap());
    assert_eq!(got, ["3", "4", "5", "6", "7"]);
}

#[test]
fn what_a_query_may_hold_is_limited() {
    let mut world = World::default();
    for n in 0..50 {
        world.command(&format!(r#"doc {{"n": {n}, "text": "{}"}}"#, "x".repeat(100))).unwrap();
    }
    for text in [
        "SELECT * FROM c ORDER BY c.n",
        "SELECT DISTINCT c.n FROM c",
        "SELECT c.n, COUNT(1) FROM c GROUP BY c.n",
        "SELECT VALUE MAKELIST(c.text) FROM c",
        "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.n FROM c) AS d",
    ] {
        let query = world.compile(text).unwrap();
        let options = ExecutionOptions { buffered_bytes_max: 500, ..ExecutionOptions::default() };
        let error = rows(&query, options, world.documents.iter().zip(1..)).unwrap_err();
        assert_eq!(error, QueryError::TooManyBytes { limit: 500 }, "{text}");
    }
    let query = world.compile("SELECT TOP 2 c.n FROM c ORDER BY c.n DESC").unwrap();
    let options = ExecutionOptions { buffered_bytes_max: 2000, ..ExecutionOptions::default() };
    assert_eq!(rows(&query, options, world.documents.iter().zip(1..)).unwrap(), [r#"{"n":49}"#, r#"{"n":48}"#]);
}

#[test]
fn a_join_without_end_is_stopped() {
    let mut world = World::default();
    world.command(&format!(r#"doc {{"a": {:?}}}"#, (0..30).collect::<Vec<_>>())).unwrap();
    let query = world.compile("SELECT VALUE COUNT(1) FROM c JOIN x IN c.a JOIN y IN c.a JOIN z IN c.a").unwrap();
    let run = |document_steps_max| {
        let options = ExecutionOptions { document_steps_max, ..ExecutionOptions::default() };
        rows(&query, options, world.documents.iter().zip(1..))
    };
    assert_eq!(run(26_999), Err(QueryError::TooManySteps { limit: 26_999 }));
    assert_eq!(run(27_000), Ok(vec!["27000".to_owned()]));
}

/// A server keeps executions across waits and moves them between threads.
#[test]
fn executions_can_move_between_threads() {
    fn moves<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    is_shared::<CompiledQuery>();
    moves::<Execution<'_>>();
    moves::<StatisticsPass<'_>>();
    moves::<crate::merge::Merge<'_>>();
}

/// The deepest trees the parser lets through, on the stack of a worker thread.
#[test]
fn deep_queries_fit_the_stack() {
    let nested =
        |open: &str, middle: &str, close: &str, depth: usize| open.repeat(depth) + middle + &close.repeat(depth);
    let texts = [
        format!("SELECT VALUE {} FROM c", nested("[", "c.n", "]", 180)),
        format!("SELECT VALUE {} FROM c", nested("ABS(", "c.n", ")", 180)),
        format!("SELECT VALUE c{} FROM c", ".n".repeat(180)),
        format!("SELECT VALUE 1 FROM c WHERE {} = c.n", nested("-(", "c.n", ")", 180)),
        format!("SELECT VALUE {} FROM c", nested("(SELECT VALUE [", "c.n", "])", 31)),
        format!("SELECT VALUE x FROM {} x", nested("(SELECT VALUE y FROM ", "c", " AS y)", 31)),
        format!("SELECT VALUE x FROM {} x", nested("(SELECT DISTINCT VALUE y FROM ", "c", " AS y)", 31)),
        format!(
            "SELECT VALUE EXISTS({}) FROM c",
            nested("SELECT VALUE 1 FROM x IN c.l JOIN y IN c.l WHERE EXISTS(", "SELECT VALUE c.n", ")", 31)
        ),
    ];
    let worker = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(move || {
        let mut world = World::default();
        world.command(r#"doc {"n": 1, "l": [1]}"#).unwrap();
        texts.iter().for_each(|text| assert!(world.run(text).is_ok(), "{text}"));
    });
    worker.unwrap().join().unwrap();
}
