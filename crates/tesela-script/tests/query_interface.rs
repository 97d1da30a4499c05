//! The language-integrated query interface: `__.filter` and friends, alone and chained.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use support::{Bench, Memory, RealClock};
use tesela_script::{Engine, Limits, RunOptions, Script, Spatial, SpatialFunction};

fn people() -> Bench {
    Bench::with_documents(&[
        r#"{"id":"1","name":"Ann","age":30,"tags":["x","y"],"kids":[{"n":"a"}]}"#,
        r#"{"id":"2","name":"Bob","age":20,"tags":["z"],"kids":[]}"#,
        r#"{"id":"3","age":40,"tags":[],"kids":[{"n":"b"},{"n":"c"}]}"#,
        r#"{"id":"4","name":"Dan","age":"old","nested":[[1,[2]],3]}"#,
    ])
}

#[test]
fn each_function_alone_and_in_a_chain() {
    for (call, wanted) in [
        ("__.filter((d) => d.age > 25, cb)", r#"["1","3"]"#),
        ("__.map((d) => d.id + d.age, cb)", r#"["130","220","340","4old"]"#),
        ("__.map((d) => d.name, cb)", r#"["Ann","Bob","Dan"]"#),
        ("__.pluck('name', cb)", r#"["Ann","Bob","Dan"]"#),
        ("__.chain().pluck('tags').flatten().value(cb)", r#"["x","y","z"]"#),
        ("__.chain().pluck('nested').flatten().value(cb)", "[1,2,3]"),
        ("__.chain().pluck('nested').flatten(true).value(cb)", "[[1,[2]],3]"),
        ("__.unwind((d) => d.kids, (d, kid) => d.id + kid.n, cb)", r#"["1a","3b","3c"]"#),
        ("__.unwind((d) => d.kids, undefined, cb)", r#"[{"n":"a"},{"n":"b"},{"n":"c"}]"#),
        ("__.chain().unwind((d) => d.kids).pluck('n').value(cb)", r#"["a","b","c"]"#),
        ("__.chain().sortBy((d) => d.age).pluck('id').value(cb)", r#"["2","1","3","4"]"#),
        ("__.chain().sortByDescending((d) => d.age).pluck('id').value(cb)", r#"["4","3","1","2"]"#),
        ("__.sortBy((d) => d.name, cb)", r#"["3","1","2","4"]"#),
        ("__.chain().filter((d) => d.age > 0).map((d) => d.age).value(cb)", "[30,20,40]"),
        ("__.chain().value(cb)", r#"["1","2","3","4"]"#),
        ("__.chain().filter((d) => true).value({pageSize: 2}, cb)", r#"["1","2"]"#),
        ("getContext().getCollection().filter((d) => d.id === '2', {}, cb)", r#"["2"]"#),
        ("__.flatten(true, {}, cb)", r#"["1","2","3","4"]"#),
    ] {
        let source = format!(
            "function () {{ const cb = (err, feed) => {{ if (err) throw err; __.response.setBody(feed.map((row) => row.id ?? row)); }}; const r = {call}; if (r.isAccepted !== true) throw 'not accepted'; }}"
        );
        assert_eq!(people().body(&source), wanted, "{call}");
    }
}

#[test]
fn without_a_callback_the_result_goes_to_the_response() {
    assert_eq!(people().body("function () { __.pluck('id'); }"), r#"["1","2","3","4"]"#);
    assert_eq!(
        people().body("function () { __.chain().filter((d) => d.id < 3).pluck('id').value(); }"),
        r#"["1","2"]"#
    );
}

#[test]
fn pages_of_results_continue_where_they_ended() {
    for steps in ["", ".sortBy((d) => -d.n)", ".filter((d) => d.n % 3)", ".map((d) => [d.n, -d.n]).flatten()"] {
        let texts: Vec<String> = (0..50).map(|n| format!(r#"{{"id":"{n}","n":{n}}}"#)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        // Pages of documents and pages of results end in different places.
        let mut bench = Bench { memory: Memory { page_rows: 6, ..Memory::with(&texts) }, ..Bench::default() };
        let paged = format!(
            "function () {{ const all = []; let pages = 0; (function page(continuation) {{ __.chain(){steps}.value({{pageSize: 7, continuation}}, (err, feed, o) => {{ \
             if (err) throw err; if (feed.length > 7) throw 'too many'; pages++; all.push(...feed); if (o.continuation) page(o.continuation); else __.response.setBody([pages > 4, all]); }}); }})(); }}"
        );
        let whole = format!(
            "function () {{ __.chain(){steps}.value({{pageSize: -1}}, (err, feed) => __.response.setBody([true, feed])); }}"
        );
        assert_eq!(bench.body(&paged), bench.body(&whole), "{steps}");
    }
}

#[test]
fn wrong_use_is_error_400() {
    let mut bench = people();
    for call in [
        "__.filter()",
        "__.filter('x')",
        "__.map(5)",
        "__.pluck(5)",
        "__.sortBy({})",
        "__.unwind('x')",
        "__.filter(() => true, 5)",
        "__.filter(() => true, {pageSize: 0})",
        "__.filter(() => true, {continuation: 'x'})",
        "__.filter(() => true, {continuation: '{\"skip\":-1}'})",
        "__.chain().filter(() => true, {})",
        "__.chain().map((d) => d, () => {})",
        "__.chain().filter()",
        "__.chain().value(5)",
        "__.spatial.distance()",
    ] {
        let source = format!(
            "function () {{ try {{ {call}; __.response.setBody('accepted'); }} catch (e) {{ __.response.setBody(e.number); }} }}"
        );
        assert_eq!(bench.body(&source), "400", "{call}");
    }
    let error =
        bench.error("function () { __.filter((d) => { throw new Error(418, 'in predicate'); }, (err) => {}); }");
    assert_eq!(error.substatus(), 418);
}

#[test]
fn a_chain_cannot_be_tampered_with_across_runs() {
    let mut bench = people();
    let error = bench.error("function () { Object.getPrototypeOf(__.chain()).value = () => 'mine'; }");
    assert!(error.message.contains("TypeError"), "{}", error.message);
}

#[test]
fn geometry_is_asked_of_the_host() {
    struct Recorder;
    impl Spatial for Recorder {
        fn compute(&self, function: SpatialFunction, first: &str, second: &str) -> Option<String> {
            (function != SpatialFunction::Within).then(|| format!("[\"{function:?}\",{first},{second}]"))
        }
    }
    let engine = Engine::with_spatial(Limits::default(), Arc::new(RealClock::default()), Arc::new(Recorder));
    let script = Script::new("c", "s", "function () { const s = __.spatial; __.response.setBody([s.distance({a: 1}, [2]), s.isValid(3), s.within(1, 2) === undefined, s.isValidDetailed(undefined)[0], s.intersects(1, 2)[0]]); }").unwrap();
    let outcome = engine.run_procedure(&script, "", &mut Memory::default(), &RunOptions::default()).unwrap();
    assert_eq!(
        outcome.procedure_body(),
        r#"[["Distance",{"a":1},[2]],["IsValid",3,null],true,"IsValidDetailed","Intersects"]"#
    );
}
