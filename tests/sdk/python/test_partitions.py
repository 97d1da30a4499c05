"""Physical partitions: how many, where they meet, and what a split does (R8, R9, R10, R12)."""

import itertools
import threading
import time

import pytest
from azure.cosmos import PartitionKey

from conftest import unique
from rest import key_header

SPACE = 0x3FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF


def ranges_of(rest, database, container):
    feed = rest.get(f"/dbs/{database.id}/colls/{container.id}/pkranges", a_im="Incremental Feed")
    return feed.json()["PartitionKeyRanges"]


def tiles(ranges):
    ordered = sorted(ranges, key=lambda r: r["minInclusive"])
    assert ordered[0]["minInclusive"] == "" and ordered[-1]["maxExclusive"] == "FF"
    for left, right in zip(ordered, ordered[1:]):
        assert left["maxExclusive"] == right["minInclusive"]
    return ordered


@pytest.mark.parametrize("throughput, count", [(400, 1), (10_100, 2), (11_000, 2), (12_000, 2), (30_000, 5)])
def test_how_many(rest, database, make_container, throughput, count):
    """At most 10,000 RU/s each; 30,000 starts with five."""
    ranges = ranges_of(rest, database, make_container(offer_throughput=throughput))
    assert len(tiles(ranges)) == count
    assert sum(r["throughputFraction"] for r in ranges) == pytest.approx(1)


@pytest.mark.parametrize("throughput, count", [(11_000, 2), (30_000, 5)])
def test_where_they_meet(rest, database, make_container, throughput, count):
    """Even parts of the hash space, to the last digit, since clients compare them literally."""
    ranges = tiles(ranges_of(rest, database, make_container(offer_throughput=throughput)))
    step = SPACE // count
    assert [r["maxExclusive"] for r in ranges[:-1]] == [f"{step * n:032X}" for n in range(1, count)]
    assert [r["id"] for r in ranges] == [str(n) for n in range(count)]


def test_which_values_fall_where(make_container):
    """As a real account divides them: seen in the SDKs' own tests."""
    container = make_container(PartitionKey(path="/pk"), offer_throughput=11_000)
    for n in range(10):
        container.create_item({"id": str(n), "pk": f"partition{n}"})
    lower, upper = container.read_feed_ranges()
    inside = lambda part: sorted(container.query_items("SELECT VALUE c.id FROM c", feed_range=part))  # noqa: E731
    assert inside(lower) == ["0", "2", "3", "4", "5", "7", "9"]
    assert inside(upper) == ["1", "6", "8"]


def test_feed_of_many_partitions(make_container):
    container = make_container(offer_throughput=30_000)
    for n in range(50):
        container.create_item({"id": f"{n:02}", "pk": f"p{n}"}, no_response=True)
    pages = [[i["id"] for i in page] for page in container.read_all_items(max_item_count=7).by_page()]
    assert sorted(i for page in pages for i in page) == [f"{n:02}" for n in range(50)]


def wait_for(condition, seconds=50):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.2)
    raise AssertionError("it did not come about")


def test_growth_splits_and_nothing_is_lost(rest, database, make_container):
    """R10: reads and writes go on, and the old range is gone by name."""
    container = make_container(offer_throughput=400)
    for n in range(60):
        container.create_item({"id": f"{n:02}", "pk": f"p{n}"}, no_response=True)
    docs = f"/dbs/{database.id}/colls/{container.id}/docs"
    before = rest.get(docs, x_ms_max_item_count="20")
    etag = rest.get(f"/dbs/{database.id}/colls/{container.id}/pkranges", a_im="Incremental Feed").headers["etag"]

    container.replace_throughput(11_000)
    wait_for(lambda: len(ranges_of(rest, database, container)) == 2)

    ranges = tiles(ranges_of(rest, database, container))
    assert [(r["id"], r["parents"]) for r in ranges] == [("1", ["0"]), ("2", ["0"])]
    changed = rest.get(f"/dbs/{database.id}/colls/{container.id}/pkranges", a_im="Incremental Feed", if_none_match=etag)
    assert changed.status == 200 and changed.headers["etag"] != etag
    gone = rest.get(docs, x_ms_documentdb_partitionkeyrangeid="0")
    assert (gone.status, gone.sub_status) == (410, 1002)

    for n in range(60):
        assert container.read_item(f"{n:02}", f"p{n}")["id"] == f"{n:02}"
    assert sorted(i["id"] for i in container.read_all_items()) == [f"{n:02}" for n in range(60)]
    seen, token = [i["id"] for i in before.json()["Documents"]], before.headers["x-ms-continuation"]
    while token:
        page = rest.get(docs, x_ms_max_item_count="20", x_ms_continuation=token)
        assert page.status == 200, page.body
        seen += [i["id"] for i in page.json()["Documents"]]
        token = page.headers.get("x-ms-continuation")
    assert sorted(seen) == [f"{n:02}" for n in range(60)]
    container.create_item({"id": "after", "pk": "p0"})


def test_change_feed_goes_on_after_a_split(rest, database, make_container):
    container = make_container(offer_throughput=400)
    for n in range(20):
        container.create_item({"id": f"{n:02}", "pk": f"p{n}"}, no_response=True)
    assert len(list(container.query_items_change_feed(start_time="Beginning"))) == 20
    token = container.client_connection.last_response_headers["etag"]
    container.replace_throughput(11_000)
    wait_for(lambda: len(ranges_of(rest, database, container)) == 2)
    for n in range(20, 30):
        container.create_item({"id": f"{n:02}", "pk": f"p{n}"}, no_response=True)
    later = [item["id"] for item in container.query_items_change_feed(continuation=token)]
    assert sorted(later) == [f"{n:02}" for n in range(20, 30)]


def test_v1_containers_divide_by_their_own_hash(rest, database):
    name = unique("v1")
    body = {"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}
    rest.post(f"/dbs/{database.id}/colls", body, x_ms_offer_throughput="11000")
    container = database.get_container_client(name)
    ranges = tiles(ranges_of(rest, database, container))
    assert len(ranges) == 2 and ranges[0]["maxExclusive"].startswith("05C1")
    docs = f"/dbs/{database.id}/colls/{name}/docs"
    served = set()
    for n in range(30):
        answer = rest.post(docs, {"id": str(n), "pk": f"p{n}"}, **key_header(f"p{n}"))
        assert answer.status == 201
        served.add(answer.headers["x-ms-documentdb-partitionkeyrangeid"])
    assert served == {"0", "1"}


def test_each_partition_has_its_own_session(rest, database, make_container):
    container = make_container(offer_throughput=11_000)
    docs = f"/dbs/{database.id}/colls/{container.id}/docs"
    newest = {}
    for n in range(20):
        headers = rest.post(docs, {"id": str(n), "pk": f"partition{n}"}, **key_header(f"partition{n}")).headers
        part, number = headers["x-ms-documentdb-partitionkeyrangeid"], int(headers["lsn"])
        assert headers["x-ms-session-token"].startswith(f"{part}:")
        assert number == newest.get(part, number - 1) + 1
        newest[part] = number
    assert set(newest) == {"0", "1"}


def test_clients_work_on_while_throughput_grows(rest, database, make_container):
    """R10: 400 -> 11,000 -> 25,000 RU/s under writes, point reads and paged queries; nothing fails, nothing is lost."""
    container = make_container(offer_throughput=400)
    written, errors, done = {}, [], threading.Event()

    def guarded(work):
        def run():
            try:
                while not done.is_set():
                    work()
            except Exception as error:  # whatever surfaces to a program is what the test is about
                errors.append(error)

        return run

    def writer(number):
        counter = itertools.count()

        def work():
            name, key = f"{number}-{next(counter)}", f"p{number}-{next(counter) % 40}"
            container.create_item({"id": name, "pk": key}, no_response=True)
            written[name] = key
            assert container.read_item(name, key)["id"] == name

        return guarded(work)

    def query():
        before = set(written)
        pages = container.query_items(
            "SELECT c.id FROM c ORDER BY c.id", enable_cross_partition_query=True, max_item_count=20
        ).by_page()
        seen = [item["id"] for page in pages for item in page]
        assert len(seen) == len(set(seen)), "an item came twice"
        assert before <= set(seen), "an item that was acknowledged before is missing"

    threads = [threading.Thread(target=work) for work in [writer(0), writer(1), guarded(query)]]
    for thread in threads:
        thread.start()
    try:
        wait_for(lambda: len(written) > 100)
        for throughput, count in [(11_000, 2), (25_000, 3)]:
            container.replace_throughput(throughput)
            wait_for(lambda: len(ranges_of(rest, database, container)) == count)
            reached = len(written)
            wait_for(lambda: len(written) > reached + 50)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert errors == []
    ranges = tiles(ranges_of(rest, database, container))
    assert sum(r["parents"] == ["0"] for r in ranges) == 1 and sum(len(r["parents"]) == 2 for r in ranges) == 2
    assert sorted(item["id"] for item in container.read_all_items()) == sorted(written)


def test_partitions_are_shown_split_and_merged(rest, key, database, make_container):
    container = make_container(offer_throughput=400)
    for n in range(30):
        container.create_item({"id": str(n), "pk": f"p{n}"}, no_response=True)
    path = f"/_tesela/dbs/{database.id}/colls/{container.id}"
    bearer = {"authorization": f"Bearer {key}"}
    shown = rest.get(f"{path}/partitions", **bearer).json()["partitions"]
    assert [(p["id"], p["documentCount"], p["provisionedRu"]) for p in shown] == [("0", 30, 400)]
    halves = rest.post(f"{path}/split", {"partition": "0"}, **bearer).json()["partitions"]
    assert [(p["id"], p["parents"]) for p in halves] == [("1", ["0"]), ("2", ["0"])]
    assert sum(p["documentCount"] for p in halves) == 30
    whole = rest.post(f"{path}/merge", {"partitions": ["1", "2"]}, **bearer).json()["partitions"]
    assert [(p["id"], p["parents"], p["documentCount"]) for p in whole] == [("3", ["0", "1", "2"], 30)]
    assert sorted(int(i["id"]) for i in container.read_all_items()) == list(range(30))
    assert rest.get(f"{path}/partitions", authorization="Bearer wrong").status == 401
