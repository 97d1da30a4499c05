//! Runs the scripts in `tests/scripts`: a query, and what becomes of it.
//!
//! A case is a paragraph. Its first lines are the query; then comes what is expected of it:
//!
//! ```text
//! # Lines that start with a hash are remarks.
//! select a.b + 1 x from a
//! = SELECT (a.b + 1) AS x
//! = FROM a
//!
//! SELECT c.left FROM c
//! ! SC1001 'left' it is a reserved word ...
//! ```
//!
//! `=` lines are the canonical text, line by line; `!` lines are the errors of the parser or
//! of the rules, each with the piece of the query it points at. Every query that parses is
//! also printed, parsed again and compared. `UPDATE_SCRIPTS=1 cargo test` rewrites the
//! expectations, for a change that is to be reviewed as a diff.

use std::path::PathBuf;

use tesela_sql::{SqlError, parse, print, rules};

/// What the script should say about this query.
fn outcome(text: &str) -> Vec<String> {
    let error_line = |error: &SqlError| {
        let at = error.span.of(text).split_whitespace().collect::<Vec<_>>().join(" ");
        format!("! {} '{at}' {}", error.code, error.message)
    };
    let query = match parse(text) {
        Ok(query) => query,
        Err(error) => return vec![error_line(&error)],
    };
    let printed = print(&query);
    assert_eq!(parse(&printed).as_ref(), Ok(&query), "{text}\nis printed as\n{printed}");
    let mut lines: Vec<String> = printed.lines().map(|line| format!("= {line}")).collect();
    lines.extend(rules::check(&query).iter().map(error_line));
    lines
}

/// One paragraph with its expectations replaced by what happens.
fn replay(paragraph: &str) -> String {
    let is_remark = |line: &&str| line.starts_with('#');
    let is_expectation = |line: &&str| line.starts_with("= ") || line.starts_with("! ");
    let kept: Vec<&str> = paragraph.lines().filter(|line| !is_expectation(line)).collect();
    let query: Vec<&str> = kept.iter().copied().filter(|line| !is_remark(line)).collect();
    let mut lines: Vec<String> = kept.iter().map(|line| (*line).to_owned()).collect();
    if !query.is_empty() {
        lines.extend(outcome(&query.join("\n")));
    }
    lines.join("\n")
}

fn run(name: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(name);
    let script = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let replayed: Vec<String> = script.trim_end().split("\n\n").map(replay).collect();
    let replayed = replayed.join("\n\n") + "\n";
    if std::env::var_os("UPDATE_SCRIPTS").is_some() {
        std::fs::write(&path, &replayed).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    for (expected, found) in script.trim_end().split("\n\n").zip(replayed.trim_end().split("\n\n")) {
        assert_eq!(found, expected, "\nin {name}; found\n{found}\n\nexpected\n{expected}\n");
    }
}

macro_rules! scripts {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            run(concat!(stringify!($name), ".txt"));
        }
    )+};
}

scripts! { clauses sources operators literals names errors structure }
