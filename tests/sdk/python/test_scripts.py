"""Stored procedures, triggers and user-defined functions (R1, R16, R17)."""

import json
import urllib.parse

import pytest
from azure.cosmos import documents
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceExistsError

from rest import key_header

A = key_header("a")


def procedure(container, name, body):
    container.scripts.create_stored_procedure({"id": name, "body": body})
    return lambda *arguments, **options: container.scripts.execute_stored_procedure(
        name, partition_key=options.pop("partition_key", "a"), params=list(arguments), **options
    )


@pytest.mark.parametrize("kind", ["stored_procedure", "trigger", "user_defined_function"])
def test_life_of_a_script(container, kind):
    scripts = container.scripts
    body = {"id": "s", "body": "function () { return 1; }"}
    if kind == "trigger":
        body |= {"triggerType": documents.TriggerType.Pre, "triggerOperation": documents.TriggerOperation.All}
    verbs = {verb: getattr(scripts, f"{verb}_{kind}") for verb in ("create", "get", "replace", "delete")}
    created = verbs["create"](body)
    assert created["body"] == body["body"] and created["_self"] and created["_rid"]
    with pytest.raises(CosmosResourceExistsError):
        verbs["create"](body)
    assert verbs["get"]("s")["id"] == "s"
    verbs["replace"]("s", dict(body, body="function () { return 2; }"))
    assert "return 2" in verbs["get"]("s")["body"]
    assert [each["id"] for each in getattr(scripts, f"list_{kind}s")()] == ["s"]
    found = getattr(scripts, f"query_{kind}s")("SELECT * FROM root r WHERE r.id = 's'")
    assert [each["id"] for each in found] == ["s"]
    verbs["delete"]("s")
    with pytest.raises(CosmosHttpResponseError) as gone:
        verbs["get"]("s")
    assert gone.value.status_code == 404


def test_result_and_arguments(container):
    run = procedure(container, "echo", "function (a, b) { getContext().getResponse().setBody({sum: a + b, args: arguments.length}); }")
    assert run(2, 3) == {"sum": 5, "args": 2}


@pytest.mark.parametrize("body", ["(a) => { getContext().getResponse().setBody(a) }", "function named(a) { __.response.setBody(a); }", "async function f(a) { getContext().getResponse().setBody(await a); }"])
def test_spellings_of_a_function(container, body):
    assert procedure(container, "f", body)([1, {"x": None}]) == [1, {"x": None}]


def test_nothing_set_is_empty_text(container):
    assert procedure(container, "quiet", "function () {}")() == ""


WRITE_TWO = """
function (first, second) {
    var c = getContext().getCollection();
    c.createDocument(c.getSelfLink(), first, function (error) {
        if (error) throw error;
        c.createDocument(c.getSelfLink(), second, function (error, made) {
            if (error) throw error;
            getContext().getResponse().setBody(made.id);
        });
    });
}"""


def test_writes_of_a_procedure_are_one_transaction(container):
    """R16: both, or none."""
    run = procedure(container, "two", WRITE_TWO)
    assert run({"id": "1", "pk": "a"}, {"id": "2", "pk": "a"}) == "2"
    with pytest.raises(CosmosHttpResponseError) as refused:
        run({"id": "3", "pk": "a"}, {"id": "2", "pk": "a"})
    assert refused.value.status_code == 400
    assert [item["id"] for item in container.read_all_items()] == ["1", "2"]


def test_another_partition_is_refused(container):
    """R17"""
    container.create_item({"id": "0", "pk": "a"})
    run = procedure(container, "two", WRITE_TWO)
    with pytest.raises(CosmosHttpResponseError) as refused:
        run({"id": "1", "pk": "a"}, {"id": "2", "pk": "b"})
    assert refused.value.status_code == 400 and "partition keys other than" in refused.value.message
    assert [item["id"] for item in container.read_all_items()] == ["0"]


def test_thrown_errors_roll_back_and_are_told(container):
    body = """function () {
        var c = getContext().getCollection();
        c.createDocument(c.getSelfLink(), {id: 'x', pk: 'a'}, function () { throw new Error('on purpose'); });
    }"""
    container.create_item({"id": "0", "pk": "a"})
    run = procedure(container, "thrower", body)
    with pytest.raises(CosmosHttpResponseError) as refused:
        run()
    assert refused.value.status_code == 400 and "on purpose" in refused.value.message
    assert [item["id"] for item in container.read_all_items()] == ["0"]


QUERY = """
function (text, size) {
    var c = getContext().getCollection(), rows = [];
    function page(token) {
        c.queryDocuments(c.getSelfLink(), text, {pageSize: size, continuation: token}, function (error, found, options) {
            if (error) throw error;
            rows = rows.concat(found.map(function (d) { return d.id; }));
            if (options.continuation) page(options.continuation);
            else getContext().getResponse().setBody(rows);
        });
    }
    page();
}"""


def test_queries_stay_in_the_partition_and_page(container):
    for n in range(12):
        container.create_item({"id": f"{n:02}", "pk": "a" if n % 2 else "b"})
    run = procedure(container, "query", QUERY)
    wanted = [f"{n:02}" for n in range(12) if n % 2]
    assert run("SELECT * FROM c", 2) == wanted
    assert run({"query": "SELECT * FROM c WHERE c.id > @x", "parameters": [{"name": "@x", "value": "05"}]}, 100) == wanted[3:]


def test_read_replace_delete_with_etags(container):
    body = """function () {
        var c = getContext().getCollection(), link = c.getAltLink() + '/docs/1';
        c.readDocument(link, function (error, doc) {
            if (error) throw error;
            doc.n++;
            c.replaceDocument(doc._self, doc, {etag: doc._etag}, function (error, doc) {
                if (error) throw error;
                c.replaceDocument(doc._self, doc, {etag: '"stale"'}, function (error) {
                    getContext().getResponse().setBody({n: doc.n, refused: error.number});
                });
            });
        });
    }"""
    container.create_item({"id": "1", "pk": "a", "n": 1})
    assert procedure(container, "rrd", body)() == {"n": 2, "refused": 412}


def test_console_log_only_on_request(rest, container, paths):
    procedure(container, "talk", "function () { console.log('a %s', 'line é'); }")
    path = f"{paths.container_path}/sprocs/talk"
    silent = rest.post(path, [], **A)
    assert silent.status == 200 and "x-ms-documentdb-script-log-results" not in silent.headers
    loud = rest.post(path, [], x_ms_documentdb_script_enable_logging="true", **A)
    assert "line é" in urllib.parse.unquote(loud.headers["x-ms-documentdb-script-log-results"])


def test_endless_loops_end(container):
    run = procedure(container, "loop", "function () { while (true) {} }")
    with pytest.raises(CosmosHttpResponseError) as refused:
        run()
    assert refused.value.status_code == 408


@pytest.mark.parametrize("body", ["function () { var a = []; while (true) a.push(new Array(1e5).join('x')); }", "function f() { return f(); }"], ids=["memory", "stack"])
def test_greedy_scripts_are_stopped(container, body):
    with pytest.raises(CosmosHttpResponseError) as refused:
        procedure(container, "greedy", body)()
    assert 400 <= refused.value.status_code < 500
    assert procedure(container, "fine", "function () { __.response.setBody(1) }")() == 1


@pytest.mark.parametrize("name", ["require", "process", "setTimeout", "fetch", "XMLHttpRequest", "std", "os"])
def test_no_way_out_of_the_sandbox(container, name):
    assert procedure(container, "peek", f"function () {{ __.response.setBody(typeof {name}) }}")() == "undefined"


def test_source_that_does_not_parse(rest, paths):
    answer = rest.post(f"{paths.container_path}/sprocs", {"id": "bad", "body": "function ( {"})
    if answer.status == 201:
        answer = rest.post(f"{paths.container_path}/sprocs/bad", [], **A)
    assert answer.status == 400


def test_execution_needs_the_key(rest, container, paths):
    procedure(container, "p", "function () {}")
    assert rest.post(f"{paths.container_path}/sprocs/p", []).status == 400


def trigger(container, name, kind, operation, body):
    container.scripts.create_trigger({"id": name, "triggerType": kind, "triggerOperation": operation, "body": body})


def test_pre_trigger_changes_what_is_stored(container):
    trigger(container, "stamp", "Pre", "Create", """function () {
        var r = getContext().getRequest(), b = r.getBody(); b.stamped = true; r.setBody(b);
    }""")
    made = container.create_item({"id": "1", "pk": "a"}, pre_trigger_include="stamp")
    assert made["stamped"] is True
    assert "stamped" not in container.create_item({"id": "2", "pk": "a"})


def test_post_trigger_shares_the_transaction(container):
    trigger(container, "count", "Post", "All", """function () {
        var c = getContext().getCollection(), made = getContext().getResponse().getBody();
        c.upsertDocument(c.getSelfLink(), {id: 'last', pk: 'a', of: made.id}, function (e) { if (e) throw e; });
    }""")
    trigger(container, "refuse", "Post", "All", "function () { throw new Error('no') }")
    container.create_item({"id": "1", "pk": "a"}, post_trigger_include="count")
    assert container.read_item("last", "a")["of"] == "1"
    with pytest.raises(CosmosHttpResponseError):
        container.create_item({"id": "2", "pk": "a"}, post_trigger_include="refuse")
    assert {item["id"] for item in container.read_all_items()} == {"1", "last"}


@pytest.mark.parametrize("name", ["absent", "replace-only"])
def test_triggers_that_cannot_run(container, name):
    trigger(container, "replace-only", "Pre", "Replace", "function () {}")
    with pytest.raises(CosmosHttpResponseError) as refused:
        container.create_item({"id": "1", "pk": "a"}, pre_trigger_include=name)
    assert refused.value.status_code == 400
    assert list(container.read_all_items()) == []


def test_user_defined_functions_in_queries(container):
    container.scripts.create_user_defined_function({"id": "tax", "body": "function tax(n) { return n * 0.2; }"})
    for n in (10, 20, 30):
        container.create_item({"id": str(n), "pk": "a", "price": n})
    found = container.query_items("SELECT VALUE udf.tax(c.price) FROM c WHERE udf.tax(c.price) > 3", partition_key="a")
    assert list(found) == [4, 6]
    with pytest.raises(CosmosHttpResponseError) as refused:
        list(container.query_items("SELECT VALUE udf.absent(1) FROM c", partition_key="a"))
    assert refused.value.status_code == 400


def test_javascript_query_api(container):
    for n in range(5):
        container.create_item({"id": str(n), "pk": "a", "n": n})
    run = procedure(container, "chain", """function () {
        __.chain().filter(function (d) { return d.n > 1; }).sortByDescending(function (d) { return d.n; })
          .map(function (d) { return d.id; }).value();
    }""")
    assert run() == ["4", "3", "2"]


def test_source_and_results_keep_unicode(container):
    text = "é中😀\u2028"
    run = procedure(container, "u", f"function (x) {{ __.response.setBody({json.dumps(text)} + x) }}")
    assert run(text) == text + text
