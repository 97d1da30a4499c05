//! Every method of the server-side collection API, over a collection in memory (R16, R17).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{ALT_LINK, Bench, Memory, SELF_LINK, answer};
use tesela_model::json::Value;
use tesela_script::{ErrorKind, OpError};

const TWO: [&str; 2] = [r#"{"id":"a","pk":"k","n":1}"#, r#"{"id":"b","pk":"k","n":2}"#];

/// A procedure body with the usual names in scope.
fn procedure(body: &str) -> String {
    format!(
        "function () {{ const context = getContext(), collection = context.getCollection(), response = context.getResponse(), link = collection.getSelfLink(); \
         const doc = (id) => collection.getAltLink() + '/docs/' + id; {body} }}"
    )
}

#[test]
fn links_are_those_of_the_collection() {
    let mut bench = Bench::default();
    assert_eq!(bench.body(&answer("[__.getSelfLink(), __.getAltLink()]")), format!("[\"{SELF_LINK}\",\"{ALT_LINK}\"]"));
}

#[test]
fn operations_call_back_with_the_resource() {
    let cases = [
        // (call, what the callback sees, what reached the collection)
        ("collection.readDocument(doc('a'), cb)", r#"[true,{"n":1},200]"#, r#"read Id("a") None"#),
        (
            "collection.readDocument('dbs/AAAAAA==/colls/AAAAAAAAAAA=/docs/R2==/', {}, cb)",
            r#"[true,{"n":2},200]"#,
            r#"read Rid("R2==") None"#,
        ),
        (
            "collection.readDocument('/' + doc('a') + '/', undefined, cb)",
            r#"[true,{"n":1},200]"#,
            r#"read Id("a") None"#,
        ),
        (
            "collection.createDocument(link, {id: 'c', n: 3}, cb)",
            r#"[true,{"n":3},201]"#,
            r#"create {"id":"c","n":3} WriteOptions { index_action: Default, etag: None, disable_automatic_id: false }"#,
        ),
        (
            "collection.createDocument(ALT, '{\"id\":\"c\", \"n\": 3.0}', {indexAction: 'exclude'}, cb)",
            r#"[true,{"n":3},201]"#,
            r#"create {"id":"c", "n": 3.0} WriteOptions { index_action: Exclude, etag: None, disable_automatic_id: false }"#,
        ),
        (
            "collection.upsertDocument(link, {id: 'a', n: 9}, cb)",
            r#"[true,{"n":9},200]"#,
            r#"upsert {"id":"a","n":9} WriteOptions { index_action: Default, etag: None, disable_automatic_id: false }"#,
        ),
        (
            "collection.upsertDocument(link, {id: 'z', n: 9}, {indexAction: 'include'}, cb)",
            r#"[true,{"n":9},201]"#,
            r#"upsert {"id":"z","n":9} WriteOptions { index_action: Include, etag: None, disable_automatic_id: false }"#,
        ),
        (
            "collection.replaceDocument(doc('a'), {id: 'a', n: 5}, {etag: 'e1'}, cb)",
            r#"[true,{"n":5},200]"#,
            r#"replace Id("a") {"id":"a","n":5} WriteOptions { index_action: Default, etag: Some("e1"), disable_automatic_id: false }"#,
        ),
    ];
    for (call, wanted, seen) in cases {
        let mut bench = Bench::with_documents(&TWO);
        let source = procedure(&format!(
            "const ALT = '{ALT_LINK}'; function cb(err, d, options) {{ if (err) throw err; response.setBody([accepted, {{n: d.n}}, options.statusCode]); }} const accepted = {call};"
        ));
        assert_eq!(bench.body(&source), wanted, "{call}");
        assert_eq!(bench.memory.seen, [seen], "{call}");
    }
}

#[test]
fn response_options_carry_sizes_and_continuation() {
    let mut bench = Bench::with_documents(&TWO);
    let source = procedure(
        "collection.readDocuments(link, {pageSize: 1}, (err, docs, options) => response.setBody([docs.length, options]));",
    );
    assert_eq!(
        bench.body(&source),
        r#"[1,{"statusCode":200,"currentCollectionSizeInMB":3,"maxCollectionSizeInMB":20480,"continuation":"1"}]"#
    );
}

#[test]
fn read_with_a_current_etag_is_not_modified() {
    let mut bench = Bench::with_documents(&TWO);
    let source = |etag: &str| {
        procedure(&format!(
            "collection.readDocument(doc('a'), {{ifNoneMatch: '{etag}'}}, (err, d, o) => response.setBody([err === undefined, d === undefined, o.notModified === true]));"
        ))
    };
    assert_eq!(bench.body(&source("e1")), "[true,true,true]");
    assert_eq!(bench.body(&source("old")), "[true,false,false]");
}

#[test]
fn delete_calls_back_with_options_only() {
    let mut bench = Bench::with_documents(&TWO);
    let source = procedure(
        "collection.deleteDocument(doc('a'), {}, (err, options, third) => response.setBody([err === undefined, options.statusCode, third === undefined]));",
    );
    assert_eq!(bench.body(&source), "[true,204,true]");
    assert_eq!(bench.memory.ids(), ["b"]);
    let source =
        procedure("collection.deleteDocument(doc('b'), {etag: 'wrong'}, (err) => response.setBody(err.number));");
    assert_eq!(bench.body(&source), "412");
    assert_eq!(bench.memory.ids(), ["b"]);
}

#[test]
fn queries_take_text_or_parameters_and_pages() {
    for (filter, wanted, seen) in [
        ("'SELECT * FROM c'", "[\"a\",\"b\"]", "query SELECT * FROM c None Some(100) None"),
        (
            "'SELECT * FROM c WHERE c.id = \"b\"'",
            "[\"b\"]",
            "query SELECT * FROM c WHERE c.id = \"b\" None Some(100) None",
        ),
        ("{query: 'SELECT * FROM c'}", "[\"a\",\"b\"]", "query SELECT * FROM c None Some(100) None"),
        (
            "{query: 'SELECT * FROM c WHERE c.id = @id', parameters: [{name: '@id', value: 'a'}]}",
            "[\"a\"]",
            "query SELECT * FROM c WHERE c.id = @id Some(\"[{\\\"name\\\":\\\"@id\\\",\\\"value\\\":\\\"a\\\"}]\") Some(100) None",
        ),
    ] {
        let mut bench = Bench::with_documents(&TWO);
        let source = procedure(&format!(
            "collection.queryDocuments(link, {filter}, (err, docs) => response.setBody(docs.map((d) => d.id)));"
        ));
        assert_eq!(bench.body(&source), wanted, "{filter}");
        assert_eq!(bench.memory.seen, [seen], "{filter}");
    }
    let mut bench = Bench::with_documents(&TWO);
    let source = procedure(
        "const ids = []; (function page(continuation) { collection.queryDocuments(link, 'q', {pageSize: 1, continuation, enableScan: true}, (err, docs, o) => { \
         ids.push(docs[0].id); if (o.continuation) page(o.continuation); else response.setBody(ids); }); })();",
    );
    assert_eq!(bench.body(&source), "[\"a\",\"b\"]");
    let source =
        procedure("collection.readDocuments(link, {pageSize: -1}, (err, docs) => response.setBody(docs.length));");
    assert_eq!(bench.body(&source), "2");
    assert_eq!(bench.memory.seen.last().map(String::as_str), Some("list None None"));
}

#[test]
fn ids_are_generated_unless_disabled() {
    let mut bench = Bench::default();
    let source = procedure("collection.createDocument(link, {n: 1}, (err, d) => response.setBody(typeof d.id));");
    assert_eq!(bench.body(&source), "\"string\"");
    let source = procedure(
        "collection.createDocument(link, {n: 1}, {disableAutomaticIdGeneration: true}, (err) => response.setBody(err.number));",
    );
    assert_eq!(bench.body(&source), "400");
}

#[test]
fn errors_reach_the_callback_with_number_and_body() {
    let mut bench = Bench::with_documents(&TWO);
    let source = procedure(
        "collection.readDocument(doc('none'), (err, d, o) => response.setBody([err.number, err.body, err.message, err instanceof Error, d === undefined, o.statusCode]));",
    );
    assert_eq!(
        bench.body(&source),
        r#"[404,"{\"Errors\":[\"Resource not found.\"]}","{\"Errors\":[\"Resource not found.\"]}",true,true,404]"#
    );
    let source = procedure("collection.createDocument(link, {id: 'a'}, (err) => response.setBody(err.number));");
    assert_eq!(bench.body(&source), "409");
    let source = procedure("collection.queryDocuments(link, 'SYNTAX', (err) => response.setBody(err.number));");
    assert_eq!(bench.body(&source), "400");
}

#[test]
fn an_error_nobody_handles_fails_the_run_and_rolls_back() {
    let mut bench = Bench::with_documents(&TWO);
    // Thrown again by the callback, and thrown for want of a callback.
    for (tail, number) in [("(err) => { if (err) throw err; }", 409), ("undefined", 409)] {
        let error = bench.error(&procedure(&format!(
            "collection.createDocument(link, {{id: 'new'}}); collection.createDocument(link, {{id: 'a'}}, {tail});"
        )));
        assert_eq!((error.status(), error.substatus()), (400, number));
        let wanted = r#"Encountered exception while executing function. Exception = Error: {"Errors":["Resource with specified id or name already exists."]}"#;
        assert!(error.message.starts_with(wanted), "{}", error.message);
        assert_eq!(bench.memory.ids(), ["a", "b"], "nothing is kept");
    }
}

#[test]
fn another_partition_key_is_a_clear_error() {
    let mut bench = Bench::default();
    let error = bench.error(&procedure("collection.createDocument(link, {id: 'x', pk: 'other'});"));
    assert_eq!((error.status(), error.substatus()), (400, 400));
    assert!(error.message.contains("another partition key"), "{}", error.message);
    assert_eq!(bench.memory.documents.len(), 0);
}

#[test]
fn wrong_arguments_throw_error_400_at_the_call() {
    let mut bench = Bench::with_documents(&TWO);
    for call in [
        "collection.readDocument()",
        "collection.readDocument(5)",
        "collection.readDocument('dbs/other/colls/c/docs/a')",
        "collection.readDocument('a')",
        "collection.readDocument(link)",
        "collection.readDocument(doc('a') + '/attachments/x')",
        "collection.readDocument(doc('a'), 5)",
        "collection.readDocument(doc('a'), {}, 5)",
        "collection.readDocument(doc('a'), {ifNoneMatch: 5})",
        "collection.readDocuments('dbs/other/colls/c')",
        "collection.readDocuments(doc('a'))",
        "collection.readDocuments(link, {pageSize: 0})",
        "collection.readDocuments(link, {pageSize: '5'})",
        "collection.readDocuments(link, {pageSize: 1.5})",
        "collection.readDocuments(link, {continuation: 5})",
        "collection.queryDocuments(link)",
        "collection.queryDocuments(link, 5)",
        "collection.queryDocuments(link, {q: 'x'})",
        "collection.queryDocuments(link, {query: 'x', parameters: {}})",
        "collection.queryDocuments(link, 'x', {enableScan: 'yes'})",
        "collection.createDocument(link)",
        "collection.createDocument(link, null)",
        "collection.createDocument(link, [1])",
        "collection.createDocument(link, 5)",
        "collection.createDocument(link, 'not json')",
        "collection.createDocument(link, '[1]')",
        "collection.createDocument('x', {})",
        "collection.createDocument(link, {}, {indexAction: 'maybe'})",
        "collection.createDocument(link, {}, {disableAutomaticIdGeneration: 1})",
        "collection.upsertDocument(link, {}, {etag: 1})",
        "collection.replaceDocument(link, {})",
        "collection.replaceDocument(doc('a'))",
        "collection.deleteDocument()",
        "collection.deleteDocument(doc('a'), {etag: {}})",
        "collection.createAttachment(doc('a'), {})",
        "collection.readAttachments(doc('a'))",
        "collection.deleteAttachment('x')",
    ] {
        let source = procedure(&format!(
            "try {{ {call}; response.setBody('accepted'); }} catch (e) {{ response.setBody([e.number, e instanceof Error, typeof e.message]); }}"
        ));
        assert_eq!(bench.body(&source), "[400,true,\"string\"]", "{call}");
    }
    assert_eq!(bench.memory.operations, 0);
}

#[test]
fn callbacks_come_in_order_after_the_caller_returned() {
    let mut bench = Bench::with_documents(&TWO);
    let source = procedure(
        "const log = []; collection.readDocument(doc('a'), () => { log.push('a'); collection.readDocument(doc('a'), () => { log.push('c'); response.setBody(log); }); }); \
         collection.readDocument(doc('b'), () => log.push('b')); log.push('main');",
    );
    assert_eq!(bench.body(&source), r#"["main","a","b","c"]"#);
}

#[test]
fn a_document_is_copied_at_the_call() {
    let mut bench = Bench::default();
    bench.body(&procedure("const d = {id: 'x', n: 1}; collection.createDocument(link, d); d.n = 2;"));
    assert_eq!(bench.memory.get("x").and_then(|d| d.get("n")), Some(&Value::from(1)));
}

#[test]
fn property_order_and_plain_numbers_survive() {
    let mut bench = Bench::with_documents(&[
        r#"{"id":"a","pk":"k","z":1,"a":2.5,"big":12345678901234567890,"m":{"y":1,"x":[1e3]}}"#,
    ]);
    bench.body(&procedure(
        "collection.readDocument(doc('a'), (err, d) => { d.added = true; collection.replaceDocument(d._self, d); });",
    ));
    let written = bench.memory.seen.last().expect("a replace");
    assert!(
        written.contains(r#"{"id":"a","pk":"k","z":1,"a":2.5,"big":12345678901234567000,"m":{"y":1,"x":[1000]},"#),
        "{written}"
    );
}

#[test]
fn own_writes_are_seen() {
    let mut bench = Bench::default();
    let source = procedure(
        "collection.createDocument(link, {id: 'x', n: 1}, (e, d) => { d.n = 2; collection.replaceDocument(d._self, d, () => \
         collection.readDocument(doc('x'), (e, d) => collection.deleteDocument(doc('x'), () => collection.readDocument(doc('x'), (e) => response.setBody([d.n, e.number]))))); });",
    );
    assert_eq!(bench.body(&source), "[2,404]");
}

#[test]
fn operations_beyond_the_budget_are_not_accepted() {
    let mut bench = Bench { memory: Memory { accepts: Some(5), ..Memory::with(&[]) }, ..Bench::default() };
    // The pattern of every bulk import: stop when refused, answer the count.
    let source = procedure(
        "let count = 0; (function more() { const accepted = collection.createDocument(link, {id: 'd' + count}, (err) => { if (err) throw err; count++; more(); }); \
         if (!accepted) response.setBody(count); })();",
    );
    assert_eq!(bench.body(&source), "5");
    assert_eq!(bench.memory.documents.len(), 5);
}

#[test]
fn the_queue_of_operations_is_bounded() {
    let mut bench = Bench::with_documents(&TWO);
    let source = procedure("let n = 0; while (collection.readDocument(doc('a'), () => {})) n++; response.setBody(n);");
    assert_eq!(bench.body(&source), tesela_script::limits::PENDING_OPERATIONS_MAX.to_string());
}

#[test]
fn an_operation_can_end_the_run() {
    let mut bench = Bench::with_documents(&TWO);
    bench.memory.next_error =
        Some(OpError::Abort { status: 429, substatus: 3200, message: "request rate is large".into() });
    let error =
        bench.error(&procedure("collection.readDocument(doc('a'), (err) => { response.setBody('handled'); });"));
    assert_eq!(
        (error.status(), error.substatus(), error.kind),
        (429, 3200, ErrorKind::Aborted { status: 429, substatus: 3200 })
    );
    assert_eq!(error.message, "request rate is large");
}

#[test]
fn promises_and_async_functions_work_over_callbacks() {
    let mut bench = Bench::with_documents(&TWO);
    let source = "async function () { \
        const read = (id) => new Promise((resolve, reject) => { const ok = __.readDocument(__.getAltLink() + '/docs/' + id, (err, d) => err ? reject(err) : resolve(d)); if (!ok) reject(new Error(429, 'no')); }); \
        const [a, b] = await Promise.all([read('a'), read('b')]); \
        let missing = 0; try { await read('none'); } catch (e) { missing = e.number; } \
        for await (const n of (async function* () { yield 1; yield 2; })()) missing += n; \
        __.response.setBody([a.n, b.n, missing]); }";
    assert_eq!(bench.body(source), "[1,2,407]");
}

#[test]
fn abort_ends_the_run_from_a_promise() {
    let mut bench = Bench::with_documents(&TWO);
    let source = "function () { async function main() { __.createDocument(__.getSelfLink(), {id: 'new'}); await null; throw new Error(429, 'not accepted'); } \
                  main().catch((err) => getContext().abort(err)); }";
    let error = bench.error(source);
    assert_eq!((error.status(), error.substatus()), (400, 429));
    assert!(error.message.contains("Exception = Error: not accepted"), "{}", error.message);
    assert_eq!(bench.memory.ids(), ["a", "b"]);
    // Catching what abort throws does not help.
    let error =
        bench.error("function () { try { getContext().abort('stop'); } catch (e) {} __.response.setBody('went on'); }");
    assert!(error.message.contains("Exception = stop"), "{}", error.message);
}

#[test]
fn an_unhandled_rejection_is_swallowed_and_logged() {
    let mut bench = Bench::default();
    let source =
        "async function () { __.createDocument(__.getSelfLink(), {id: 'kept'}); await null; throw new Error('lost'); }";
    let outcome = bench.run(source, "").expect("the service answers 200");
    assert_eq!(
        (outcome.procedure_body(), outcome.log.as_deref()),
        ("\"\"", Some("Unhandled promise rejection: Error: lost"))
    );
    assert_eq!(bench.memory.ids(), ["kept"]);
    // One that is handled late is not reported.
    let outcome = bench
        .run(
            "async function () { const p = Promise.reject(new Error('late')); await null; await p.catch(() => {}); }",
            "",
        )
        .unwrap();
    assert_eq!(outcome.log.as_deref(), Some(""));
    let mut bench = Bench::default();
    bench.options.fail_unhandled_rejection = true;
    let error = bench.error(source);
    assert!(error.message.contains("Exception = Error: lost"), "{}", error.message);
    assert_eq!(bench.memory.ids(), [""; 0]);
}
