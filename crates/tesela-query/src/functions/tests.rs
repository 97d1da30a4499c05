//! Runs the scripts beside this module: one file per family, one case per line.
//!
//! ```text
//! # a comment
//! doc {"s": "abc"}            the document of the following cases, under the alias c
//! LENGTH(c.s) => 3            an expression and its value as JSON, or `undefined`
//! ABS("x") !! SC2050          an expression that is refused, and the code
//! ```
//!
//! Numbers agree to nine digits, everything else exactly.

use crate::{CompileContext, CompiledQuery, Execution, ExecutionOptions, QueryError};
use std::collections::HashSet;
use std::path::PathBuf;
use tesela_model::document::Document;
use tesela_model::json::{self, Value};

/// 2024-05-06T07:08:09.1234567Z, for functions that read the clock.
const NOW_TICKS: i64 = 17_149_792_891_234_567;

fn scripts() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/functions/scripts");
    let mut scripts: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    scripts.sort();
    scripts
}

fn evaluate(expression: &str, document: &Document) -> Result<Option<Value>, QueryError> {
    let query = tesela_sql::parse(&format!("SELECT VALUE {expression} FROM c"))?;
    let context = CompileContext { now_ticks: NOW_TICKS, ..CompileContext::default() };
    let query = CompiledQuery::compile(&query, &[], &context)?;
    let options = ExecutionOptions { now_ticks: NOW_TICKS, seed: 7, ..ExecutionOptions::default() };
    let mut execution = Execution::new(&query, options);
    execution.push(document.root(), 1)?;
    let rows = execution.finish()?;
    Ok(rows.first().map(|row| json::parse(&row.json).expect("rows are JSON")))
}

fn close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b)),
        _ => a == b,
    }
}

fn check(expression: &str, expected: &str, document: &Document) -> Result<(), String> {
    let got = evaluate(expression, document).map_err(|error| error.to_string())?;
    let matches = match (&got, expected) {
        (None, "undefined") => true,
        (Some(got), expected) if expected != "undefined" => {
            let expected = json::parse(expected.as_bytes()).map_err(|error| format!("bad expectation: {error}"))?;
            close(got, &expected)
        }
        _ => false,
    };
    let shown = got.map_or("undefined".to_owned(), |got| json::to_string(&got));
    if matches { Ok(()) } else { Err(format!("is {shown}, not {expected}")) }
}

#[test]
fn every_case_of_the_scripts_holds() {
    let mut failures = Vec::new();
    let mut cases = 0;
    for (file, script) in scripts() {
        let mut document = Document::encode(b"{}").unwrap();
        for (number, line) in script.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(text) = line.strip_prefix("doc ") {
                document =
                    Document::encode(text.as_bytes()).unwrap_or_else(|error| panic!("{file}:{}: {error}", number + 1));
                continue;
            }
            cases += 1;
            let outcome = if let Some((expression, expected)) = line.rsplit_once(" => ") {
                check(expression, expected.trim(), &document)
            } else if let Some((expression, code)) = line.rsplit_once(" !! ") {
                match evaluate(expression, &document) {
                    Err(error) if error.faults().iter().any(|fault| fault.code == code.trim()) => Ok(()),
                    other => Err(format!("gives {other:?}, not {code}")),
                }
            } else {
                Err("has no expectation".to_owned())
            };
            if let Err(why) = outcome {
                failures.push(format!("{file}:{}: {line}\n    {why}", number + 1));
            }
        }
    }
    assert!(cases > 0, "no script was found");
    assert!(failures.is_empty(), "{} of {cases} cases fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_function_has_a_case() {
    let text: String = scripts().into_iter().map(|(_, script)| script.to_ascii_uppercase()).collect();
    let missing: Vec<&str> = super::all()
        .map(|function| function.name)
        .filter(|name| !text.contains(&format!("{}(", name.to_ascii_uppercase())))
        .collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

#[test]
fn names_are_unique_without_case() {
    let mut seen = HashSet::new();
    for function in super::all() {
        assert!(seen.insert(function.name.to_ascii_uppercase()), "{} stands in two tables", function.name);
    }
}

/// Values at the borders of every type.
const BORDERS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "0.5",
    "2",
    "3",
    "100",
    "1e300",
    "-1e300",
    "5e-324",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    r#""""#,
    r#""a""#,
    r#""aBc""#,
    r#""ß😀\u0000""#,
    r#""^(a|b)*$""#,
    r#""[""#,
    r#""i""#,
    r#""year""#,
    r#""ns""#,
    r#""2024-02-29""#,
    r#""9999-12-31T23:59:59.9999999Z""#,
    r#""0001-01-01""#,
    r#""yyyy'MM\\dd""#,
    r#""{\"a\":[1]}""#,
    "[]",
    "[1,2,3]",
    "[3,-1e300,1e300]",
    r#"["a","b"]"#,
    r#"[null,true,1,"x",[1],{}]"#,
    "{}",
    r#"{"a":1,"b":{"c":[2]}}"#,
    r#"{"term":"abc","distance":1}"#,
    r#"{"distanceFunction":"euclidean"}"#,
    r#"{"type":"Point","coordinates":[0,90]}"#,
    r#"{"type":"Point","coordinates":[180,-90]}"#,
    r#"{"type":"LineString","coordinates":[[0,0],[180,0]]}"#,
    r#"{"type":"LineString","coordinates":[[1,1],[1,1]]}"#,
    r#"{"type":"Polygon","coordinates":[[[0,0],[0,0],[0,0],[0,0]]]}"#,
    r#"{"type":"Polygon","coordinates":[[[0,0],[90,0],[90,90],[0,0]]]}"#,
    r#"{"type":"Polygon","coordinates":[[[0,0],[180,0],[0,90],[0,0]]]}"#,
    r#"{"type":"MultiPolygon","coordinates":[]}"#,
];

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 4000, ..Default::default() })]

    /// Whatever the arguments, a call gives a value or undefined, and the same whether it is computed when the query is
    /// compiled or for the row.
    #[test]
    fn calls_are_total(which in 0..super::all().count(), args in proptest::collection::vec(0..=BORDERS.len(), 0..5)) {
        let function = super::all().nth(which).unwrap();
        let count = (0..=args.len()).rev().find(|count| function.arity.accepts(*count));
        let random = function.name == "RAND";
        let Some(count) = count.filter(|_| !random) else { return Ok(()) };
        let members = args.iter().enumerate().filter(|(_, arg)| **arg < BORDERS.len());
        let members: Vec<String> = members.map(|(at, arg)| format!(r#""a{at}":{}"#, BORDERS[*arg])).collect();
        let document = Document::encode(format!("{{{}}}", members.join(",")).as_bytes()).unwrap();
        let stored: Vec<String> = (0..count).map(|at| format!("c.a{at}")).collect();
        let constant: Vec<&str> = args[..count].iter().map(|arg| BORDERS.get(*arg).copied().unwrap_or("undefined")).collect();
        let of = |args: String| evaluate(&format!("{}({args})", function.name), &document);
        match (of(stored.join(", ")), of(constant.join(", "))) {
            (Ok(row), Ok(folded)) => proptest::prop_assert_eq!(row, folded),
            // Options of a vector function are checked when they are known in time.
            (_, Err(error)) => proptest::prop_assert!(error.faults().iter().all(|fault| fault.code == "SC2213"), "{}", error),
            (Err(error), _) => proptest::prop_assert!(false, "{}", error),
        }
    }
}
