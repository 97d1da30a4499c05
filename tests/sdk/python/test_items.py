"""Items: create, read, upsert, replace, delete, and what identifies one (R1, R3, R5, R6)."""

import base64

import pytest
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

from rest import key_header

SYSTEM = {"_rid", "_self", "_etag", "_ts", "_attachments"}


def test_life_of_an_item(container):
    created = container.create_item({"id": "1", "pk": "a", "n": 1})
    assert created["n"] == 1
    assert container.read_item("1", "a") == created
    replaced = container.replace_item("1", {"id": "1", "pk": "a", "n": 2})
    assert replaced["n"] == 2
    assert container.upsert_item({"id": "1", "pk": "a", "n": 3})["n"] == 3
    container.delete_item("1", "a")
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", "a")


def test_system_properties(container):
    item = container.create_item({"id": "1", "pk": "a"})
    assert SYSTEM <= set(item) and "_lsn" not in item
    owner = container.read()
    rid = base64.b64decode(item["_rid"].replace("-", "/"))
    assert len(rid) == 16 and rid[:8] == base64.b64decode(owner["_rid"].replace("-", "/"))
    assert rid[15] >> 4 == 0
    assert item["_self"] == f"{owner['_self']}docs/{item['_rid']}/"
    assert item["_etag"].startswith('"') and item["_etag"].endswith('"')
    assert item["_attachments"] == "attachments/"
    assert isinstance(item["_ts"], int)


def test_system_properties_of_the_client_are_replaced(container):
    forged = {name: "forged" for name in SYSTEM}
    item = container.create_item({"id": "1", "pk": "a", **forged})
    assert not [name for name in SYSTEM if item[name] == "forged"]


def test_identity_is_stable_and_version_moves(container):
    first = container.create_item({"id": "1", "pk": "a"})
    second = container.upsert_item({"id": "1", "pk": "a"})
    third = container.replace_item("1", {"id": "1", "pk": "a"})
    assert first["_rid"] == second["_rid"] == third["_rid"]
    assert len({first["_etag"], second["_etag"], third["_etag"]}) == 3


def test_deleted_and_created_again_is_a_new_item(container):
    first = container.create_item({"id": "1", "pk": "a"})
    container.delete_item("1", "a")
    assert container.create_item({"id": "1", "pk": "a"})["_rid"] != first["_rid"]


@pytest.mark.parametrize("verb, status", [("create", 201), ("upsert new", 201), ("upsert old", 200)])
def test_statuses_of_post(rest, paths, verb, status):
    if verb == "upsert old":
        rest.post(paths.docs, {"id": "1", "pk": "a"}, **key_header("a"))
    flag = {} if verb == "create" else {"x_ms_documentdb_is_upsert": "True"}
    answer = rest.post(paths.docs, {"id": "1", "pk": "a"}, **flag, **key_header("a"))
    assert answer.status == status
    assert answer.headers["etag"] == answer.json()["_etag"]


def test_statuses_of_the_other_verbs(rest, paths):
    rest.post(paths.docs, {"id": "1", "pk": "a"}, **key_header("a"))
    assert rest.get(paths.doc("1"), **key_header("a")).status == 200
    assert rest.put(paths.doc("1"), {"id": "1", "pk": "a"}, **key_header("a")).status == 200
    gone = rest.delete(paths.doc("1"), **key_header("a"))
    assert (gone.status, gone.body) == (204, b"")
    assert rest.get(paths.doc("1"), **key_header("a")).status == 404
    assert rest.put(paths.doc("1"), {"id": "1", "pk": "a"}, **key_header("a")).status == 404
    assert rest.delete(paths.doc("1"), **key_header("a")).status == 404


def test_trailing_slash_is_the_same_path(rest, paths):
    """The Python SDK writes one, the JavaScript SDK none."""
    assert rest.post(f"{paths.docs}/", {"id": "1", "pk": "a"}, **key_header("a")).status == 201
    assert rest.get(f"{paths.doc('1')}/", **key_header("a")).status == 200
    assert rest.get(paths.doc("1"), **key_header("a")).status == 200


def test_id_is_unique_inside_a_logical_partition_only(container):
    """R5"""
    container.create_item({"id": "1", "pk": "a"})
    container.create_item({"id": "1", "pk": "b"})
    with pytest.raises(CosmosResourceExistsError):
        container.create_item({"id": "1", "pk": "a"})
    container.delete_item("1", "a")
    assert container.read_item("1", "b")["pk"] == "b"


def test_refused_duplicate_changes_nothing(container):
    kept = container.create_item({"id": "1", "pk": "a", "n": 1})
    with pytest.raises(CosmosResourceExistsError):
        container.create_item({"id": "1", "pk": "a", "n": 2})
    assert container.read_item("1", "a") == kept


def test_error_body_names_code_and_message(rest, paths):
    missing = rest.get(paths.doc("absent"), **key_header("a"))
    assert missing.headers["content-type"].startswith("application/json")
    assert int(missing.headers["content-length"]) == len(missing.body) > 0
    assert missing.json()["code"] == "NotFound" and missing.json()["message"]
    rest.post(paths.docs, {"id": "1", "pk": "a"}, **key_header("a"))
    conflict = rest.post(paths.docs, {"id": "1", "pk": "a"}, **key_header("a"))
    assert (conflict.status, conflict.json()["code"]) == (409, "Conflict")


def test_key_value_cannot_be_updated(container):
    """R6: the item stays where and what it was."""
    before = container.create_item({"id": "1", "pk": "a"})
    with pytest.raises(CosmosResourceNotFoundError):
        container.replace_item("1", {"id": "1", "pk": "b"})  # the SDK takes the key from the body
    assert container.read_item("1", "a") == before
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", "b")


def test_replace_must_keep_the_key_of_the_header(rest, paths):
    rest.post(paths.docs, {"id": "1", "pk": "a"}, **key_header("a"))
    answer = rest.put(paths.doc("1"), {"id": "1", "pk": "b"}, **key_header("a"))
    assert (answer.status, answer.sub_status) == (400, 1001)


def test_replace_with_another_id_renames(rest, paths):
    first = rest.post(paths.docs, {"id": "1", "pk": "a"}, **key_header("a")).json()
    renamed = rest.put(paths.doc("1"), {"id": "2", "pk": "a"}, **key_header("a"))
    assert (renamed.status, renamed.json()["_rid"]) == (200, first["_rid"])
    assert rest.get(paths.doc("1"), **key_header("a")).status == 404
    assert rest.get(paths.doc("2"), **key_header("a")).json() == renamed.json()


def test_an_id_that_is_taken_cannot_be_renamed_to(container, rest, paths):
    before = [container.create_item({"id": item_id, "pk": "a"}) for item_id in "12"]
    assert rest.put(paths.doc("1"), {"id": "2", "pk": "a"}, **key_header("a")).status == 409
    assert [container.read_item(item_id, "a") for item_id in "12"] == before


def test_header_and_body_must_agree(rest, paths):
    answer = rest.post(paths.docs, {"id": "1", "pk": "a"}, **key_header("b"))
    assert (answer.status, answer.sub_status) == (400, 1001)
    for value in ("a", "b"):
        assert rest.get(paths.doc("1"), **key_header(value)).status == 404


@pytest.mark.parametrize("method", ["GET", "DELETE", "PATCH"])
def test_point_operations_need_the_key(rest, paths, method):
    rest.post(paths.docs, {"id": "1", "pk": "a"}, **key_header("a"))
    body = [{"op": "set", "path": "/n", "value": 1}] if method == "PATCH" else None
    assert rest.request(method, paths.doc("1"), body).status == 400


@pytest.mark.parametrize("item_id", [None, 5, "", True, ["1"], {}], ids=repr)
def test_id_must_be_text(rest, paths, item_id):
    answer = rest.post(paths.docs, {"id": item_id, "pk": "a"}, **key_header("a"))
    assert answer.status == 400


def test_missing_id_is_refused(rest, paths):
    assert rest.post(paths.docs, {"pk": "a"}, **key_header("a")).status == 400


def test_sdk_makes_ids_when_asked(container):
    made = container.create_item({"pk": "a"}, enable_automatic_id_generation=True)
    assert container.read_item(made["id"], "a")["id"] == made["id"]


IDS = ["with space", "ünïcödé", "数据", "😀", "a@b.c", "percent%20", "100%", "plus+plus", "semi;colon,comma", "'quote\"", "dbs", "docs", "=="]


@pytest.mark.parametrize("item_id", IDS)
def test_unusual_ids_round_trip(container, item_id):
    container.create_item({"id": item_id, "pk": "a"})
    assert container.read_item(item_id, "a")["id"] == item_id
    container.replace_item(item_id, {"id": item_id, "pk": "a", "n": 1})
    container.delete_item(item_id, "a")


@pytest.mark.parametrize("item_id", ["a/b", "a\\b", "ends "])
def test_forbidden_ids(rest, paths, item_id):
    assert rest.post(paths.docs, {"id": item_id, "pk": "a"}, **key_header("a")).status == 400


def test_items_of_any_shape_share_a_container(container):
    """R1: schema-less, of one type or many."""
    for n, extra in enumerate([{}, {"a": {"deep": [1, {"b": None}]}}, {"pk2": True}, {"": "empty name"}]):
        item = {"id": str(n), "pk": "a", **extra}
        container.create_item(item)
        read = container.read_item(str(n), "a")
        assert {k: v for k, v in read.items() if k not in SYSTEM} == item


def test_logical_partitions_come_and_go(container):
    """R3: with their first item and with their last, and nothing to do for it."""
    for n in range(50):
        container.create_item({"id": "1", "pk": f"value-{n}"})
    for n in range(50):
        assert container.read_item("1", f"value-{n}")["pk"] == f"value-{n}"
        container.delete_item("1", f"value-{n}")
    assert list(container.read_all_items()) == []


def test_item_calls_on_a_missing_container(rest, database):
    docs = f"/dbs/{database.id}/colls/absent/docs"
    for answer in (
        rest.post(docs, {"id": "1", "pk": "a"}, **key_header("a")),
        rest.get(f"{docs}/1", **key_header("a")),
        rest.get(docs),
    ):
        assert (answer.status, answer.sub_status) == (404, 1003)


@pytest.mark.parametrize("ttl", [0, None, -10, "60", 1.5, 2147483648], ids=repr)
def test_impossible_ttl(rest, paths, ttl):
    assert rest.post(paths.docs, {"id": "1", "pk": "a", "ttl": ttl}, **key_header("a")).status == 400


@pytest.mark.parametrize("ttl", [-1, 1000, 2147483647], ids=repr)
def test_possible_ttl_is_kept(container, ttl):
    container.create_item({"id": "1", "pk": "a", "ttl": ttl})
    assert container.read_item("1", "a")["ttl"] == ttl
