//! Request, response, console and triggers; how failures are told.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Bench, Memory};
use tesela_script::{ErrorKind, Limits, RunOptions, Script, ScriptError, TriggerOperation};

#[test]
fn the_response_body_is_what_was_set_or_appended() {
    let mut bench = Bench::default();
    for (body, wanted) in [
        ("", "\"\""),
        ("r.setBody('a' + 'so')", "\"aso\""),
        ("r.setBody({a: [1]})", "{\"a\":[1]}"),
        ("r.setBody(null)", "null"),
        ("r.setBody(1); r.setBody(undefined)", "\"\""),
        (
            "for (let i = 0; i < 1000; i++) { if (i > 0 && r.getBody() != i - 1) throw 'body mismatch'; r.setBody(i); }",
            "999",
        ),
        ("for (let i = 0; i < 10; i++) r.appendValue('Body', i)", "\"0123456789\""),
        ("r.appendBody('a'); r.appendBody('b')", "\"ab\""),
        ("r.appendBody([1]); r.appendBody([2])", "\"[1][2]\""),
        ("r.appendBody([1])", "[1]"),
        ("r.setValue('Body', {x: 1}); r.setBody([r.getValue('body'), r.getBody().x])", "[{\"x\":1},1]"),
        ("const o = {n: 1}; r.setBody(o); o.n = 2", "{\"n\":1}"),
        ("r.setBody(new Date(0))", "\"1970-01-01T00:00:00.000Z\""),
        ("r.setBody({toJSON() { return 'j'; }})", "\"j\""),
        (
            "r.setBody([r.getOperationType(), r.getMaxResourceQuota(), r.getResourceQuotaCurrentUsage(), r.getValue('OperationType'), r.getValue('nope') === undefined])",
            "[\"Execute\",\"collectionSize=20971520;\",\"collectionSize=3072;\",\"Execute\",true]",
        ),
        ("r.setBody(getContext().getRequest().getBody())", "[1,2]"),
        (
            "r.setBody([__.request === getContext().getRequest(), __.response === r, Object.getPrototypeOf(__) === getContext().getCollection()])",
            "[true,true,true]",
        ),
        ("r.setBody('\\ud800')", "\"\\ud800\""),
    ] {
        let source = format!("function () {{ const r = getContext().getResponse(); {body}; }}");
        assert_eq!(bench.body_with(&source, "[1,2]"), wanted, "{body}");
    }
}

#[test]
fn values_that_cannot_be_set_say_so_with_their_number() {
    let mut bench = Bench::default();
    for (call, number) in [
        ("__.response.setValue('Nope', 1)", 400),
        ("__.response.setValue(5, 1)", 400),
        ("__.response.setValue('OperationType', 1)", 403),
        ("__.response.appendValue('MaxResourceQuota', 1)", 403),
        ("__.request.setBody(1)", 403),
        ("__.request.setValue('Body', 1)", 403),
        ("__.response.setBody('x'.repeat(5000000))", 413),
        ("__.createDocument(__.getSelfLink(), {id: 'x'.repeat(5000000)})", 413),
    ] {
        let source = format!("function () {{ try {{ {call}; }} catch (e) {{ __.response.setBody(e.number); }} }}");
        assert_eq!(bench.body(&source), number.to_string(), "{call}");
    }
    let error = bench.error("function () { __.response.setBody('x'.repeat(5000000)); }");
    assert_eq!((error.status(), error.substatus()), (400, 413));
    // Within the limit in UTF-16 units, beyond it in UTF-8 bytes.
    let error = bench.error("function () { __.response.setBody('\\u20ac'.repeat(4000000)); }");
    assert_eq!((error.kind, error.status()), (ErrorKind::TooLarge, 413));
}

#[test]
fn the_log_is_formatted_kept_and_cut() {
    let mut bench = Bench::default();
    for (call, wanted) in [
        ("console.log('The value of %s is %s.', 'x', 1)", "The value of x is 1."),
        ("console.log('plain')", "plain"),
        ("console.log('a'); console.log('b')", "a\nb"),
        ("console.log('%d %i %f %j %o %%', '5', 3.7, 1.5, {a: 1}, [2])", "5 3 1.5 {\"a\":1} [2] %"),
        ("console.log('%s', {a: 1})", "{\"a\":1}"),
        ("console.log('%s %s', 'one')", "one %s"),
        ("console.log('more', 1, {b: 2}, undefined, null)", "more 1 {\"b\":2} undefined null"),
        ("console.log('%s', new Error('e'))", "Error: e"),
        ("console.log('%x %', 1)", "%x % 1"),
        ("console.log('\\ud800')", "\u{fffd}"),
        ("try { console.log(5); } catch (e) { console.log('%s', e.number); }", "400"),
    ] {
        let outcome = bench.run(&format!("function () {{ {call}; }}"), "").unwrap();
        assert_eq!(outcome.log.as_deref(), Some(wanted), "{call}");
    }
    let outcome = bench.run("function () { for (let i = 0; i < 10000; i++) console.log('0123456789€'); }", "").unwrap();
    let log = outcome.log.expect("logging is on");
    assert!(log.len() <= tesela_script::limits::SCRIPT_LOG_BYTES_MAX && log.len() > 3500, "{}", log.len());

    let error = bench.error("function () { console.log('before'); throw new Error('x'); }");
    assert_eq!(error.log.as_deref(), Some("before"));
    bench.options = RunOptions::default();
    let outcome = bench
        .run("function () { console.log('%s', {toJSON() { throw 'never called'; }}); console.log(5); }", "")
        .unwrap();
    assert_eq!(outcome.log, None, "a no-op when logging is off");
}

#[test]
fn exceptions_become_400_in_the_words_of_the_service() {
    let mut bench = Bench::default();
    for (thrown, text, number) in [
        ("new Error('boom')", "Error: boom", 0),
        ("new Error(429, 'slow down')", "Error: slow down", 429),
        ("new TypeError('t')", "TypeError: t", 0),
        ("'just a text'", "just a text", 0),
        ("5", "5", 0),
        ("null", "null", 0),
        ("undefined", "undefined", 0),
        ("{number: 7, a: 1}", "{\"number\":7,\"a\":1}", 7),
        ("{number: -1}", "{\"number\":-1}", 0),
        ("Object.assign(new Error('n'), {number: 1e20})", "Error: n", 0),
        ("Symbol('s')", "Symbol(s)", 0),
        (
            "Object.defineProperty(new Error(), 'message', {get() { throw 1; }})",
            "an exception that cannot be described",
            0,
        ),
        (
            "new Proxy({}, {get() { throw 1; }, has() { throw 1; }, getPrototypeOf() { throw 1; }})",
            "an exception that cannot be described",
            0,
        ),
        ("new Error('\\ud800 lone')", "Error: \u{fffd} lone", 0),
    ] {
        let error = bench.error(&format!("function () {{ throw {thrown}; }}"));
        assert_eq!((error.status(), error.substatus()), (400, number), "{thrown}");
        let wanted = format!("Encountered exception while executing function. Exception = {text}\r\nStack trace: ");
        assert!(error.message.starts_with(&wanted), "{thrown}: {}", error.message);
    }
}

#[test]
fn stack_traces_give_the_scripts_own_positions() {
    let mut bench = Bench::default();
    let script = Script::new(
        "container",
        "import",
        "function main() {\n  inner();\n  function inner() {\n    throw new Error('here');\n  }\n}",
    )
    .unwrap();
    let error = bench.run_script(&script, "").unwrap_err();
    let trace = error.message.split_once("Stack trace: ").expect("a trace").1;
    assert_eq!(trace, "Error: here\n   at inner (import.js:4:15)\n   at main (import.js:2:3)");
    let error = bench.error("() => null.x");
    assert!(error.message.ends_with("\n   at Anonymous function (proc.js:1:1)"), "{}", error.message);
    let error =
        bench.error(&"function () { throw new Error('x'.repeat(1000000)); }".replace("function ()", "function long()"));
    assert!(error.message.len() < 40_000, "{}", error.message.len());
}

struct Trigger {
    bench: Bench,
}

impl Trigger {
    fn new() -> Self {
        Self { bench: Bench::default() }
    }

    fn pre(
        &mut self,
        source: &str,
        operation: TriggerOperation,
        document: Option<&str>,
    ) -> Result<Option<String>, ScriptError> {
        let script = Script::new("container", "trigger", source)?;
        let outcome = self.bench.engine.run_pre_trigger(
            &script,
            operation,
            document,
            &mut self.bench.memory,
            &self.bench.options,
        )?;
        Ok(outcome.body)
    }

    fn post(
        &mut self,
        source: &str,
        operation: TriggerOperation,
        request: Option<&str>,
        response: Option<&str>,
    ) -> Result<Option<String>, ScriptError> {
        let script = Script::new("container", "trigger", source)?;
        let outcome = self.bench.engine.run_post_trigger(
            &script,
            operation,
            request,
            response,
            &mut self.bench.memory,
            &self.bench.options,
        )?;
        Ok(outcome.body)
    }
}

#[test]
fn a_pre_trigger_changes_the_document_by_set_body() {
    let mut trigger = Trigger::new();
    let stamp = "function () { const request = getContext().getRequest(); const item = request.getBody(); if (!('at' in item)) item.at = 7; item.op = request.getOperationType(); request.setBody(item); }";
    let document = r#"{"id":"a","n":1}"#;
    assert_eq!(
        trigger.pre(stamp, TriggerOperation::Create, Some(document)).unwrap().as_deref(),
        Some(r#"{"id":"a","n":1,"at":7,"op":"Create"}"#)
    );
    assert_eq!(
        trigger.pre(stamp, TriggerOperation::Upsert, Some(document)).unwrap().as_deref(),
        Some(r#"{"id":"a","n":1,"at":7,"op":"Upsert"}"#)
    );
    let changes_nothing = "function () { const item = getContext().getRequest().getBody(); item.changed = true; }";
    assert_eq!(trigger.pre(changes_nothing, TriggerOperation::Replace, Some(document)).unwrap(), None);
    let by_value = "function () { const r = __.request; r.setValue('Body', {id: r.getValue('Body').id + '!'}); }";
    assert_eq!(
        trigger.pre(by_value, TriggerOperation::Create, Some(document)).unwrap().as_deref(),
        Some(r#"{"id":"a!"}"#)
    );
    let on_delete = "function () { if (getContext().getRequest().getBody() !== undefined || getContext().getRequest().getOperationType() !== 'Delete') throw 'wrong'; }";
    assert_eq!(trigger.pre(on_delete, TriggerOperation::Delete, None).unwrap(), None);
}

#[test]
fn a_pre_trigger_has_no_response() {
    let mut trigger = Trigger::new();
    let source = "function () { __.request.setBody([typeof getContext().getResponse, typeof __.response]); }";
    assert_eq!(
        trigger.pre(source, TriggerOperation::Create, Some("{}")).unwrap().as_deref(),
        Some(r#"["undefined","undefined"]"#)
    );
    let error = trigger
        .pre("function () { getContext().getResponse().setBody(1); }", TriggerOperation::Create, Some("{}"))
        .unwrap_err();
    assert_eq!(error.status(), 400);
    let error =
        trigger.pre("function () { __.filter(() => true); }", TriggerOperation::Create, Some("{}")).unwrap_err();
    assert_eq!((error.status(), error.substatus()), (400, 400));
}

#[test]
fn a_trigger_may_use_the_collection_and_veto() {
    let mut trigger = Trigger { bench: Bench { memory: Memory::with(&[r#"{"id":"taken"}"#]), ..Bench::default() } };
    let unique = "function () { const wanted = __.request.getBody().name; \
                  __.queryDocuments(__.getSelfLink(), {query: 'SELECT * FROM c WHERE c.id = @id', parameters: [{name: '@id', value: wanted}]}, (err, found) => { \
                  if (found.length) throw new Error(409, 'name in use'); }); }";
    assert!(trigger.pre(unique, TriggerOperation::Create, Some(r#"{"name":"free"}"#)).is_ok());
    let error = trigger.pre(unique, TriggerOperation::Create, Some(r#"{"name":"taken"}"#)).unwrap_err();
    assert_eq!((error.status(), error.substatus()), (400, 409));
}

#[test]
fn a_post_trigger_sees_the_stored_document_and_changes_the_answer() {
    let mut trigger = Trigger::new();
    let source = "function () { const stored = getContext().getResponse().getBody(), sent = getContext().getRequest().getBody(); \
                  __.upsertDocument(__.getSelfLink(), {id: 'audit', of: stored.id, op: __.response.getOperationType()}, () => __.response.setBody({...stored, sent: sent.n})); }";
    let body = trigger
        .post(source, TriggerOperation::Replace, Some(r#"{"id":"a","n":1}"#), Some(r#"{"id":"a","n":1,"_etag":"e"}"#))
        .unwrap();
    assert_eq!(body.as_deref(), Some(r#"{"id":"a","n":1,"_etag":"e","sent":1}"#));
    assert_eq!(trigger.bench.memory.ids(), ["audit"]);
    assert_eq!(trigger.post("function () {}", TriggerOperation::Create, None, Some("{}")).unwrap(), None, "unchanged");
    let error = trigger
        .post("function () { __.request.setBody({}); }", TriggerOperation::Create, Some("{}"), Some("{}"))
        .unwrap_err();
    assert_eq!(error.substatus(), 403);
    let error =
        trigger.post("function () { throw 'veto'; }", TriggerOperation::Create, Some("{}"), Some("{}")).unwrap_err();
    assert!(error.message.contains("Exception = veto"), "{}", error.message);
}

#[test]
fn date_moves_only_between_turns_and_the_soft_limit_refuses_operations() {
    let clock = std::sync::Arc::new(support::ManualClock::default());
    let engine = tesela_script::Engine::new(Limits::default(), clock.clone());
    struct Slow {
        inner: Memory,
        clock: std::sync::Arc<support::ManualClock>,
    }
    impl tesela_script::Collection for Slow {
        fn self_link(&self) -> &str {
            self.inner.self_link()
        }
        fn alt_link(&self) -> &str {
            self.inner.alt_link()
        }
        fn read(
            &mut self,
            document: &tesela_script::DocumentRef,
            etag: Option<&str>,
        ) -> Result<tesela_script::Read, tesela_script::OpError> {
            self.clock.advance_ms(1500);
            self.inner.read(document, etag)
        }
        fn list(&mut self, page: &tesela_script::PageRequest) -> Result<tesela_script::Page, tesela_script::OpError> {
            self.inner.list(page)
        }
        fn query(
            &mut self,
            query: &tesela_script::Query,
            page: &tesela_script::PageRequest,
        ) -> Result<tesela_script::Page, tesela_script::OpError> {
            self.inner.query(query, page)
        }
        fn create(
            &mut self,
            body: &str,
            options: &tesela_script::WriteOptions,
        ) -> Result<tesela_script::Written, tesela_script::OpError> {
            self.inner.create(body, options)
        }
        fn upsert(
            &mut self,
            body: &str,
            options: &tesela_script::WriteOptions,
        ) -> Result<tesela_script::Written, tesela_script::OpError> {
            self.inner.upsert(body, options)
        }
        fn replace(
            &mut self,
            document: &tesela_script::DocumentRef,
            body: &str,
            options: &tesela_script::WriteOptions,
        ) -> Result<tesela_script::Written, tesela_script::OpError> {
            self.inner.replace(document, body, options)
        }
        fn delete(
            &mut self,
            document: &tesela_script::DocumentRef,
            etag: Option<&str>,
        ) -> Result<(), tesela_script::OpError> {
            self.inner.delete(document, etag)
        }
        fn accepts_more(&self) -> bool {
            self.inner.accepts_more()
        }
    }
    let mut slow = Slow { inner: Memory::with(&[r#"{"id":"a"}"#]), clock };
    let script = Script::new(
        "c",
        "s",
        "function () { const began = Date.now(), times = []; (function read() { const ok = __.readDocument(__.getAltLink() + '/docs/a', () => { times.push(new Date() - began); read(); }); \
         if (!ok) __.response.setBody(times); })(); }",
    )
    .unwrap();
    let outcome = engine.run_procedure(&script, "", &mut slow, &RunOptions::default()).unwrap();
    // Accepted until 4 s: the third read ends at 4.5 s and the fourth is refused.
    assert_eq!(outcome.procedure_body(), "[1500,3000,4500]");
    assert_eq!((outcome.spent.operations, outcome.spent.time.as_millis()), (3, 4500));
    // A script that goes on regardless meets the hard limit.
    let script = Script::new(
        "c",
        "s2",
        "function () { for (let i = 0; i < 9; i++) __.readDocument(__.getAltLink() + '/docs/a', () => {}); }",
    )
    .unwrap();
    let error = engine.run_procedure(&script, "", &mut slow, &RunOptions::default()).unwrap_err();
    assert_eq!((error.kind, error.status(), error.spent.operations), (ErrorKind::TimedOut, 408, 4));
}
