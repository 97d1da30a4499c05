"""Partition key ranges: the routing map every SDK keeps (R9, R12).

The trap of this feed: clients repeat the request with the ETag of the last answer until they see a
literal 304. A server that never says 304 makes every client spin for ever.
"""

import base64

import pytest

INCREMENTAL = {"a_im": "Incremental Feed", "x_ms_max_item_count": "-1"}


def test_one_range_covers_the_whole_space(rest, paths):
    feed = rest.get(f"{paths.container_path}/pkranges", **INCREMENTAL)
    assert feed.status == 200
    body = feed.json()
    assert body["_count"] == 1 == len(body["PartitionKeyRanges"])
    only = body["PartitionKeyRanges"][0]
    assert only["id"] == "0", "text, not a number: the Rust SDK refuses anything else"
    assert (only["minInclusive"], only["maxExclusive"]) == ("", "FF")
    assert only["status"] == "online"
    assert not only["parents"]
    assert only["throughputFraction"] == 1
    rid = base64.b64decode(only["_rid"].replace("-", "/"))
    assert len(rid) == 16 and rid[15] >> 4 == 5
    assert only["_self"].endswith(f"/pkranges/{only['_rid']}/")


def test_unchanged_map_is_304_with_the_same_etag(rest, paths):
    first = rest.get(f"{paths.container_path}/pkranges", **INCREMENTAL)
    again = rest.get(f"{paths.container_path}/pkranges", if_none_match=first.headers["etag"], **INCREMENTAL)
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]


def test_other_etag_gets_the_map(rest, paths):
    answer = rest.get(f"{paths.container_path}/pkranges", if_none_match='"older"', **INCREMENTAL)
    assert answer.status == 200 and answer.json()["_count"] == 1


@pytest.mark.parametrize("spelling", ["Incremental Feed", "Incremental feed", "incremental feed"])
def test_spelling_of_a_im_does_not_matter(rest, paths, spelling):
    first = rest.get(f"{paths.container_path}/pkranges", a_im=spelling)
    again = rest.get(f"{paths.container_path}/pkranges", a_im=spelling, if_none_match=first.headers["etag"])
    assert again.status == 304


def test_plain_read_without_a_im(rest, paths):
    """As the JavaScript SDK asks."""
    feed = rest.get(f"{paths.container_path}/pkranges")
    assert feed.status == 200 and feed.json()["_count"] == 1


def test_addressed_by_rid(rest, database, container):
    """As the Rust, Java and .NET SDKs ask."""
    path = f"/dbs/{database.read()['_rid']}/colls/{container.read()['_rid']}/pkranges"
    first = rest.get(path, **INCREMENTAL)
    assert first.status == 200 and first.json()["_count"] == 1
    assert rest.get(path, if_none_match=first.headers["etag"], **INCREMENTAL).status == 304


def test_missing_container(rest, database):
    assert rest.get(f"/dbs/{database.id}/colls/absent/pkranges", **INCREMENTAL).status == 404


def test_stale_container_rid(rest, paths):
    answer = rest.get(
        f"{paths.container_path}/pkranges",
        x_ms_cosmos_intended_collection_rid="AAAAAIAAAAA=",
        **INCREMENTAL,
    )
    assert (answer.status, answer.sub_status) == (400, 1024)


def test_sdk_reads_feed_ranges(container):
    ranges = list(container.read_feed_ranges())
    assert len(ranges) == 1


def test_unknown_range_is_gone(rest, paths):
    """410/1002 tells the client to read the map again; an empty page would lose data."""
    answer = rest.get(paths.docs, x_ms_documentdb_partitionkeyrangeid="77")
    assert (answer.status, answer.sub_status) == (410, 1002)


def test_known_range_is_served(rest, container, paths):
    container.create_item({"id": "1", "pk": "a"})
    answer = rest.get(paths.docs, x_ms_documentdb_partitionkeyrangeid="0")
    assert answer.status == 200 and answer.json()["_count"] == 1
