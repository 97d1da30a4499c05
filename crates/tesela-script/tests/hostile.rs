//! Scripts that mean harm, hand-picked. Each must end near its time limit with an answer or an error,
//! and leave the engine, the data and the following run as if it had never been.
//!
//! `TESELA_HOSTILE_TIME_MS` sets the time limit of the scripts; a longer one lets them get further.

mod support;

use std::time::{Duration, Instant};

use support::{Bench, answer};
use tesela_script::{ErrorKind, Limits, Outcome, Script, ScriptError};

/// (what it tries, body of the procedure)
const HOSTILE: &[(&str, &str)] = &[
    ("spin", "while (true) {}"),
    ("spin in a for of", "for (const x of (function* () { while (true) yield 1; })()) {}"),
    ("spin and catch", "while (true) { try { while (true) {} } catch (e) {} finally { continue; } }"),
    ("recurse", "(function f() { f(); })()"),
    ("recurse and catch", "(function f() { try { f(); } catch (e) { f(); } })()"),
    ("recurse in a getter", "const o = {get x() { return this.x; }}; o.x"),
    ("recurse in toString", "const o = {toString() { return '' + this; }}; '' + o"),
    ("recurse in toJSON", "const o = {toJSON() { return {o}; }}; JSON.stringify(o)"),
    ("recurse through a proxy", "const p = new Proxy({}, {get(t, k, r) { return r[k]; }}); p.x"),
    ("recurse through bind", "let f = () => 1; for (let i = 0; i < 20000; i++) f = f.bind(null); f()"),
    ("recurse through reduce", "const f = (a) => [1].map(() => f(a)); f(1)"),
    ("recurse in a comparator", "const f = () => [1, 2].sort(f); f()"),
    ("recurse in replace", "const f = () => 'a'.replace(/a/, f); f()"),
    ("recurse in an iterator", "const o = {[Symbol.iterator]() { return [...o]; }}; [...o]"),
    ("promise loop", "(function f() { Promise.resolve().then(f); })()"),
    ("promise tree", "(function f() { Promise.resolve().then(f); Promise.resolve().then(f); })()"),
    ("await loop", "(async () => { while (true) await null; })()"),
    ("await loop of rejections", "(async () => { while (true) try { await Promise.reject(1); } catch (e) {} })()"),
    ("thenable loop", "const t = {then(r) { r(t); }}; (async () => { await t; })()"),
    ("thenable that throws", "(async () => { await {then() { throw 1; }}; })()"),
    ("thenable getter", "(async () => { await {get then() { while (true) {} }}; })()"),
    ("endless promises of arrays", "const all = []; while (true) all.push(new Promise(() => {}))"),
    ("unhandled rejections", "for (let i = 0; i < 200000; i++) Promise.reject(new Error('x'))"),
    ("callback loop", "(function f() { __.readDocument(__.getAltLink() + '/docs/a', f); })()"),
    ("create without end", "let n = 0; (function f() { __.createDocument(__.getSelfLink(), {id: 'n' + n++}, f); })()"),
    ("query loop", "(function f() { __.queryDocuments(__.getSelfLink(), 'q', f); })()"),
    ("pages loop", "(function f() { __.filter(() => { while (true) {} }); })()"),
    ("array of a million", "const a = []; while (true) a.push(a)"),
    ("arrays of holes", "const a = []; while (true) a.push(new Array(1000))"),
    ("new Array(2^32-1) and fill", "new Array(4294967295).fill(0)"),
    ("array-like without end: join", "Array.prototype.join.call({length: 2 ** 53 - 1}, '')"),
    ("array-like without end: includes", "Array.prototype.includes.call({length: 2 ** 53 - 1}, 1)"),
    ("array-like without end: reverse", "Array.prototype.reverse.call({length: 2 ** 53 - 1})"),
    ("array-like without end: forEach", "Array.prototype.forEach.call({length: 2 ** 53 - 1}, () => {})"),
    ("array-like without end: sort", "Array.prototype.sort.call({length: 2 ** 53 - 1})"),
    ("array-like without end: indexOf", "Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)"),
    ("array-like without end: fill", "Array.prototype.fill.call({length: 2 ** 53 - 1}, 1)"),
    ("array-like without end: slice", "Array.prototype.slice.call({length: 2 ** 53 - 1})"),
    ("array-like without end: concat", "[].concat({length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true})"),
    ("array-like without end: splice", "Array.prototype.splice.call({length: 2 ** 53 - 1}, 0, 1)"),
    ("array-like without end: unshift", "Array.prototype.unshift.call({length: 2 ** 53 - 2}, 1)"),
    ("array-like without end: copyWithin", "Array.prototype.copyWithin.call({length: 2 ** 53 - 1}, 1, 0)"),
    ("array-like without end: flat", "Array.prototype.flat.call({length: 2 ** 53 - 1})"),
    ("array-like without end: reduce", "Array.prototype.reduce.call({length: 2 ** 53 - 1}, () => 1)"),
    ("array-like without end: lastIndexOf", "Array.prototype.lastIndexOf.call({length: 2 ** 53 - 1}, 1)"),
    ("array-like without end: findLast", "Array.prototype.findLast.call({length: 2 ** 53 - 1}, () => false)"),
    ("array-like without end: toSorted", "Array.prototype.toSorted.call({length: 2 ** 32 - 1})"),
    ("array-like without end: with", "Array.prototype.with.call({length: 2 ** 32 - 1}, 0, 1)"),
    ("array-like without end: toSpliced", "Array.prototype.toSpliced.call({length: 2 ** 32 - 1}, 0, 1)"),
    ("array-like without end: toLocaleString", "Array.prototype.toLocaleString.call({length: 2 ** 53 - 1})"),
    ("array-like without end: from", "Array.from({length: 2 ** 53 - 1})"),
    ("array-like without end: apply", "Math.max.apply(null, {length: 2 ** 53 - 1})"),
    ("array-like without end: typed array", "new Uint8Array(10).set({length: 2 ** 53 - 1})"),
    ("array-like without end: new typed array", "new Uint8Array({length: 2 ** 53 - 1})"),
    ("array-like without end: raw", "String.raw({raw: {length: 2 ** 53 - 1}})"),
    (
        "array-like that changes its length",
        "let n = 0; Array.prototype.join.call({get length() { return n++ ? 2 ** 53 - 1 : 1; }}, '')",
    ),
    (
        "array-like that changes its length later",
        "Array.prototype.join.call({length: {valueOf() { this.n = (this.n || 0) + 1; return this.n > 1 ? 2 ** 53 - 1 : 1; }}}, '')",
    ),
    (
        "proxy that changes its length",
        "const h = {get(t, k) { if (k === 'length') { h.n = (h.n || 0) + 1; if (h.n > 1) { delete h.get; return 2 ** 53 - 1; } return 1; } }}; Array.prototype.join.call(new Proxy({length: 2 ** 53 - 1}, h), '')",
    ),
    ("proxy of an endless array, reversed", "new Proxy(new Array(4294967295), {}).reverse()"),
    ("sparse array: join", "new Array(4294967295).join('')"),
    ("sparse array: iterate", "for (const x of new Array(4294967295)) {}"),
    ("sparse array: set", "new Set(new Array(4294967295))"),
    ("sparse array: spread", "[...new Array(4294967295)]"),
    ("sparse array: stringify", "JSON.stringify(new Array(4294967295))"),
    ("sparse array: replacer", "JSON.stringify({}, new Array(4294967295))"),
    ("sparse array: sort", "new Array(4294967295).sort()"),
    ("sparse array: concat", "let a = new Array(4294967295); a.concat(a, a)"),
    (
        "sparse array: the iterator of arguments",
        "new Set({[Symbol.iterator]: () => (function () { return arguments; })()[Symbol.iterator].call(new Array(4294967295))})",
    ),
    ("sparse array: entries into Map", "new Map(new Array(4294967295).entries())"),
    ("shared empty arrays: flat", "let e = []; for (let i = 0; i < 60; i++) e = [e, e]; e.flat(Infinity)"),
    ("shared empty arrays: toString", "let e = []; for (let i = 0; i < 60; i++) e = [e, e]; String(e)"),
    ("shared empty arrays: stringify", "let e = []; for (let i = 0; i < 60; i++) e = [e, e]; JSON.stringify(e)"),
    ("array in itself: flat", "const a = []; a.push(a); a.flat(Infinity)"),
    ("array in itself: toString", "const a = []; a.push(a); String(a)"),
    ("deep array: stringify", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)"),
    ("deep array: free", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a = null"),
    ("deep object: set body", "let a = {}; for (let i = 0; i < 1e5; i++) a = {a}; __.response.setBody(a)"),
    (
        "deep object: document",
        "let a = {}; for (let i = 0; i < 1e5; i++) a = {a}; __.createDocument(__.getSelfLink(), a)",
    ),
    ("deep json", "JSON.parse('['.repeat(1e6))"),
    ("deep json objects", "JSON.parse('{\"a\":'.repeat(1e6))"),
    ("deep proxy chain", "let p = {}; for (let i = 0; i < 2e4; i++) p = new Proxy(p, {}); p.x"),
    ("deep proxy chain: isArray", "let p = []; for (let i = 0; i < 2e4; i++) p = new Proxy(p, {}); Array.isArray(p)"),
    ("deep proxy chain: call", "let p = () => 1; for (let i = 0; i < 2e4; i++) p = new Proxy(p, {}); p()"),
    (
        "deep proxy chain: instanceof",
        "let p = {}; for (let i = 0; i < 2e4; i++) p = new Proxy(p, {}); p instanceof Object",
    ),
    (
        "deep proxy chain: prototype",
        "const p = {}; Object.setPrototypeOf(p, new Proxy({}, {get(t, k, r) { return r[k]; }})); p.x",
    ),
    (
        "deep generator delegation",
        "function* g(n) { if (n) yield* g(n - 1); else while (true) yield 1; } for (const x of g(1000)) {}",
    ),
    ("deep iterator helpers", "let i = [1].values(); for (let n = 0; n < 2e4; n++) i = i.map((x) => x); i.next()"),
    ("json bomb", "let o = {}; for (let i = 0; i < 30; i++) o = {a: o, b: o}; JSON.stringify(o)"),
    (
        "json bomb and catch",
        "let o = {}; for (let i = 0; i < 30; i++) o = {a: o, b: o}; while (true) try { JSON.stringify(o); } catch (e) {}",
    ),
    ("json of throwing getters", "while (true) try { JSON.stringify({get a() { throw 1; }}); } catch (e) {}"),
    ("long text doubled", "let s = 'x'; while (true) s += s"),
    ("long text doubled and catch", "let s = 'x'; while (true) try { s += s; s.length; } catch (e) {}"),
    ("long text repeated", "'x'.repeat(2 ** 30)"),
    ("long text padded in a loop", "while (true) try { 'x'.padStart(2 ** 28); } catch (e) {}"),
    ("long text: search", "'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')"),
    (
        "long text: search, one call after another",
        "const s = 'a'.repeat(1e6), t = 'a'.repeat(3000) + 'b'; while (true) s.indexOf(t)",
    ),
    ("long text: replaceAll", "'a'.repeat(1e7).replaceAll('a'.repeat(5e6) + 'b', 'x')"),
    (
        "long text: replaceAll with an object",
        "'a'.repeat(1e7).replaceAll({toString: () => 'a'.repeat(5e6) + 'b', get [Symbol.replace]() { return undefined; }}, 'x')",
    ),
    ("long text: split", "'a'.repeat(1e7).split('')"),
    ("long text: normalize", "('a' + '\\u0315'.repeat(1e6) + '\\u0300'.repeat(1e6)).normalize('NFD')"),
    ("long text: localeCompare", "('a' + '\\u0315'.repeat(1e6) + '\\u0300'.repeat(1e6)).localeCompare('x')"),
    (
        "long text: sort of equal ones",
        "const s = 'x'.repeat(1e6), a = []; for (let i = 0; i < 1000; i++) a.push(i % 2 ? s : s + ''); a.sort()",
    ),
    (
        "regexp: a pretended one",
        "new RegExp({__proto__: RegExp.prototype, [Symbol.match]: true, source: '[' + 'ab'.repeat(1e6) + ']', flags: '', toString() { return 'x'.repeat(1e6); }})",
    ),
    ("regexp: copy a large one", "const r = /[\\u3000\\u3002]/; while (true) new RegExp(r)"),
    (
        "tamper: burn nothing",
        "Math.min = () => 0; const s = 'a'.repeat(1e6); while (true) s.indexOf('a'.repeat(100) + 'b')",
    ),
    (
        "tamper: hide proxies",
        "WeakSet.prototype.has = () => false; WeakSet.prototype.add = () => {}; let n = 0; Array.prototype.join.call(new Proxy({}, {get(t, k) { return k === 'length' ? (n++ ? 2 ** 53 - 1 : 1) : undefined; }}), '')",
    ),
    (
        "tamper: hide arrays",
        "Array.isArray = () => true; Object.getOwnPropertyDescriptor = () => ({value: 1}); Array.prototype.join.call({length: 2 ** 53 - 1}, '')",
    ),
    (
        "tamper: setters on indexes",
        "Object.defineProperty(Array.prototype, '0', {set() {}, get() { return 'x'.repeat(1e7); }}); ''.indexOf(); 'a'.match(); [].concat({length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true})",
    ),
    (
        "tamper: error texts",
        "String.prototype.slice = String.prototype.toWellFormed = function () { return 'y'.repeat(1e7); }; throw new Error('x')",
    ),
    (
        "tamper: results",
        "JSON.stringify = () => 'not json'; Array.prototype.push = null; Object.prototype.kind = 'drop'; __.createDocument(__.getSelfLink(), {id: 'x'}); __.response.setBody({})",
    ),
    ("tamper: describe", "Error.prototype.toString = () => { while (true) {} }; throw new Error('x')"),
    (
        "tamper: everything",
        "for (const k of Object.getOwnPropertyNames(globalThis)) { const v = globalThis[k]; for (const o of [v, v && v.prototype]) if (Object(o) === o) for (const n of Object.getOwnPropertyNames(o)) try { o[n] = () => 'mine'; } catch (e) {} } __.createDocument(__.getSelfLink(), {id: 'y'}, () => { throw 1; })",
    ),
    ("long text: number", "Number('9'.repeat(2e7))"),
    ("long text: parseInt", "parseInt('9'.repeat(2e7))"),
    ("long text: parseFloat of fraction", "parseFloat('0.' + '0'.repeat(2e7) + '1')"),
    ("long text: json number", "JSON.parse('9'.repeat(1e7))"),
    ("long text: date", "new Date('1'.repeat(1e7))"),
    ("long text: escape", "while (true) escape(encodeURIComponent('\\u20ac'.repeat(1e6)))"),
    ("long text: upper case in a loop", "const s = 'x'.repeat(5e6); while (true) s.toUpperCase()"),
    ("long text: concatenate in a loop", "const s = 'x'.repeat(5e6); let t; while (true) t = (s + 'y').charCodeAt(5)"),
    ("long text: compare in a loop", "const s = 'x'.repeat(5e6), t = s.slice(1) + 'x'; while (true) s === t"),
    ("regexp: nested quantifiers", "/^(a+)+$/.test('a'.repeat(40) + 'b')"),
    ("regexp: alternation", "/^(a|a)*$/.test('a'.repeat(40) + 'b')"),
    ("regexp: back-references", "/(a*)*\\1b/.test('a'.repeat(40))"),
    ("regexp: lookahead", "/^(?=(a+)+$)a*b/.test('a'.repeat(40) + 'c')"),
    ("regexp: replace", "'a'.repeat(1e6).replace(/a*a*a*a*b/g, 'x')"),
    ("regexp: many small matches", "while (true) 'a'.repeat(1e5).replace(/a/g, 'b')"),
    (
        "regexp: huge class",
        "new RegExp('[' + Array.from({length: 60000}, (_, i) => String.fromCharCode(i * 2 % 65536)).join('').replace(/[\\]\\\\^-]/g, '') + ']', 'iu')",
    ),
    ("regexp: huge counts", "new RegExp('(?:(?:a{1000}){1000}){1000}').test('a'.repeat(1e6))"),
    ("regexp: deep groups", "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))"),
    ("regexp: many groups", "new RegExp('(a)'.repeat(1e5)).exec('a'.repeat(1e5))"),
    ("regexp: own exec", "const r = /a/g; r.exec = () => ({index: 0, 0: '', length: 1}); 'aaa'.replace(r, 'b')"),
    (
        "regexp: split without progress",
        "class R extends RegExp { exec() { return null; } } 'x'.repeat(1e6).split(new R('y'))",
    ),
    ("map without end", "const m = new Map(); for (let i = 0; ; i++) m.set(i, i)"),
    ("map grown while iterated", "const m = new Map([[0, 0]]); let n = 0; m.forEach(() => m.set(++n, n))"),
    ("typed array: large", "new Uint8Array(2 ** 40)"),
    ("typed array: many", "while (true) new Float64Array(1e6)"),
    ("typed array: sort", "while (true) new Uint32Array(1e6).sort()"),
    (
        "buffer that resizes while sorted",
        "const b = new ArrayBuffer(1000, {maxByteLength: 1e6}); const u = new Uint8Array(b); u.sort(() => { b.resize(10); return 1; })",
    ),
    (
        "array that shrinks while sorted",
        "const a = Array.from({length: 1000}, (_, i) => i); a.sort(() => { a.length = 0; return 1; })",
    ),
    (
        "array that shrinks while reduced",
        "const a = Array.from({length: 1000}, (_, i) => i); a.reduce((s, x) => { a.length = 0; return s; }); a.concat(1).map(() => { a.push(1); })",
    ),
    ("functions without end", "const a = []; while (true) a.push(() => a)"),
    (
        "generators without end",
        "const a = []; function* g() { yield 1; } while (true) { const i = g(); i.next(); a.push(i); }",
    ),
    ("symbols without end", "const a = []; for (let i = 0; ; i++) a.push(Symbol.for('s' + i))"),
    ("errors with stacks without end", "const a = []; while (true) a.push(new Error('x'))"),
    ("log without end", "while (true) console.log('x'.repeat(1000))"),
    (
        "log of hostile values",
        "console.log('%s %j %d', {toString() { throw 1; }, toJSON() { throw 2; }}, {toJSON() { throw 2; }}, Symbol())",
    ),
    ("huge log line", "console.log('x'.repeat(3e7)); console.log('%s', 'y'.repeat(1e7))"),
    ("huge response", "__.response.setBody('x'.repeat(3e7))"),
    ("append without end", "while (true) __.response.appendBody('x'.repeat(100000))"),
    (
        "throw a hostile error",
        "throw {get message() { while (true) {} }, get stack() { while (true) {} }, get number() { while (true) {} }, toString() { while (true) {} }, toJSON() { while (true) {} }}",
    ),
    (
        "throw a proxy",
        "throw new Proxy(function () {}, {get() { while (true) {} }, getPrototypeOf() { while (true) {} }})",
    ),
    ("throw a huge error", "throw new Error('x'.repeat(3e7))"),
    ("throw in a callback after a write", "__.createDocument(__.getSelfLink(), {id: 'new'}, () => { throw 1; })"),
    ("abort with a hostile error", "getContext().abort({get stack() { while (true) {} }})"),
    ("options with throwing getters", "__.readDocuments(__.getSelfLink(), {get pageSize() { throw 1; }}, () => {})"),
    ("body with throwing getters", "__.createDocument(__.getSelfLink(), {get a() { throw 1; }})"),
    ("body that is a proxy", "__.createDocument(__.getSelfLink(), new Proxy({}, {ownKeys() { while (true) {} }}))"),
    (
        "body that changes the queue",
        "__.createDocument(__.getSelfLink(), {toJSON() { __.createDocument(__.getSelfLink(), {id: 'inner'}); return {id: 'outer'}; }}); throw 1",
    ),
    (
        "call back into the api while delivering",
        "__.readDocument(__.getAltLink() + '/docs/a', function f() { for (let i = 0; i < 20000; i++) __.readDocument(__.getAltLink() + '/docs/a', f); })",
    ),
    ("import", "import('x').then(() => {}, () => { throw 1; })"),
    (
        "out of memory and go on",
        "const a = []; try { while (true) a.push(new Array(10000).fill(1)); } catch (e) { while (true) { try { a.push({}); } catch (f) {} } }",
    ),
    ("out of memory in a promise", "(async () => { const a = []; while (true) a.push(new Array(10000).fill(1)); })()"),
    ("stack overflow in a promise", "(async function f() { await f(); })()"),
    ("date tricks", "new Date(8.64e15 + 1).toString(); new Date({valueOf() { while (true) {} }})"),
    (
        "sort with a lying comparator",
        "Array.from({length: 1e5}, () => Math.random()).sort(() => Math.random() - 0.5); while (true) {}",
    ),
    ("label and finally maze", "a: while (true) { try { continue a; } finally { continue a; } }"),
    (
        "class with hostile species",
        "class A extends Array { static get [Symbol.species]() { return function () { return new Proxy([], {defineProperty() { return true; }}); }; } } const a = new A(1e6).fill(0); while (true) a.map((x) => x)",
    ),
    ("weak map churn", "const w = new WeakMap(); while (true) w.set({}, new Array(100))"),
    ("destructure a hostile iterator", "const [a, b, c] = {[Symbol.iterator]: () => ({next() { while (true) {} }})}"),
    ("tag function with deep template", "let s = '`'; for (let i = 0; i < 100; i++) s += '${'; throw s"),
];

/// Operators whose single step is dear, so that the 10,000 steps between two looks at the clock are too.
/// They end late; the sizes here keep the test short.
const DEAR: &[(&str, &str)] = &[
    ("deep prototype chain", "let o = {}; for (let i = 0; i < 5e3; i++) o = Object.create(o); while (true) o.missing"),
    ("long text: as a property name", "const s = 'x'.repeat(2e5), o = {}; let n = 0; while (true) o[s + n++]"),
    (
        "object of many properties, copied",
        "const o = {}; for (let i = 0; i < 5000; i++) o['p' + i] = i; while (true) ({...o})",
    ),
    (
        "object of many properties, for in",
        "const o = {}; for (let i = 0; i < 5000; i++) o['p' + i] = i; while (true) for (const k in o) break",
    ),
];

/// Time a run may take beyond its limit: one interval of steps of metered built-ins, on a busy machine.
const GRACE: Duration = Duration::from_secs(3);

fn time_limit() -> Duration {
    Duration::from_millis(std::env::var("TESELA_HOSTILE_TIME_MS").ok().and_then(|ms| ms.parse().ok()).unwrap_or(100))
}

fn bench(timeouts_before_block: u32) -> Bench {
    let limits =
        Limits { time: time_limit(), accept_time: time_limit() * 4 / 5, timeouts_before_block, ..Limits::default() };
    let mut bench = Bench::with_limits(limits);
    bench.memory = support::Memory::with(&[r#"{"id":"a","pk":"k","n":1}"#]);
    bench
}

/// Runs a hostile script on a copy of the documents and throws the copy away.
#[allow(clippy::disallowed_methods, reason = "the claim is about real time")]
fn attack(bench: &Bench, body: &str) -> (Result<Outcome, ScriptError>, Duration) {
    let script =
        Script::new("container", "hostile", &format!("function () {{ {body}; }}")).expect("hostile, but a script");
    let mut transaction = bench.memory.clone();
    let begin = Instant::now();
    let outcome = bench.engine.run_procedure(&script, "[]", &mut transaction, &bench.options);
    (outcome, begin.elapsed())
}

/// The engine answers as ever.
fn assert_healthy(bench: &mut Bench, after: &str) {
    assert_eq!(
        bench.body(&answer("[[1, 2].concat(3).join(), 'a-b'.split('-'), {a: 1}, String(new Error('e'))]")),
        r#"["1,2,3",["a","b"],{"a":1},"Error: e"]"#,
        "after {after}"
    );
}

#[test]
fn hostile_scripts_end_and_leave_nothing() {
    let mut bench = bench(u32::MAX);
    let documents = bench.memory.documents.clone();
    let mut slowest = (Duration::ZERO, "");
    for (name, body) in HOSTILE {
        let (outcome, took) = attack(&bench, body);
        if let Err(error) = &outcome {
            assert!([400, 408].contains(&error.status()), "{name}: {} {error}", error.status());
            assert!(error.message.len() < 100_000, "{name}: a message of {} bytes", error.message.len());
        }
        assert!(took < time_limit() + GRACE, "{name} took {took:?}");
        slowest = slowest.max((took, name));
        assert_healthy(&mut bench, name);
    }
    println!("the slowest of {} was \"{}\" with {:?} of {:?}", HOSTILE.len(), slowest.1, slowest.0, time_limit());
    assert_eq!(bench.memory.documents, documents);
    bench.engine.sweep();
    let (realms, bytes) = bench.engine.warm_realms();
    assert!(realms <= 1 && bytes < 1_000_000, "{realms} realms with {bytes} bytes");
}

#[test]
fn dear_steps_end_late_and_get_their_script_blocked_at_once() {
    let mut bench = bench(5);
    for (name, body) in DEAR {
        let (outcome, took) = attack(&bench, body);
        assert_eq!(outcome.map_err(|error| error.kind), Err(ErrorKind::TimedOut), "{name}");
        println!("{name}: {took:?} of {:?}", time_limit());
        if took > time_limit() + Duration::from_millis(1_200) {
            assert_eq!(attack(&bench, body).0.map_err(|error| error.status()), Err(403), "{name}");
        }
        assert_healthy(&mut bench, name);
    }
}

#[test]
fn a_script_that_keeps_timing_out_is_blocked() {
    let mut bench = bench(3);
    for _ in 0..3 {
        assert_eq!(attack(&bench, "while (true) {}").0.map_err(|error| error.status()), Err(408));
    }
    let (outcome, took) = attack(&bench, "while (true) {}");
    let error = outcome.expect_err("blocked");
    assert_eq!((error.kind, error.status()), (ErrorKind::Blocked, 403));
    assert!(took < time_limit(), "refused without running");
    assert_eq!(
        attack(&bench, "while (true) { }").0.map_err(|error| error.status()),
        Err(408),
        "another text is another script"
    );
    assert_healthy(&mut bench, "a block");
}

/// Texts that are hard on the compiler: nested or repeated beyond reason.
#[test]
#[allow(clippy::disallowed_methods, reason = "the claim is about real time")]
fn hostile_texts_are_refused_or_compiled() {
    let mut bench = bench(u32::MAX);
    let nested = |open: &str, middle: &str, close: &str| {
        let depth = 200_000 / (open.len() + close.len());
        format!("function (x) {{ return {}{middle}{}; }}", open.repeat(depth), close.repeat(depth))
    };
    let class: String = (0..60_000u32).filter_map(|n| char::from_u32(0x3000 + n * 2 % 40_000)).collect();
    let texts = [
        nested("(", "x", ")"),
        nested("[", "x", "]"),
        nested("{a:", "x", "}"),
        nested("!", "x", ""),
        nested("- ", "x", ""),
        nested("x => ", "x", ""),
        nested("(a = ", "x", ") => 1"),
        nested("`${", "x", "}`"),
        nested("x ? x : ", "x", ""),
        nested("x ** ", "x", ""),
        nested("x = ", "x", ""),
        nested("new ", "x", ""),
        nested("typeof ", "x", ""),
        nested("function () { return ", "x", "}"),
        nested("class { a = ", "x", "}"),
        nested("x(", "x", ")"),
        nested("x?.", "x", ""),
        nested("x && ", "x", ""),
        nested("async () => await ", "x", ""),
        format!("function (x) {{ {} }}", "if (x) ".repeat(30_000) + "x"),
        format!("function (x) {{ {}{} }}", "try {".repeat(15_000), "} finally {}".repeat(15_000)),
        format!("function (x) {{ {}{} }}", "{".repeat(100_000), "}".repeat(100_000)),
        format!("function (x) {{ let {}a{} = x; }}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("function (x) {{ let {}; }}", (0..8_000).map(|n| format!("v{n}")).collect::<Vec<_>>().join(",")),
        format!("function ({}) {{}}", (0..20_000).map(|n| format!("v{n}")).collect::<Vec<_>>().join(",")),
        format!("function () {{ return /{}{}/; }}", "(?:".repeat(50_000), ")".repeat(50_000)),
        format!("function () {{ return /[{class}]/iu; }}"),
        format!("function () {{ return '{}'; }}", "\\u{1F600}".repeat(20_000)),
        format!("function () {{ {}", "/*".repeat(100_000)),
        "function () { }) ; while (true) {} ; (function () {} ".to_owned(),
        "\u{feff}function () {}".to_owned(),
        "function () { return `${`${`".to_owned(),
        "\u{2028}\u{2029}".repeat(1000),
    ];
    for text in texts {
        let shown: String = text.chars().take(40).collect();
        let begin = Instant::now();
        if let Err(error) =
            Script::new("container", "text", &text).and_then(|script| bench.engine.compile_check(&script))
        {
            assert!([400, 408, 413].contains(&error.status()), "{shown}: {error}");
        }
        assert!(begin.elapsed() < time_limit() + GRACE, "{shown} took {:?}", begin.elapsed());
        assert_healthy(&mut bench, &shown);
    }
}
