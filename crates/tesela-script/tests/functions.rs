//! User-defined functions.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use support::RealClock;
use tesela_script::{Engine, ErrorKind, Limits, RunOptions, Script, Udfs};

fn load(functions: &[(&str, &str)]) -> Udfs {
    load_with(Limits::default(), functions)
}

fn load_with(limits: Limits, functions: &[(&str, &str)]) -> Udfs {
    let engine = Engine::new(limits, Arc::new(RealClock::default()));
    let scripts: Vec<Script> =
        functions.iter().map(|(id, source)| Script::new("c", id, source).expect("a script")).collect();
    engine.udfs("c", &scripts, &RunOptions::default()).expect("functions load")
}

#[test]
fn functions_map_json_to_json_and_undefined_to_undefined() {
    let mut udfs = load(&[
        (
            "tax",
            "function tax(income) { if (income === undefined) throw 'no input'; return income < 1000 ? income * 0.1 : income * 0.4; }",
        ),
        ("same", "function (x) { return x; }"),
        ("count", "(...args) => args.length"),
        ("kind", "(x) => typeof x"),
        ("fn", "() => () => 1"),
        ("nan", "() => NaN"),
        ("context", "() => [typeof getContext, typeof __, typeof console]"),
        ("match", "function (s, p) { return s.match(p) !== null; }"),
    ]);
    for (name, arguments, wanted) in [
        ("tax", vec![Some("100")], Some("10")),
        ("tax", vec![Some("2000"), Some("null")], Some("800")),
        ("same", vec![Some(r#"{"b":1,"a":[null,"x"]}"#)], Some(r#"{"b":1,"a":[null,"x"]}"#)),
        ("same", vec![None], None),
        ("same", vec![], None),
        ("count", vec![None, Some("1"), None], Some("3")),
        ("kind", vec![None], Some("\"undefined\"")),
        ("fn", vec![], None),
        ("nan", vec![], Some("null")),
        ("context", vec![], Some(r#"["undefined","undefined","undefined"]"#)),
        ("match", vec![Some("\"abc\""), Some("\"b.\"")], Some("true")),
    ] {
        assert_eq!(udfs.call(name, &arguments).unwrap().as_deref(), wanted, "{name} {arguments:?}");
    }
}

#[test]
fn failures_are_the_scripts_and_do_not_end_the_session() {
    let mut udfs = load(&[("bad", "() => { throw new Error(17, 'no'); }"), ("good", "() => 1")]);
    let error = udfs.call("bad", &[]).unwrap_err();
    assert_eq!((error.status(), error.substatus()), (400, 17));
    assert!(error.message.contains("Exception = Error: no"), "{}", error.message);
    assert_eq!(udfs.call("good", &[]).unwrap().as_deref(), Some("1"));
    assert_eq!(udfs.call("unknown", &[]).unwrap_err().status(), 400);
    assert_eq!(udfs.call("good", &[Some("not json")]).unwrap_err().status(), 400);
}

#[test]
fn time_is_limited_over_all_calls() {
    let mut udfs = load_with(
        Limits { time: Duration::from_millis(50), ..Limits::default() },
        &[("spin", "() => { while (true) {} }"), ("good", "() => 1")],
    );
    let error = udfs.call("spin", &[]).unwrap_err();
    assert_eq!((error.kind, error.status()), (ErrorKind::TimedOut, 408));
    assert!(udfs.spent().steps > 0);
}

#[test]
fn what_does_not_compile_is_told_at_load() {
    let engine = Engine::new(Limits::default(), Arc::new(RealClock::default()));
    let script = Script::new("c", "f", "function ( {").unwrap();
    let error = engine.udfs("c", &[script], &RunOptions::default()).err().expect("no function");
    assert_eq!(error.substatus(), 65_535);
}

#[test]
fn state_does_not_outlive_the_query() {
    let engine = Engine::new(Limits::default(), Arc::new(RealClock::default()));
    let script = Script::new("c", "counter", "(() => { let n = 0; return () => ++n; })()").unwrap();
    for _ in 0..3 {
        let mut udfs = engine.udfs("c", std::slice::from_ref(&script), &RunOptions::default()).unwrap();
        assert_eq!(udfs.call("counter", &[]).unwrap().as_deref(), Some("1"));
        drop(udfs);
        assert_eq!(engine.warm_realms().0, 1, "the realm is reused");
    }
}
