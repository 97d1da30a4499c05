"""Partition key values in all their forms (R2, R3, R4, R5)."""

import json

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceNotFoundError
from azure.cosmos.partition_key import NonePartitionKeyValue

from conftest import unique
from rest import key_header

VALUES = {
    "text": "value",
    "empty text": "",
    "unicode": "naïve 数据 😀",
    "line separators": "a\u2028b\u2029c\u0085d",
    "quotes and backslash": 'q"b\\s/',
    "integer": 42,
    "zero": 0,
    "negative": -7,
    "fraction": 1.5,
    "large": 1e300,
    "beyond 2^53": 9007199254740993,
    "true": True,
    "false": False,
    "null": None,
}


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def versioned(request, rest, database, make_container):
    """A container of each hash version; v1 is one without a version, as the JavaScript SDK makes."""
    if request.param == 2:
        return make_container()
    name = unique("v1")
    created = rest.post(f"/dbs/{database.id}/colls", {"id": name, "partitionKey": {"paths": ["/pk"]}})
    assert created.status == 201, created.body
    return database.get_container_client(name)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_each_value_is_a_partition_of_its_own(versioned, value):
    created = versioned.create_item({"id": "1", "pk": value})
    assert versioned.read_item("1", value) == created
    for other in ("another", None, True, 4711):
        if other is value:
            continue
        with pytest.raises(CosmosResourceNotFoundError):
            versioned.read_item("1", other)
    versioned.replace_item("1", {"id": "1", "pk": value, "n": 1})
    versioned.delete_item("1", value)


def test_long_values(versioned):
    """Version 1 hashes the first 101 bytes only, and takes longer values all the same."""
    for length in (100, 101, 102, 300, 2048):
        value = "k" * length
        created = versioned.create_item({"id": f"{length}", "pk": value})
        assert versioned.read_item(f"{length}", value) == created


def test_missing_value_is_not_null(rest, database, versioned):
    """R4: `[{}]` (missing) and `[null]` are two partitions."""
    docs = f"/dbs/{database.id}/colls/{versioned.id}/docs"
    assert rest.post(docs, {"id": "1", "who": "missing"}, **key_header({})).status == 201
    assert rest.post(docs, {"id": "1", "pk": None, "who": "null"}, **key_header(None)).status == 201
    assert rest.get(f"{docs}/1", **key_header({})).json()["who"] == "missing"
    assert rest.get(f"{docs}/1", **key_header(None)).json()["who"] == "null"
    assert rest.delete(f"{docs}/1", **key_header({})).status == 204
    assert rest.get(f"{docs}/1", **key_header(None)).status == 200


def test_sdk_writes_items_without_a_key(container):
    container.create_item({"id": "1"})
    assert container.read_item("1", NonePartitionKeyValue)["id"] == "1"
    container.delete_item("1", NonePartitionKeyValue)


@pytest.mark.parametrize("value", [{}, {"a": 1}, [], [1]], ids=repr)
def test_objects_and_arrays_count_as_missing(rest, paths, value):
    assert rest.post(paths.docs, {"id": "1", "pk": value}, **key_header({})).status == 201
    assert rest.get(paths.doc("1"), **key_header({})).status == 200


def test_numbers_are_compared_as_doubles(rest, paths):
    """1, 1.0 and 1e0 are one key, however each client spells it."""
    assert rest.post(paths.docs, {"id": "1", "pk": 1}, **key_header(1.0)).status == 201
    for spelling in ("[1]", "[1.0]", "[1e0]", "[ 1 ]"):
        assert rest.get(paths.doc("1"), x_ms_documentdb_partitionkey=spelling).status == 200
    assert rest.get(paths.doc("1"), x_ms_documentdb_partitionkey='["1"]').status == 404


def test_text_and_number_differ(container):
    container.create_item({"id": "1", "pk": "1"})
    container.create_item({"id": "1", "pk": 1})
    assert container.read_item("1", "1")["pk"] == "1"
    assert container.read_item("1", 1)["pk"] == 1


def test_escaped_header_is_the_same_value(rest, paths):
    assert rest.post(paths.docs, {"id": "1", "pk": "é"}, x_ms_documentdb_partitionkey='["\\u00e9"]').status == 201
    assert rest.get(paths.doc("1"), x_ms_documentdb_partitionkey='["\\u00E9"]').status == 200


@pytest.mark.parametrize(
    "header", ["", "a", '"a"', "{}", "[", '["a"', '["a","b"]', "[[]]", "[[1]]", '[{"a":1}]', "null", "[NaN]"]
)
def test_malformed_key_headers(rest, paths, header):
    answer = rest.get(paths.doc("1"), x_ms_documentdb_partitionkey=header)
    assert answer.status == 400


def test_nested_path(make_container):
    container = make_container(PartitionKey(path="/address/city"))
    container.create_item({"id": "1", "address": {"city": "Cádiz"}})
    assert container.read_item("1", "Cádiz")["id"] == "1"
    container.create_item({"id": "2", "address": "none"})
    assert container.read_item("2", NonePartitionKeyValue)["id"] == "2"


def test_quoted_path(make_container):
    container = make_container(PartitionKey(path='/"first-name"'))
    container.create_item({"id": "1", "first-name": "Ada"})
    assert container.read_item("1", "Ada")["id"] == "1"


def test_id_as_the_key(make_container):
    """R5: with `/id` as the key, ids are unique in the whole container."""
    container = make_container(PartitionKey(path="/id"))
    container.create_item({"id": "1"})
    assert container.read_item("1", "1")["id"] == "1"
    with pytest.raises(CosmosHttpResponseError) as refused:
        container.create_item({"id": "1"})
    assert refused.value.status_code == 409


@pytest.fixture
def tree(make_container):
    return make_container(PartitionKey(path=["/tenant", "/user", "/session"], kind="MultiHash"))


LEVELS = {
    "texts": ["t1", "u1", "s1"],
    "numbers and booleans": [1, True, -2.5],
    "nulls": ["t1", None, None],
    "empty texts": ["", "", ""],
}


@pytest.mark.parametrize("levels", LEVELS.values(), ids=LEVELS.keys())
def test_hierarchical_point_operations(tree, levels):
    """R2: up to three levels."""
    item = {"id": "1", "tenant": levels[0], "user": levels[1], "session": levels[2]}
    created = tree.create_item(item)
    assert tree.read_item("1", levels) == created
    tree.upsert_item(dict(item, n=2))
    tree.patch_item("1", levels, [{"op": "incr", "path": "/n", "value": 1}])
    assert tree.read_item("1", levels)["n"] == 3
    tree.delete_item("1", levels)


def test_hierarchical_levels_can_be_missing(rest, database, tree):
    docs = f"/dbs/{database.id}/colls/{tree.id}/docs"
    assert rest.post(docs, {"id": "1", "tenant": "t"}, **key_header("t", {}, {})).status == 201
    assert rest.get(f"{docs}/1", **key_header("t", {}, {})).status == 200
    assert rest.get(f"{docs}/1", **key_header("t", None, None)).status == 404


@pytest.mark.parametrize("components", [["t"], ["t", "u"], ["t", "u", "s", "x"], []], ids=len)
def test_point_operations_need_every_level(rest, database, tree, components):
    docs = f"/dbs/{database.id}/colls/{tree.id}/docs"
    tree.create_item({"id": "1", "tenant": "t", "user": "u", "session": "s"})
    answer = rest.get(f"{docs}/1", **key_header(*components))
    assert answer.status == 400
    if 0 < len(components) < 3:
        assert answer.sub_status == 1001
        assert "doesn't correspond to definition" in answer.json()["message"]


def test_prefix_reads_a_subtree(rest, database, tree):
    """A prefix is a legal scope for feeds, not for points."""
    for n in range(6):
        tree.create_item({"id": str(n), "tenant": f"t{n % 2}", "user": f"u{n % 3}", "session": "s"})
    docs = f"/dbs/{database.id}/colls/{tree.id}/docs"
    feed = rest.get(docs, **key_header("t1"))
    assert [item["id"] for item in feed.json()["Documents"]] == ["1", "3", "5"]
    assert [item["id"] for item in rest.get(docs, **key_header("t1", "u0")).json()["Documents"]] == ["3"]


def test_level_values_cannot_be_updated(rest, database, tree):
    """R6, for every level."""
    item = tree.create_item({"id": "1", "tenant": "t", "user": "u", "session": "s"})
    path = f"/dbs/{database.id}/colls/{tree.id}/docs/1"
    for level in ("tenant", "user", "session"):
        body = dict(item, **{level: "other"})
        answer = rest.put(path, body, **key_header("t", "u", "s"))
        assert (answer.status, answer.sub_status) == (400, 1001), level
        patch = rest.patch(path, [{"op": "set", "path": f"/{level}", "value": "x"}], **key_header("t", "u", "s"))
        assert patch.status == 400, level
    assert tree.read_item("1", ["t", "u", "s"]) == item


def test_duplicate_members_of_the_key_path(rest, paths):
    """The last of two spellings counts, for the key as for the item."""
    body = b'{"id":"1","pk":"first","pk":"last"}'
    assert rest.post(paths.docs, body, **key_header("last")).status == 201
    assert json.loads(rest.get(paths.doc("1"), **key_header("last")).body)["pk"] == "last"
