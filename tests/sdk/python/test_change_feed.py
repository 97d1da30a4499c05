"""The change feed: latest versions and all versions, resumable at any point."""

import datetime
import time

import pytest
from azure.cosmos import PartitionKey

from rest import key_header

INCREMENTAL = {"a_im": "Incremental Feed", "x_ms_documentdb_partitionkeyrangeid": "0"}
FULL = {
    "a_im": "Full-Fidelity Feed",
    "x_ms_cosmos_changefeed_wire_format_version": "2021-09-15",
    "x_ms_documentdb_partitionkeyrangeid": "0",
}


def drain(rest, docs, etag=None, **headers):
    """All changes up to now: (items, etag to go on with)."""
    items = []
    while True:
        answer = rest.get(docs, if_none_match=etag, **headers)
        etag = answer.headers["etag"]
        if answer.status == 304:
            assert answer.body == b""
            return items, etag
        assert answer.status == 200, answer.body
        items += answer.json()["Documents"]


def test_from_the_beginning_in_the_order_of_writes(rest, container, paths):
    for n in range(10):
        container.create_item({"id": str(n), "pk": f"p{n % 3}"})
    container.replace_item("2", {"id": "2", "pk": "p2", "new": True})
    items, _ = drain(rest, paths.docs, x_ms_max_item_count="3", **INCREMENTAL)
    assert [item["id"] for item in items] == ["0", "1", "3", "4", "5", "6", "7", "8", "9", "2"]
    numbers = [item["_lsn"] for item in items]
    assert numbers == sorted(numbers)


def test_deletes_are_invisible(rest, container, paths):
    container.create_item({"id": "1", "pk": "a"})
    container.create_item({"id": "2", "pk": "a"})
    container.delete_item("1", "a")
    items, _ = drain(rest, paths.docs, **INCREMENTAL)
    assert [item["id"] for item in items] == ["2"]


def test_resume_sees_only_what_is_new(rest, container, paths):
    container.create_item({"id": "1", "pk": "a"})
    _, etag = drain(rest, paths.docs, **INCREMENTAL)
    assert drain(rest, paths.docs, etag, **INCREMENTAL)[0] == []
    container.create_item({"id": "2", "pk": "a"})
    items, later = drain(rest, paths.docs, etag, **INCREMENTAL)
    assert [item["id"] for item in items] == ["2"]
    assert later != etag


def test_from_now(rest, container, paths):
    container.create_item({"id": "1", "pk": "a"})
    answer = rest.get(paths.docs, if_none_match="*", **INCREMENTAL)
    assert answer.status == 304 and answer.headers["etag"] != "*"
    container.create_item({"id": "2", "pk": "a"})
    items, _ = drain(rest, paths.docs, answer.headers["etag"], **INCREMENTAL)
    assert [item["id"] for item in items] == ["2"]


def test_empty_container(rest, paths):
    answer = rest.get(paths.docs, **INCREMENTAL)
    assert answer.status == 304 and answer.headers["etag"]


def test_of_one_logical_partition(rest, container, paths):
    for n in range(9):
        container.create_item({"id": str(n), "pk": f"p{n % 3}"})
    items, _ = drain(rest, paths.docs, a_im="Incremental Feed", **key_header("p1"))
    assert [item["id"] for item in items] == ["1", "4", "7"]


def test_sdk_from_the_beginning_and_on(container):
    container.create_item({"id": "1", "pk": "a"})
    pager = container.query_items_change_feed(start_time="Beginning")
    assert [item["id"] for item in pager] == ["1"]
    token = container.client_connection.last_response_headers["etag"]
    container.create_item({"id": "2", "pk": "a"})
    assert [item["id"] for item in container.query_items_change_feed(continuation=token)] == ["2"]


def test_sdk_by_partition_key(container):
    for n in range(6):
        container.create_item({"id": str(n), "pk": f"p{n % 2}"})
    found = container.query_items_change_feed(partition_key="p1", start_time="Beginning")
    assert [item["id"] for item in found] == ["1", "3", "5"]


def test_sdk_by_feed_range(make_container):
    container = make_container(offer_throughput=11_000)
    for n in range(20):
        container.create_item({"id": f"{n:02}", "pk": f"p{n}"})
    seen = []
    for feed_range in container.read_feed_ranges():
        seen += [item["id"] for item in container.query_items_change_feed(feed_range=feed_range, start_time="Beginning")]
    assert sorted(seen) == [f"{n:02}" for n in range(20)]


def test_from_a_moment(container):
    container.create_item({"id": "before", "pk": "a"})
    time.sleep(2.1)  # the moment has a grain of one second
    moment = datetime.datetime.now(datetime.timezone.utc)
    time.sleep(1.1)
    container.create_item({"id": "after", "pk": "a"})
    assert [item["id"] for item in container.query_items_change_feed(start_time=moment)] == ["after"]


@pytest.fixture
def versions(rest, database):
    """A container that keeps all versions for ten minutes."""
    name = "versions"
    body = {
        "id": name,
        "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
        "changeFeedPolicy": {"retentionDuration": 10},
    }
    created = rest.post(f"/dbs/{database.id}/colls", body)
    assert created.status == 201, created.body
    yield f"/dbs/{database.id}/colls/{name}/docs"
    rest.delete(f"/dbs/{database.id}/colls/{name}")


def test_all_versions_and_deletes(rest, versions):
    start = rest.get(versions, if_none_match="*", **FULL)
    assert start.status == 304
    a = key_header("a")
    rest.post(versions, {"id": "1", "pk": "a", "n": 1}, **a)
    rest.put(f"{versions}/1", {"id": "1", "pk": "a", "n": 2}, **a)
    rest.put(f"{versions}/1", {"id": "1", "pk": "a", "n": 3}, **a)
    rest.delete(f"{versions}/1", **a)
    changes, _ = drain(rest, versions, start.headers["etag"], **FULL)
    kinds = [change["metadata"]["operationType"] for change in changes]
    assert kinds == ["create", "replace", "replace", "delete"]
    assert [change["current"].get("n") for change in changes[:3]] == [1, 2, 3]
    numbers = [change["metadata"]["lsn"] for change in changes]
    assert numbers == sorted(numbers)
    assert changes[1]["metadata"]["previousImageLSN"] == numbers[0]
    assert "previousImageLSN" not in changes[0]["metadata"]
    gone = changes[3]
    assert (gone["metadata"].get("id") or gone["previous"]["id"]) == "1"


def test_all_versions_start_only_now(rest, versions):
    assert rest.get(versions, **FULL).status == 400
    past = rest.get(versions, if_modified_since="Thu, 01 Jan 2026 00:00:00 GMT", **FULL)
    assert past.status == 400


def test_all_versions_need_the_policy(rest, paths):
    assert rest.get(paths.docs, if_none_match="*", **FULL).status == 400


@pytest.mark.parametrize("etag", ["nonsense", '"-5"', '"99999999999999999999999"'])
def test_forged_position(rest, paths, etag):
    assert rest.get(paths.docs, if_none_match=etag, **INCREMENTAL).status in (304, 400)


def test_hierarchical_key(make_container):
    container = make_container(PartitionKey(path=["/a", "/b"], kind="MultiHash"))
    for n in range(6):
        container.create_item({"id": str(n), "a": f"x{n % 2}", "b": n})
    found = container.query_items_change_feed(partition_key=["x1", 3], start_time="Beginning")
    assert [item["id"] for item in found] == ["3"]
