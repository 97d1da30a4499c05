//! What the language and its globals look like to a script.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Bench, answer};
use tesela_script::{ErrorKind, Limits, RunOptions, Script};

#[test]
fn expressions_answer_as_json() {
    let mut bench = Bench::default();
    for (expression, wanted) in [
        ("1 + 1", "2"),
        ("[1, 'a', null, true, {b: []}]", r#"[1,"a",null,true,{"b":[]}]"#),
        ("'ünï\\u2028 \\u{1F600}'", "\"ünï\u{2028} 😀\""),
        ("undefined", "\"\""),
        ("(() => { const {a, ...rest} = {a: 1, b: 2}; return rest; })()", r#"{"b":2}"#),
        ("new (class A { #x = 4; get x() { return this.#x; } })().x", "4"),
        ("[...new Map([[1, 2]]), ...new Set([3])]", "[[1,2],3]"),
        ("`a${1}b`.replace(/(\\d)/u, '<$1>')", "\"a<1>b\""),
        ("[3, 1, 2].toSorted().concat([[4]], 5).flat().indexOf(4)", "3"),
        ("Array.from({length: 3}, (_, i) => i * i)", "[0,1,4]"),
        ("Array.prototype.slice.call((function () { return arguments; })(7, 8), 1)", "[8]"),
        ("[[1, [2]], 3].flat(Infinity).join('-')", "\"1-2-3\""),
        ("[1, 2].flatMap((x) => [x, [x]])", "[1,[1],2,[2]]"),
        ("'a,b,,c'.split(',', 3)", r#"["a","b",""]"#),
        ("'aXbX'.split(/x/i)", r#"["a","b",""]"#),
        ("'aaa'.replaceAll('a', (m) => m + '!')", "\"a!a!a!\""),
        ("'abc'.includes('bc') && 'abc'.indexOf() === -1 && 'abc'.lastIndexOf('c') === 2", "true"),
        ("String.raw`a\\n${1}`", "\"a\\\\n1\""),
        ("[5, 1, 10].sort()", "[1,10,5]"),
        ("Array.from({length: 300}, (_, i) => i).sort()[299]", "99"),
        ("new Uint8Array([3, 1, 2]).sort().join()", "\"1,2,3\""),
        ("JSON.stringify({a: 1, b: 2}, ['b'], 1)", "\"{\\n \\\"b\\\": 2\\n}\""),
        ("JSON.parse('{\"__proto__\": 1}').__proto__", "1"),
        ("typeof Proxy + new Proxy([1, 2], {}).map((x) => x + 1).join()", "\"function2,3\""),
        ("(function () { return this === undefined; })()", "true"),
        ("Object.prototype.toString.call([])", "\"[object Array]\""),
    ] {
        assert_eq!(bench.body(&answer(expression)), wanted, "{expression}");
    }
}

#[test]
fn scripts_may_be_written_in_several_ways() {
    let mut bench = Bench::default();
    for source in [
        "function () { getContext().getResponse().setBody(1); }",
        "function main() { getContext().getResponse().setBody(1); }",
        "// a comment\n/* another */ function main() { getContext().getResponse().setBody(1); } // the end",
        "() => getContext().getResponse().setBody(1)",
        "() => { getContext().getResponse().setBody(1); };",
        "async function () { getContext().getResponse().setBody(await 1); }",
        "async () => { await null; __.response.setBody(1); }",
        "function main() { helper(); }\nfunction helper() { __.response.setBody(1); }",
        "const main = () => { __.response.setBody(1); };\n",
        "function main() { __.response.setBody(1); };\n\n",
        "(function () { __.response.setBody(1); })",
    ] {
        assert_eq!(bench.body(source), "1", "{source}");
    }
}

#[test]
fn a_text_that_is_no_function_is_a_compile_error() {
    let bench = Bench::default();
    for source in [
        "",
        "function () {",
        "function ( {}",
        "let = 1",
        "return 1",
        "a b",
        "function () { 'use strict'; with (a) {} }",
        "\0",
        "import x from 'y'",
        "() => 1n",
    ] {
        let checked = Script::new("container", "bad", source).and_then(|script| bench.engine.compile_check(&script));
        let error = checked.expect_err(source);
        assert_eq!(
            (error.status(), error.substatus(), error.kind),
            (400, 65_535, ErrorKind::Compile),
            "{source}: {error}"
        );
        assert!(error.message.starts_with("Encountered exception while compiling"), "{}", error.message);
    }
    let error = Script::new("container", "bad", "function () {\n  let a = ;\n}")
        .and_then(|script| bench.engine.compile_check(&script))
        .unwrap_err();
    assert!(error.message.contains("SyntaxError") && error.message.contains("bad.js:2:"), "{}", error.message);
}

#[test]
fn compile_check_runs_nothing_of_the_script() {
    let bench = Bench::default();
    let script = Script::new("container", "x", "function () { while (true) {} }").unwrap();
    bench.engine.compile_check(&script).unwrap();
}

#[test]
fn what_is_not_callable_is_refused_when_run() {
    let error = Bench::default().error("({})");
    assert_eq!((error.status(), error.substatus()), (400, 400));
    assert!(error.message.contains("not a function"), "{}", error.message);
}

#[test]
fn arguments_are_spread_and_anything_else_is_one_argument() {
    let mut bench = Bench::default();
    let source = "function () { __.response.setBody(Array.from(arguments)); }";
    for (arguments, wanted) in [
        ("", "[]"),
        ("  ", "[]"),
        ("[]", "[]"),
        ("[1,\"a\",[2],{\"b\":null}]", "[1,\"a\",[2],{\"b\":null}]"),
        ("{\"a\":1}", "[{\"a\":1}]"),
        ("5", "[5]"),
    ] {
        assert_eq!(bench.body_with(source, arguments), wanted, "{arguments}");
    }
    for bad in ["[", "nope", "[1,]", "'a'", "[1]]", "\u{0}"] {
        let error = bench.run(source, bad).unwrap_err();
        assert_eq!((error.kind, error.status()), (ErrorKind::Arguments, 400), "{bad}");
    }
}

#[test]
fn code_runs_in_strict_mode() {
    let mut bench = Bench::default();
    let error = bench.error("function () { undeclared = 1; }");
    assert!(error.message.contains("ReferenceError"), "{}", error.message);
    let error = bench.error("function () { Object.freeze([]).push(1); }");
    assert!(error.message.contains("TypeError"), "{}", error.message);
}

#[test]
fn nothing_of_the_outside_is_there() {
    let mut bench = Bench::default();
    for name in [
        "eval",
        "require",
        "process",
        "setTimeout",
        "setInterval",
        "setImmediate",
        "fetch",
        "XMLHttpRequest",
        "std",
        "os",
        "scriptArgs",
        "print",
        "load",
        "WeakRef",
        "FinalizationRegistry",
        "SharedArrayBuffer",
        "Atomics",
        "BigInt",
        "performance",
        "navigator",
        "queueMicrotask",
        "module",
        "host",
        "Iterator",
        "DisposableStack",
    ] {
        assert_eq!(bench.body(&answer(&format!("typeof {name}"))), "\"undefined\"", "{name}");
    }
}

#[test]
fn code_cannot_be_made_from_text() {
    let mut bench = Bench::default();
    for expression in [
        "Function('return 1')()",
        "new Function('return 1')()",
        "(() => {}).constructor('return 1')()",
        "(async () => {}).constructor('return 1')()",
        "(function* () {}).constructor('return 1')()",
        "(async function* () {}).constructor('return 1')()",
        "Object.getPrototypeOf(function* () {}).constructor('yield 1')()",
        "Reflect.construct((() => {}).constructor, ['return 1'])()",
        "[].map.constructor('return 1')()",
        "getContext.constructor('return 1')()",
        "__.createDocument.constructor('return 1')()",
        "new (class extends Function {})('return 1')()",
        "eval('1')",
        "(0, eval)('1')",
    ] {
        let error = bench.error(&answer(expression));
        assert!(
            error.message.contains("cannot be made from text") || error.message.contains("ReferenceError"),
            "{expression}: {}",
            error.message
        );
    }
    assert_eq!(bench.body(&answer("(() => {}) instanceof Function && (() => {}).constructor === Function")), "true");
}

#[test]
fn errors_take_a_number_and_a_body() {
    let mut bench = Bench::default();
    for (expression, wanted) in [
        ("new Error(404, 'gone').number", "404"),
        ("new Error(404, 'gone').body", "\"gone\""),
        ("new Error(404, 'gone').message", "\"gone\""),
        ("Error(404, 'gone').toString()", "\"Error: gone\""),
        ("new Error('plain').message", "\"plain\""),
        ("new Error('plain').number === undefined", "true"),
        ("new Error('plain', {cause: 5}).cause", "5"),
        ("new TypeError('t') instanceof Error", "true"),
        (
            "(() => { try { null.x; } catch (e) { return e instanceof Error && e instanceof TypeError && e.constructor === TypeError; } })()",
            "true",
        ),
        ("Object.getPrototypeOf(TypeError) === Error", "true"),
        (
            "new (class Mine extends Error { constructor(m) { super(m); this.name = 'Mine'; } })('x').toString()",
            "\"Mine: x\"",
        ),
        ("new (class Mine extends Error {})(7, 'x').number", "7"),
        ("(() => { const e = new Error('a'); e.message = 'b'; e.toString = () => 'c'; return String(e); })()", "\"c\""),
        ("typeof new Error('x').stack", "\"string\""),
        (
            "[ErrorCodes.BadRequest, ErrorCodes.NotFound, ErrorCodes.RetryWith, Object.isFrozen(ErrorCodes)]",
            "[400,404,449,true]",
        ),
    ] {
        assert_eq!(bench.body(&answer(expression)), wanted, "{expression}");
    }
}

#[test]
fn assigning_over_inherited_names_works_as_if_nothing_were_frozen() {
    let mut bench = Bench::default();
    for (source, wanted) in [
        ("function () { const o = {}; o.toString = () => 'mine'; __.response.setBody(`${o}`); }", "\"mine\""),
        (
            "function () { const o = {}; o.constructor = 1; o.valueOf = () => 5; __.response.setBody([o.constructor, o + 1, Object.keys(o)]); }",
            "[1,6,[\"constructor\",\"valueOf\"]]",
        ),
        (
            "function () { function F() {} F.prototype.constructor = F; F.prototype.toString = () => 'f'; __.response.setBody(String(new F())); }",
            "\"f\"",
        ),
        ("function () { const a = [1]; a.toString = () => 'arr'; __.response.setBody(a + ''); }", "\"arr\""),
        (
            "function () { function E(m) { this.message = m; this.name = 'E'; } E.prototype = Object.create(Error.prototype); E.prototype.constructor = E; __.response.setBody(String(new E('x'))); }",
            "\"E: x\"",
        ),
    ] {
        assert_eq!(bench.body(source), wanted, "{source}");
    }
}

#[test]
fn dates_show_the_given_instant_in_utc() {
    let mut bench = Bench::default();
    for (expression, wanted) in [
        ("new Date() >= 1700000000000 && Date.now() < 1700000600000", "true"),
        ("(() => { const a = Date.now(); for (let i = 0; i < 300000; i++); return Date.now() - a; })()", "0"),
        ("new Date(0).toString()", "\"Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)\""),
        ("new Date(2020, 1, 3, 4, 5, 6, 7).toISOString()", "\"2020-02-03T04:05:06.007Z\""),
        ("new Date('2020-02-03T04:05:06').getHours()", "4"),
        ("new Date('2020-02-03').getTime() === Date.UTC(2020, 1, 3)", "true"),
        ("new Date('2020-02-03T04:05:06+02:00').getUTCHours()", "2"),
        ("new Date('Mon, 03 Feb 2020 04:05:06 GMT').getHours()", "4"),
        ("new Date('Feb 3 2020 04:05:06').toJSON()", "\"2020-02-03T04:05:06.000Z\""),
        ("new Date(new Date(5)).getTime()", "5"),
        ("new Date(NaN).toString() + new Date('x').getTime()", "\"Invalid DateNaN\""),
        ("new Date(0).getTimezoneOffset()", "0"),
        ("new Date(0).toLocaleString()", "\"1/1/1970, 12:00:00 AM\""),
        ("typeof Date() + (new Date() instanceof Date) + (new Date().constructor === Date)", "\"stringtruetrue\""),
        ("new (class D extends Date { tag() { return 'd' + this.getTime(); } })(9).tag()", "\"d9\""),
        (
            "(() => { const d = new Date(0); d.setHours(5); d.setFullYear(2001); return d; })()",
            "\"2001-01-01T05:00:00.000Z\"",
        ),
    ] {
        assert_eq!(bench.body(&answer(expression)), wanted, "{expression}");
    }
}

#[test]
fn chance_comes_from_the_seed() {
    let mut bench = Bench::default();
    let source = answer("[Math.random(), Math.random(), Math.random()]");
    let mut draw = |seed| {
        bench.options = RunOptions { seed, ..RunOptions::default() };
        bench.body(&source)
    };
    let first = draw(1);
    assert_eq!(draw(1), first);
    assert_ne!(draw(2), first);
    assert_ne!(draw(1 << 40), first);
    assert_eq!(bench.body(&answer("(() => { for (let i = 0; i < 1000; i++) { const r = Math.random(); if (!(r >= 0 && r < 1)) return r; } return 'ok'; })()")), "\"ok\"");
}

#[test]
fn scripts_may_extend_builtins_for_themselves() {
    let mut bench = Bench::default();
    let extending = "function () { Array.prototype.last = function () { return this[this.length - 1]; }; Date.prototype.year = function () { return this.getFullYear(); }; \
                     __.response.setBody([[1, 2].last(), new Date(0).year()]); }";
    assert_eq!(bench.body(extending), "[2,1970]");
    assert_eq!(bench.body(&answer("typeof [].last")), "\"undefined\"");
}

#[test]
fn source_and_steps_are_limited() {
    let long = format!("function () {{ /*{}*/ }}", "x".repeat(tesela_script::limits::SCRIPT_SOURCE_BYTES_MAX));
    let error = Script::new("c", "long", &long).unwrap_err();
    assert_eq!((error.kind, error.status()), (ErrorKind::TooLarge, 413));

    // Where time stands still, steps end the run.
    let engine = tesela_script::Engine::new(
        Limits { steps: 1_000_000, ..Limits::default() },
        std::sync::Arc::new(support::ManualClock::default()),
    );
    let script = Script::new("c", "loop", "function () { while (true) {} }").unwrap();
    let error = engine.run_procedure(&script, "", &mut support::Memory::default(), &RunOptions::default()).unwrap_err();
    assert_eq!((error.kind, error.status()), (ErrorKind::TimedOut, 408));
    assert!(error.spent.steps >= 1_000_000, "{:?}", error.spent);
}
