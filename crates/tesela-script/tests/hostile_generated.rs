//! Hostile scripts made by a grammar from a seed: odd values meet built-ins and the server-side API in
//! odd ways. Each must end, leave the process alive and the next run unharmed.
//!
//! `TESELA_HOSTILE_SCRIPTS` sets how many (300 by default), `TESELA_HOSTILE_SEED` where to begin. A
//! failure names the seed of its script.

mod support;

use std::time::{Duration, Instant};

use support::{Bench, answer};
use tesela_script::{ErrorKind, Limits, Script};

/// SplitMix64: a few lines of chance that replay from a seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const VALUES: &[&str] = &[
    "undefined",
    "null",
    "true",
    "NaN",
    "-0",
    "1e308",
    "2 ** 53",
    "4294967295",
    "-1",
    "''",
    "'a'.repeat(1000)",
    "'\\ud800'",
    "'__proto__'",
    "Symbol.iterator",
    "[]",
    "[1, , 3]",
    "new Array(1e6)",
    "new Array(4294967295)",
    "{length: 2 ** 53 - 1}",
    "{length: -1}",
    "{get length() { throw 1; }}",
    "{valueOf() { throw 2; }, toString() { return {}; }}",
    "{[Symbol.toPrimitive]() { return Symbol(); }}",
    "{toJSON() { return this; }}",
    "{then(resolve) { resolve(this); }}",
    "{get then() { throw 3; }}",
    "{[Symbol.iterator]() { return {next() { return {}; }}; }}",
    "{[Symbol.iterator]: null}",
    "new Proxy({}, {})",
    "new Proxy([], {get(t, k) { return k === 'length' ? 1e9 : undefined; }})",
    "new Proxy(function () {}, {apply() { throw 4; }, construct() { return {}; }})",
    "(() => { const c = []; c.push(c); return c; })()",
    "(() => { let d = []; for (let i = 0; i < 5000; i++) d = [d]; return d; })()",
    "(() => { let e = []; for (let i = 0; i < 40; i++) e = [e, e]; return e; })()",
    "/(a+)+b/g",
    "/(?:)/gy",
    "Object.freeze([1, 2, 3])",
    "Object.create(null)",
    "new Map([[1, 2]])",
    "new Set([NaN])",
    "new WeakMap()",
    "new Uint8Array(16)",
    "new Float64Array(3).buffer",
    "new Date(NaN)",
    "new Error(1, 2)",
    "Promise.reject(5)",
    "function* () { while (true) yield 1; }",
    "async () => { while (true) await 1; }",
    "class { static #p = 1; static get q() { return this.#p; } }",
    "() => { throw 6; }",
    "function self() { return self; }",
    "getContext",
    "__",
    "console",
    "__.request",
    "__.chain()",
    "Array.prototype",
    "Object.prototype",
    "Function.prototype",
    "JSON",
    "Reflect",
    "x",
    "y",
    "z",
];

const METHODS: &[&str] = &[
    "toString",
    "valueOf",
    "concat",
    "slice",
    "splice",
    "sort",
    "map",
    "filter",
    "reduce",
    "join",
    "flat",
    "flatMap",
    "indexOf",
    "includes",
    "fill",
    "reverse",
    "push",
    "pop",
    "shift",
    "unshift",
    "at",
    "entries",
    "values",
    "keys",
    "forEach",
    "find",
    "every",
    "copyWithin",
    "split",
    "replace",
    "replaceAll",
    "match",
    "matchAll",
    "search",
    "repeat",
    "padEnd",
    "normalize",
    "localeCompare",
    "toUpperCase",
    "charCodeAt",
    "trim",
    "then",
    "catch",
    "finally",
    "exec",
    "test",
    "call",
    "apply",
    "bind",
    "next",
    "return",
    "throw",
    "set",
    "get",
    "has",
    "add",
    "delete",
    "clear",
    "subarray",
    "getTime",
    "toISOString",
    "setFullYear",
    "hasOwnProperty",
    "__defineGetter__",
    "__lookupGetter__",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toJSON",
    "createDocument",
    "readDocument",
    "queryDocuments",
    "readDocuments",
    "replaceDocument",
    "upsertDocument",
    "deleteDocument",
    "filter",
    "pluck",
    "unwind",
    "sortBy",
    "chain",
    "value",
    "getSelfLink",
    "setBody",
    "getBody",
    "appendBody",
    "setValue",
    "appendValue",
    "getOperationType",
    "abort",
    "getCollection",
    "getResponse",
    "log",
    "constructor",
    "toSorted",
    "toSpliced",
    "with",
    "resize",
    "transfer",
    "union",
    "isSubsetOf",
    "raw",
    "from",
    "of",
];

const FUNCTIONS: &[&str] = &[
    "Object.keys",
    "Object.entries",
    "Object.assign",
    "Object.freeze",
    "Object.create",
    "Object.defineProperty",
    "Object.setPrototypeOf",
    "Object.getOwnPropertyDescriptors",
    "Object.fromEntries",
    "Object.groupBy",
    "Reflect.ownKeys",
    "Reflect.construct",
    "Reflect.apply",
    "Reflect.set",
    "Reflect.defineProperty",
    "Array.from",
    "Array.of",
    "Array.isArray",
    "JSON.stringify",
    "JSON.parse",
    "String",
    "Number",
    "Boolean",
    "Symbol",
    "Symbol.for",
    "parseInt",
    "parseFloat",
    "Math.max",
    "Math.hypot",
    "Promise.all",
    "Promise.race",
    "Promise.any",
    "Promise.allSettled",
    "Promise.resolve",
    "String.raw",
    "String.fromCodePoint",
    "Date.parse",
    "Date.UTC",
    "encodeURIComponent",
    "decodeURIComponent",
    "escape",
    "isNaN",
    "new Map",
    "new Set",
    "new WeakSet",
    "new Array",
    "new Uint8Array",
    "new Float64Array",
    "new ArrayBuffer",
    "new DataView",
    "new Proxy",
    "new RegExp",
    "new Date",
    "new Error",
    "new Promise",
    "new AggregateError",
    "new Boolean",
    "Error.captureStackTrace",
    "Math.random",
    "getContext",
    "__.createDocument",
    "__.queryDocuments",
    "__.filter",
    "__.map",
    "console.log",
    "__.response.setBody",
    "__.spatial.distance",
];

/// One expression; `depth` bounds its size.
fn expression(chance: &mut Chance, depth: u32) -> String {
    if depth == 0 {
        return format!("({})", chance.pick(VALUES));
    }
    let part = |chance: &mut Chance| expression(chance, depth - 1);
    match chance.below(12) {
        0 | 1 => format!("({})", chance.pick(VALUES)),
        2 | 3 => format!("{}({}, {})", chance.pick(FUNCTIONS), part(chance), part(chance)),
        4..=6 => format!("{}.{}({}, {})", part(chance), chance.pick(METHODS), part(chance), part(chance)),
        7 => format!("[].{}.call({}, {})", chance.pick(METHODS), part(chance), part(chance)),
        8 => format!("''.{}.call({}, {})", chance.pick(METHODS), part(chance), part(chance)),
        9 => format!(
            "({} {} {})",
            part(chance),
            chance.pick(&["+", "-", "*", "**", "==", "<", "&&", "??", ">>>", "in", "instanceof", ","]),
            part(chance)
        ),
        10 => format!("({{a: {}, ...{}}})", part(chance), part(chance)),
        _ => format!("(() => {{ try {{ return {}; }} catch (e) {{ return e; }} }})()", part(chance)),
    }
}

fn statement(chance: &mut Chance) -> String {
    let target = chance.pick(&["x", "y", "z"]);
    let value = expression(chance, 3);
    match chance.below(10) {
        0..=3 => format!("try {{ {target} = {value}; }} catch (e) {{ {target} = e; }}"),
        4 => format!("{target} = {value};"),
        5 => format!("try {{ for (const v of {value}) {{ {target} = v; if (n++ > 1000) break; }} }} catch (e) {{}}"),
        6 => format!("try {{ for (const k in {value}) {{ {target} = k; if (n++ > 1000) break; }} }} catch (e) {{}}"),
        7 => format!("(async () => {{ {target} = await {value}; }})();"),
        8 => format!("try {{ {target}[{value}] = {value}; }} catch (e) {{}}"),
        _ => format!("while (n++ < 100) {{ try {{ {target} = {value}; }} catch (e) {{ break; }} }}"),
    }
}

fn script(seed: u64) -> String {
    let mut chance = Chance(seed);
    let statements: Vec<String> = (0..1 + chance.below(8)).map(|_| statement(&mut chance)).collect();
    format!("function () {{ let x = 1, y = 'b', z = [3], n = 0;\n{}\n}}", statements.join("\n"))
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the claim is about real time")]
fn generated_scripts_end_and_leave_nothing() {
    let limits = Limits {
        time: Duration::from_millis(50),
        accept_time: Duration::from_millis(40),
        timeouts_before_block: u32::MAX,
        block_time: Duration::ZERO,
        ..Limits::default()
    };
    let mut bench = Bench::with_limits(limits);
    bench.memory = support::Memory::with(&[r#"{"id":"a","pk":"k"}"#]);
    let documents = bench.memory.documents.clone();
    let (first, count) = (setting("TESELA_HOSTILE_SEED", 1), setting("TESELA_HOSTILE_SCRIPTS", 300));
    let (mut answered, mut failed, mut slowest) = (0, 0, (Duration::ZERO, 0));
    for seed in first..first + count {
        let source = script(seed);
        if std::env::var_os("TESELA_HOSTILE_SHOW").is_some() {
            println!("seed {seed}: {source}");
        }
        let begin = Instant::now();
        let mut transaction = bench.memory.clone();
        let script = Script::new("container", "generated", &source).expect("the grammar makes scripts");
        match bench.engine.run_procedure(&script, "[]", &mut transaction, &bench.options) {
            Ok(_) => answered += 1,
            Err(error) => {
                failed += 1;
                assert!(
                    [400, 408, 413].contains(&error.status()) && error.kind != ErrorKind::Compile,
                    "seed {seed}: {error}\n{source}"
                );
            }
        }
        slowest = slowest.max((begin.elapsed(), seed));
        assert!(begin.elapsed() < Duration::from_secs(20), "seed {seed} took {:?}\n{source}", begin.elapsed());
        assert_eq!(
            bench.body(&answer("[[1].concat(2).join(), Object.keys({a: 1}), typeof __.filter, JSON.stringify({})]")),
            r#"["1,2",["a"],"function","{}"]"#,
            "after seed {seed}"
        );
    }
    println!("{answered} answered, {failed} failed, slowest {:?} (seed {})", slowest.0, slowest.1);
    assert!(answered > count / 10, "the grammar makes too many scripts that fail at once");
    assert_eq!(bench.memory.documents, documents);
    bench.engine.sweep();
    let (realms, bytes) = bench.engine.warm_realms();
    assert!(realms <= 1 && bytes < 1_000_000, "{realms} realms with {bytes} bytes");
}
