//! What one run leaves for the next: nothing (the same container), and not even a realm (another one).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Bench, Memory, answer};
use tesela_script::{Engine, Limits, RunOptions, Script};

/// The global object, named so that the text does not ask for a realm of its own: the warm realm must
/// hold without help from that.
const GLOBAL: &str = "gl\\u006fbalThis";

/// Answers a description of everything a script can observe of the realm: all names, kinds and
/// function texts reachable from the globals and from literals.
fn fingerprint() -> String {
    let roots = format!(
        "[{GLOBAL}, function* () {{}}, async function () {{}}, async function* () {{}}, [].values(), new Map().keys(), /a/, (function () {{ return arguments; }})(), __, console, getContext, __.chain()]"
    );
    format!(
        "function () {{ const seen = new Set(), lines = []; const pending = {roots}.map((root) => [root, '']); let n = 0; \
         while (pending.length) {{ const [object, path] = pending.shift(); if (Object(object) !== object || seen.has(object)) continue; seen.add(object); \
           for (const key of Reflect.ownKeys(object)) {{ const d = Object.getOwnPropertyDescriptor(object, key); \
             lines.push(path + '.' + String(key) + ':' + typeof d.value + typeof d.get); pending.push([d.value, String(key)], [d.get, 'get'], [d.set, 'set']); }} \
           pending.push([Object.getPrototypeOf(object), 'proto']); }} \
         let hash = 0; for (const line of lines) for (let i = 0; i < line.length; i++) hash = (hash * 31 + line.charCodeAt(i)) | 0; \
         __.response.setBody([seen.size, lines.length, hash, Object.keys({{}}).length, [].concat([1]).join(), String(new Error('e')), JSON.stringify([new Date(0)]), 'x'.toUpperCase()]); }}"
    )
}

#[test]
fn attempts_to_leave_something_behind_change_nothing() {
    let attempts = [
        "Object.prototype.polluted = 1",
        "({}).constructor.prototype.polluted = 1",
        "[].constructor.prototype.map = () => 'mine'",
        "Object.getPrototypeOf([]).push = 1",
        "Object.defineProperty(Object.getPrototypeOf({}), 'x', {value: 1})",
        "Reflect.defineProperty(Reflect.getPrototypeOf(''), 'x', {value: 1})",
        "Reflect.set(Object.getPrototypeOf({}), 'x', 1)",
        "Object.setPrototypeOf(Array.prototype, {x: 1})",
        "Reflect.setPrototypeOf(Object.getPrototypeOf([]), null)",
        "({}).__proto__.x = 1",
        "({})['__pro' + 'to__']['x'] = 1",
        "({}).__defineGetter__.call(Object.getPrototypeOf({}), 'x', () => 1)",
        "GLOBAL.leak = 1",
        "GLOBAL.Math = {}",
        "delete GLOBAL.JSON",
        "Object.defineProperty(GLOBAL, 'Array', {value: 1})",
        "Object.setPrototypeOf(GLOBAL, {leak: 1})",
        "JSON.parse = () => 'mine'",
        "Math.random = () => 4",
        "Date.now = () => 0",
        "Error.prototype.toString = () => 'mine'",
        "new Error().constructor.prototype.name = 'mine'",
        "Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 'mine'",
        "TypeError.prototype.x = 1",
        "Promise.prototype.then = () => {}",
        "Promise.resolve().constructor.resolve = () => {}",
        "Object.getPrototypeOf(function* () {}).x = 1",
        "Object.getPrototypeOf((function* () {})()).next = () => 1",
        "Object.getPrototypeOf([].values()).next = () => ({done: true})",
        "Object.getPrototypeOf(Object.getPrototypeOf([].values()))[Symbol.iterator] = 1",
        "Object.getPrototypeOf(async () => {}).x = 1",
        "Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})())).x = 1",
        "Object.getPrototypeOf(new Map().keys()).next = 1",
        "Object.getPrototypeOf(/a/).exec = () => null",
        "Object.getPrototypeOf('a'.matchAll(/a/g)).next = 1",
        "Object.getPrototypeOf(Int8Array).from = 1",
        "Object.getPrototypeOf(getContext().getCollection()).createDocument = () => true",
        "Object.getPrototypeOf(getContext().getCollection()).extra = 1",
        "Object.getPrototypeOf(__.request).getBody = () => 'mine'",
        "Object.getPrototypeOf(__.response).setBody = () => 'mine'",
        "Object.getPrototypeOf(console).log = () => 'mine'",
        "Object.getPrototypeOf(__.chain()).map = 1",
        "__.spatial.distance = 1",
        "__.createDocument.extra = 1",
        "ErrorCodes.BadRequest = 1",
        "getContext.extra = 1; console.extra = 1; __.extra = 1; getContext().extra = 1; getContext().getCollection().extra = 1",
        "getContext().getCollection = () => 'mine'",
        "new (class extends (function (o) { return o; }) { #stamp = 1 })(Object.getPrototypeOf({}))",
        "Object.freeze.extra = 1",
        "[].map.call.extra = 1",
        "Symbol.iterator.description = 1",
        "String.prototype.trim.prototype = {}",
        "Object.getOwnPropertyDescriptor(Object.prototype, 'toString').set.call(Object.prototype, 1)",
        "Object.getOwnPropertyDescriptor(Object.prototype, 'toString').set.call([].map, () => 'mine')",
        "Object.prototype.__lookupSetter__('__proto__').call(Array.prototype, {})",
        "Object.assign(Object.getPrototypeOf({}), {x: 1})",
        "Array.prototype.push.call(Array.prototype, 1)",
        "Array.prototype.length = 5",
        "Function.prototype.call = 1",
        "(() => {}).constructor.prototype.apply = 1",
        "Promise.reject(new Error('left over')); Promise.resolve().then(() => { throw 1; })",
        "GLOBAL.Object.prototype.x = 1",
    ];
    for warm in [false, true] {
        let mut bench = Bench::default();
        let before = bench.body(&fingerprint());
        for attempt in attempts {
            let attempt = attempt.replace("GLOBAL", GLOBAL);
            // In the warm realm, by hiding from the text scan what the attempt is about.
            let text = if warm {
                attempt
                    .replace("prototype", "pr\\u006ftotype")
                    .replace("__proto__", "__pr\\u006fto__")
                    .replace("setPrototypeOf", "setPr\\u006ftotypeOf")
                    .replace("Error.", "Err\\u006fr.")
                    .replace("JSON.", "JS\\u004fN.")
                    .replace("Math.", "M\\u0061th.")
                    .replace("Date.", "D\\u0061te.")
            } else {
                attempt.clone()
            };
            let _ = bench.run(&format!("function () {{ {text}; }}"), "");
            let _ = bench.run(&format!("function () {{ try {{ {text}; }} catch (e) {{}} }}"), "");
            assert_eq!(bench.body(&fingerprint()), before, "{text}");
        }
    }
}

#[test]
fn every_lasting_object_of_a_warm_realm_is_frozen() {
    let source = format!(
        "function () {{ \
         const fresh = new Set([getContext, getContext.prototype, getContext(), __, console, __.request, __.response, getContext().getCollection()]); \
         for (const name of Object.keys(getContext())) {{ fresh.add(getContext()[name]); fresh.add(getContext()[name].prototype); }} \
         const roots = [{GLOBAL}, function* () {{}}, async function () {{}}, async function* () {{}}, Object.getPrototypeOf((function* () {{}})()), Object.getPrototypeOf((async function* () {{}})()), [].values(), new Map().keys(), new Set().keys(), ''[Symbol.iterator](), \
           'a'.matchAll(/a/g), new Int8Array(1), new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), new Proxy({{}}, {{}}), \
           Promise.resolve(), Promise.withResolvers().resolve, Symbol.iterator, 1, '', true, (function () {{ return arguments; }})(), class {{}}, __.chain(), (() => {{ try {{ null.x; }} catch (e) {{ return e; }} }})(), ...fresh].map((o) => Object.getPrototypeOf(Object(o))); \
         roots.push({GLOBAL}, Object.getOwnPropertyDescriptor((function () {{ return arguments; }})(), 'callee').get); \
         const pending = roots.map((o, i) => [o, 'root ' + i]), seen = new Set(), open = []; \
         while (pending.length) {{ const [object, path] = pending.pop(); if (Object(object) !== object || seen.has(object) || fresh.has(object)) continue; seen.add(object); \
           if (!Object.isFrozen(object)) open.push(path); \
           for (const key of Reflect.ownKeys(object)) {{ const d = Object.getOwnPropertyDescriptor(object, key); const at = path + '.' + String(key); pending.push([d.value, at], [d.get, at + ' get'], [d.set, at + ' set']); }} \
           pending.push([Object.getPrototypeOf(object), path + ' proto']); }} \
         __.response.setBody({{seen: seen.size > 700, open}}); }}"
    );
    let mut bench = Bench::default();
    assert_eq!(bench.body(&source), r#"{"seen":true,"open":[]}"#);
    assert_eq!(bench.engine.warm_realms().0, 1, "the script ran in a warm realm");
}

#[test]
fn a_scripts_own_functions_are_new_each_time() {
    let mut bench = Bench::default();
    for source in [
        "function counter() { counter.n = (counter.n || 0) + 1; __.response.setBody(counter.n); }",
        "(() => { let n = 0; return () => __.response.setBody(++n); })()",
        "function main() { Helper.n = (Helper.n || 0) + 1; __.response.setBody(Helper.n); } class Helper {}",
        "function () { const t = ((s) => s)`x`; t.n = 1; __.response.setBody(t.n); }",
    ] {
        let first = bench.run(source, "").map(|outcome| outcome.body);
        for _ in 0..3 {
            assert_eq!(
                bench.run(source, "").map(|outcome| outcome.body).map_err(|e| e.message),
                first.clone().map_err(|e| e.message),
                "{source}"
            );
        }
    }
}

#[test]
fn a_replaced_text_is_compiled_anew() {
    let mut bench = Bench::default();
    assert_eq!(bench.body(&answer("1")), "1");
    assert_eq!(bench.body(&answer("2")), "2");
    assert_eq!(bench.body(&answer("1")), "1");
}

#[test]
fn callbacks_of_a_failed_run_never_run() {
    let mut bench = Bench::with_documents(&[r#"{"id":"a"}"#]);
    bench.error("function () { __.readDocument(__.getAltLink() + '/docs/a', () => __.createDocument(__.getSelfLink(), {id: 'late'})); Promise.resolve().then(() => __.createDocument(__.getSelfLink(), {id: 'later'})); throw 1; }");
    assert_eq!(bench.body(&answer("5")), "5");
    assert_eq!(bench.memory.ids(), ["a"]);
}

#[test]
fn realms_belong_to_one_container() {
    let engine = Engine::new(
        Limits { warm_realms: 3, ..Limits::default() },
        std::sync::Arc::new(support::ManualClock::default()),
    );
    let run = |container: &str, source: &str| {
        let script = Script::new(container, "s", source).unwrap();
        engine
            .run_procedure(&script, "", &mut Memory::default(), &RunOptions::default())
            .map(|outcome| outcome.procedure_body().to_owned())
    };
    for container in ["a", "b", "a", "b", "a"] {
        run(container, "function () {}").unwrap();
    }
    assert_eq!(engine.warm_realms().0, 2, "one realm for each, reused");
    for container in ["c", "d", "e"] {
        run(container, "function () {}").unwrap();
    }
    assert_eq!(engine.warm_realms().0, 3, "the oldest gave way");
    engine.forget_container("e");
    assert_eq!(engine.warm_realms().0, 2);
    // A script with its own realm leaves none.
    run("f", "function () { Array.prototype.x = 1; }").unwrap();
    assert_eq!(engine.warm_realms().0, 2);
}

#[test]
fn unused_realms_are_swept() {
    let clock = std::sync::Arc::new(support::ManualClock::default());
    let engine = Engine::new(Limits::default(), clock.clone());
    let script = Script::new("c", "s", "function () { const a = new Array(500000).fill(0); a.push(a); }").unwrap();
    engine.run_procedure(&script, "", &mut Memory::default(), &RunOptions::default()).unwrap();
    engine.sweep();
    let (realms, bytes) = engine.warm_realms();
    assert!(realms == 1 && bytes < 1_000_000, "{realms} {bytes}");
    clock.advance_ms(tesela_script::limits::IDLE_REALM_MS + 1);
    engine.sweep();
    assert_eq!(engine.warm_realms(), (0, 0));
}

#[test]
fn a_realm_does_not_collect_scripts_without_end() {
    let engine = Engine::new(Limits::default(), std::sync::Arc::new(support::ManualClock::default()));
    let mut most = 0;
    for n in 0..(3 * tesela_script::limits::SCRIPTS_PER_REALM_MAX) {
        let padding = " ".repeat(1000);
        engine
            .compile_check(
                &Script::new("c", &format!("s{n}"), &format!("function () {{ return '{padding}{n}'; }}")).unwrap(),
            )
            .unwrap();
        most = most.max(engine.warm_realms().1);
    }
    assert!(most < 2_000_000, "{most}");
}

#[test]
fn the_engine_is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    fn moved<T: Send>() {}
    shared::<Engine>();
    shared::<Script>();
    moved::<tesela_script::Udfs>();
}

#[test]
fn runs_of_one_container_go_on_in_parallel() {
    let engine = Engine::new(Limits::default(), std::sync::Arc::new(support::RealClock::default()));
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let engine = engine.clone();
            std::thread::spawn(move || {
                let script = Script::new(
                    "c",
                    "s",
                    "function (n) { let x = 0; for (let i = 0; i < 1000; i++) x += n; __.response.setBody(x); }",
                )
                .unwrap();
                for _ in 0..50 {
                    let outcome = engine
                        .run_procedure(&script, &format!("[{thread}]"), &mut Memory::default(), &RunOptions::default())
                        .unwrap();
                    assert_eq!(outcome.procedure_body(), (thread * 1000).to_string());
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(engine.warm_realms().0 <= 4);
}
