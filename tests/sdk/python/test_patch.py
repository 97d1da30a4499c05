"""Patch: six operations, in order, all or nothing (R6 for the key)."""

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError

from rest import key_header

A = key_header("a")

SEED = {
    "id": "1",
    "pk": "a",
    "n": 10,
    "text": "t",
    "list": [1, 2, 3],
    "nested": {"deep": {"leaf": 1}},
    "a/b": 1,
    "m~n": 2,
    "nothing": None,
}


@pytest.fixture
def item(container):
    return container.create_item(dict(SEED))


def patched(container, operations):
    result = container.patch_item("1", "a", operations)
    return {name: value for name, value in result.items() if not name.startswith("_")}


def changed(**changes):
    expected = dict(SEED, **changes)
    return {name: value for name, value in expected.items() if value is not ...}


def op(name, path, value=..., source=...):
    made = {"op": name, "path": path, "value": value, "from": source}
    return {key: part for key, part in made.items() if part is not ...}


GOOD = {
    "add a property": ([op("add", "/new", 1)], changed(new=1)),
    "add over a property": ([op("add", "/n", "x")], changed(n="x")),
    "add into an array inserts": ([op("add", "/list/1", 9)], changed(list=[1, 9, 2, 3])),
    "add at the end": ([op("add", "/list/-", 9)], changed(list=[1, 2, 3, 9])),
    "add at length": ([op("add", "/list/3", 9)], changed(list=[1, 2, 3, 9])),
    "add nested": ([op("add", "/nested/deep/b", True)], changed(nested={"deep": {"leaf": 1, "b": True}})),
    "set a property": ([op("set", "/new", {"x": [1]})], changed(new={"x": [1]})),
    "set over a property": ([op("set", "/n", None)], changed(n=None)),
    "set an element replaces": ([op("set", "/list/1", 9)], changed(list=[1, 9, 3])),
    "replace": ([op("replace", "/nested/deep", 5)], changed(nested={"deep": 5})),
    "replace null": ([op("replace", "/nothing", 5)], changed(nothing=5)),
    "replace an element": ([op("replace", "/list/0", "z")], changed(list=["z", 2, 3])),
    "remove": ([op("remove", "/text")], changed(text=...)),
    "remove an element": ([op("remove", "/list/0")], changed(list=[2, 3])),
    "incr": ([op("incr", "/n", 5)], changed(n=15)),
    "incr by a negative fraction": ([op("incr", "/n", -0.5)], changed(n=9.5)),
    "incr creates": ([op("incr", "/count", 3)], changed(count=3)),
    "move": ([op("move", "/moved", source="/n")], changed(n=..., moved=10)),
    "move over": ([op("move", "/text", source="/n")], changed(n=..., text=10)),
    "escaped slash": ([op("replace", "/a~1b", 7)], changed(**{"a/b": 7})),
    "escaped tilde": ([op("replace", "/m~0n", 7)], changed(**{"m~n": 7})),
    "in order": (
        [op("set", "/x", 1), op("incr", "/x", 1), op("move", "/y", source="/x"), op("add", "/list/0", 0)],
        changed(y=2, list=[0, 1, 2, 3]),
    ),
    "ten": ([op("incr", "/n", 1)] * 10, changed(n=20)),
}


@pytest.mark.parametrize("operations, expected", GOOD.values(), ids=GOOD.keys())
def test_operations(container, item, operations, expected):
    assert patched(container, operations) == expected
    read = container.read_item("1", "a")
    assert {name: value for name, value in read.items() if not name.startswith("_")} == expected
    assert read["_rid"] == item["_rid"] and read["_etag"] != item["_etag"]


REFUSED = {
    "replace what is missing": [op("replace", "/absent", 1)],
    "remove what is missing": [op("remove", "/absent")],
    "move what is missing": [op("move", "/x", source="/absent")],
    "move into its own child": [op("move", "/nested/deep/x", source="/nested")],
    "incr of text": [op("incr", "/text", 1)],
    "incr by text": [op("incr", "/n", "1")],
    "missing parent": [op("add", "/no/where", 1)],
    "parent is a number": [op("add", "/n/x", 1)],
    "index past the end": [op("add", "/list/9", 1)],
    "index is a word": [op("set", "/list/first", 1)],
    "the id": [op("set", "/id", "2")],
    "the partition key": [op("set", "/pk", "b")],
    "remove the partition key": [op("remove", "/pk")],
    "move onto the partition key": [op("move", "/pk", source="/text")],
    "a system property": [op("set", "/_etag", "x")],
    "unknown operation": [op("copy", "/x", source="/n")],
    "no path": [{"op": "set", "value": 1}],
    "path without slash": [op("set", "n", 1)],
    "empty path": [op("set", "", 1)],
    "no value": [op("set", "/n")],
    "eleven": [op("incr", "/n", 1)] * 11,
    "none": [],
    "the second fails": [op("set", "/n", 99), op("remove", "/absent")],
    "not an object": ["set"],
}


@pytest.mark.parametrize("operations", REFUSED.values(), ids=REFUSED.keys())
def test_refused_operations_change_nothing(rest, container, paths, item, operations):
    answer = rest.patch(paths.doc("1"), {"operations": operations}, **A)
    assert answer.status == 400, answer.body
    assert answer.json()["message"]
    assert container.read_item("1", "a") == item


def test_bare_list_and_object_bodies(rest, paths, item):
    """The JavaScript SDK sends a bare list, the others an object; some without a content type."""
    operations = [op("incr", "/n", 1)]
    bare = rest.request("PATCH", paths.doc("1"), operations, headers={"content-type": None, **_wire(A)})
    assert bare.status == 200 and bare.json()["n"] == 11
    whole = rest.request(
        "PATCH",
        paths.doc("1"),
        {"operations": operations},
        headers={"content-type": "application/json-patch+json", **_wire(A)},
    )
    assert whole.status == 200 and whole.json()["n"] == 12


def _wire(headers):
    return {name.replace("_", "-"): value for name, value in headers.items()}


def test_condition_holds(container, item):
    result = container.patch_item(
        "1", "a", [op("set", "/n", 11)], filter_predicate="from c where c.n = 10 and c.text = 't'"
    )
    assert result["n"] == 11


def test_condition_fails(rest, container, paths, item):
    with pytest.raises(CosmosHttpResponseError) as refused:
        container.patch_item("1", "a", [op("set", "/n", 11)], filter_predicate="from c where c.n = 99")
    assert refused.value.status_code == 412
    answer = rest.patch(
        paths.doc("1"), {"operations": [op("set", "/n", 11)], "condition": "from c where c.n > 99"}, **A
    )
    assert (answer.status, answer.sub_status) == (412, 1110)
    assert container.read_item("1", "a") == item


def test_condition_that_is_no_query(rest, paths, item):
    body = {"operations": [op("set", "/n", 11)], "condition": "where where"}
    assert rest.patch(paths.doc("1"), body, **A).status == 400


def test_missing_item(rest, paths):
    assert rest.patch(paths.doc("absent"), [op("set", "/n", 1)], **A).status == 404


def test_ttl_may_be_patched(container, item):
    assert patched(container, [op("set", "/ttl", 100)])["ttl"] == 100
    with pytest.raises(CosmosHttpResponseError) as refused:
        container.patch_item("1", "a", [op("set", "/ttl", 0)])
    assert refused.value.status_code == 400


def test_result_over_two_megabytes(container):
    container.create_item({"id": "big", "pk": "a", "fill": "x" * 1_500_000})
    with pytest.raises(CosmosHttpResponseError) as refused:
        container.patch_item("big", "a", [op("set", "/more", "y" * 1_000_000)])
    assert refused.value.status_code == 413
