"""Time to live: an expired item is gone at once, from every side."""

import time

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from rest import key_header

A = key_header("a")


def until(condition, seconds=8):
    """Waits until `condition` holds: expiry is by whole seconds of the server's clock."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.2)
    return False


def gone(container, item_id):
    try:
        container.read_item(item_id, "a")
        return False
    except CosmosResourceNotFoundError:
        return True


def test_default_of_the_container(make_container):
    container = make_container(default_ttl=2)
    container.create_item({"id": "1", "pk": "a"})
    assert not gone(container, "1")
    assert until(lambda: gone(container, "1"))
    assert list(container.read_all_items()) == []


def test_item_overrides_the_container(make_container):
    container = make_container(default_ttl=2)
    container.create_item({"id": "kept", "pk": "a", "ttl": -1})
    container.create_item({"id": "long", "pk": "a", "ttl": 1000})
    container.create_item({"id": "short", "pk": "a"})
    assert until(lambda: gone(container, "short"))
    assert {item["id"] for item in container.read_all_items()} == {"kept", "long"}


def test_on_without_default(make_container):
    container = make_container(default_ttl=-1)
    container.create_item({"id": "kept", "pk": "a"})
    container.create_item({"id": "short", "pk": "a", "ttl": 2})
    assert until(lambda: gone(container, "short"))
    assert not gone(container, "kept")


def test_off_means_off(make_container):
    container = make_container()
    container.create_item({"id": "1", "pk": "a", "ttl": 1})
    time.sleep(3)
    assert not gone(container, "1")


def test_a_write_starts_the_time_anew(make_container):
    container = make_container(default_ttl=4)
    container.create_item({"id": "1", "pk": "a"})
    time.sleep(2.5)
    container.replace_item("1", {"id": "1", "pk": "a"})
    time.sleep(2)
    assert not gone(container, "1")
    assert until(lambda: gone(container, "1"))


def test_expired_item_is_gone_from_every_operation(rest, database, make_container):
    container = make_container(default_ttl=2)
    docs = f"/dbs/{database.id}/colls/{container.id}/docs"
    container.create_item({"id": "1", "pk": "a"})
    assert until(lambda: gone(container, "1"))
    assert rest.put(f"{docs}/1", {"id": "1", "pk": "a"}, **A).status == 404
    assert rest.patch(f"{docs}/1", [{"op": "set", "path": "/n", "value": 1}], **A).status == 404
    assert rest.delete(f"{docs}/1", **A).status == 404
    assert rest.get(docs).json()["_count"] == 0
    assert rest.post(docs, {"id": "1", "pk": "a"}, **A).status == 201


def test_switching_it_on_applies_to_what_is_there(database, make_container):
    container = make_container()
    container.create_item({"id": "1", "pk": "a"})
    database.replace_container(container, PartitionKey(path="/pk"), default_ttl=1)
    assert until(lambda: gone(container, "1"))


@pytest.mark.parametrize("text", ["SELECT VALUE COUNT(1) FROM c", "SELECT VALUE c.id FROM c WHERE c.n = 1", "SELECT VALUE c.id FROM c ORDER BY c.n"])
def test_queries_do_not_see_expired_items(make_container, text):
    container = make_container(default_ttl=2)
    container.create_item({"id": "1", "pk": "a", "n": 1})
    assert until(lambda: gone(container, "1"))
    assert list(container.query_items(text, partition_key="a")) in ([], [0])


def stored(rest, path):
    """Items that take up room, by the quota the container tells."""
    usage = rest.get(path, x_ms_documentdb_populatequotainfo="True").headers["x-ms-resource-usage"]
    return int(dict(pair.split("=") for pair in usage.strip(";").split(";"))["documentsCount"])


def test_expired_items_give_their_room_back(rest, database, make_container):
    container = make_container(default_ttl=1)
    path = f"/dbs/{database.id}/colls/{container.id}"
    for number in range(20):
        container.create_item({"id": str(number), "pk": f"k{number % 5}"})
    container.create_item({"id": "kept", "pk": "a", "ttl": -1})
    assert stored(rest, path) == 21
    # The background looks around at least twice a minute.
    assert until(lambda: stored(rest, path) == 1, seconds=45)


def test_switching_it_off_keeps_what_is_left(database, make_container):
    container = make_container(default_ttl=1000)
    container.create_item({"id": "1", "pk": "a", "ttl": 2})
    database.replace_container(container, PartitionKey(path="/pk"))
    time.sleep(3)
    assert not gone(container, "1")


def test_the_full_feed_tells_of_the_end(rest, database):
    name = f"ttl-{time.monotonic_ns()}"
    body = {"id": name, "partitionKey": {"paths": ["/pk"], "version": 2}, "defaultTtl": 1, "changeFeedPolicy": {"retentionDuration": 10}}
    assert rest.post(f"/dbs/{database.id}/colls", body).status == 201
    docs = f"/dbs/{database.id}/colls/{name}/docs"
    feed = {"a_im": "Full-Fidelity Feed", "x_ms_documentdb_partitionkeyrangeid": "0"}
    start = rest.get(docs, **feed, if_none_match="*").headers["etag"]
    assert rest.post(docs, {"id": "1", "pk": "a"}, **A).status == 201

    def told():
        answer = rest.get(docs, **feed, if_none_match=start)
        changes = answer.json()["Documents"] if answer.status == 200 else []
        return [change["metadata"] for change in changes if change["metadata"]["operationType"] == "delete"]

    assert until(lambda: len(told()) == 1, seconds=45)
    assert told()[0]["timeToLiveExpired"] is True and told()[0]["id"] == "1"
