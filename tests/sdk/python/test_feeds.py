"""Read feeds: pages, continuation, scope and order."""

import base64

import pytest

from rest import key_header


def walk(rest, path, size, **headers):
    """All pages of a feed, by hand: (list of pages, list of continuations)."""
    pages, token = [], None
    for _ in range(1000):
        answer = rest.get(path, x_ms_max_item_count=str(size), x_ms_continuation=token, **headers)
        assert answer.status == 200, answer.body
        body = answer.json()
        assert body["_count"] == len(body["Documents"]) == int(answer.headers["x-ms-item-count"])
        pages.append([item["id"] for item in body["Documents"]])
        token = answer.headers.get("x-ms-continuation")
        assert token != "", "the end is a missing header, never an empty one"
        if token is None:
            return pages
    raise AssertionError("the feed does not end")


@pytest.fixture
def filled(container):
    """23 items over 3 logical partitions, created in the order of their ids."""
    for n in range(23):
        container.create_item({"id": f"{n:03}", "pk": f"p{n % 3}"})
    return container


def test_envelope(rest, container, paths):
    container.create_item({"id": "1", "pk": "a"})
    body = rest.get(paths.docs).json()
    assert list(body) == ["_rid", "Documents", "_count"]
    assert body["_rid"] == container.read()["_rid"]
    assert body["Documents"][0] == container.read_item("1", "a")


def test_empty_feed(rest, paths):
    answer = rest.get(paths.docs)
    assert answer.json()["Documents"] == [] and answer.json()["_count"] == 0
    assert "x-ms-continuation" not in answer.headers


@pytest.mark.parametrize("size", [1, 2, 7, 22, 23, 24, 1000])
def test_any_page_size_gives_the_same_items(rest, filled, paths, size):
    pages = walk(rest, paths.docs, size)
    assert all(len(page) <= size for page in pages)
    assert [item for page in pages for item in page] == [f"{n:03}" for n in range(23)]


def test_order_is_the_order_of_creation(rest, filled, paths):
    """Across logical partitions, and past 256 where a naive counter would jump."""
    for n in range(23, 300):
        filled.create_item({"id": f"{n:03}", "pk": f"p{n % 7}"}, no_response=True)
    feed = [item for page in walk(rest, paths.docs, 50) for item in page]
    assert feed == [f"{n:03}" for n in range(300)]


def test_replacing_does_not_move_an_item(rest, filled, paths):
    filled.replace_item("003", {"id": "003", "pk": "p0", "new": True})
    filled.upsert_item({"id": "001", "pk": "p1", "new": True})
    assert [i for page in walk(rest, paths.docs, 10) for i in page] == [f"{n:03}" for n in range(23)]


def test_rids_grow_as_little_endian_numbers(filled):
    ordinals = [
        int.from_bytes(base64.b64decode(item["_rid"].replace("-", "/"))[8:15], "little")
        for item in filled.read_all_items()
    ]
    assert ordinals == sorted(ordinals) and len(set(ordinals)) == len(ordinals)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_feed_of_one_logical_partition(rest, filled, paths, size):
    pages = walk(rest, paths.docs, size, **key_header("p1"))
    assert [item for page in pages for item in page] == [f"{n:03}" for n in range(23) if n % 3 == 1]


def test_feed_of_an_absent_logical_partition(rest, filled, paths):
    assert walk(rest, paths.docs, 10, **key_header("nobody")) == [[]]


def test_continuation_survives_what_happens_between_pages(rest, filled, paths):
    first = rest.get(paths.docs, x_ms_max_item_count="5")
    token = first.headers["x-ms-continuation"]
    filled.delete_item("004", "p1")  # already seen
    filled.delete_item("005", "p2")  # the next one
    filled.create_item({"id": "999", "pk": "p0"})
    rest_of_it = []
    while token:
        page = rest.get(paths.docs, x_ms_max_item_count="5", x_ms_continuation=token)
        rest_of_it += [item["id"] for item in page.json()["Documents"]]
        token = page.headers.get("x-ms-continuation")
    assert rest_of_it == [f"{n:03}" for n in range(6, 23)] + ["999"]


def test_continuation_is_short_ascii(rest, filled, paths):
    """The JavaScript SDK asks for at most 1 KB on every request."""
    token = rest.get(
        paths.docs, x_ms_max_item_count="1", x_ms_documentdb_responsecontinuationtokenlimitinkb="1"
    ).headers["x-ms-continuation"]
    assert token.isascii() and token.isprintable() and len(token) <= 1024


@pytest.mark.parametrize("size", ["0", "-2", "many", "1.5"])
def test_impossible_page_sizes(rest, filled, paths, size):
    assert rest.get(paths.docs, x_ms_max_item_count=size).status == 400


@pytest.mark.parametrize("size", ["-1", None])
def test_server_chosen_page_size(rest, filled, paths, size):
    assert rest.get(paths.docs, x_ms_max_item_count=size).json()["_count"] == 23


@pytest.mark.parametrize("token", ["garbage", "{}", "[]", "====", "AAAA", "%00"])
def test_forged_continuation(rest, filled, paths, token):
    answer = rest.get(paths.docs, x_ms_continuation=token)
    assert answer.status == 400 and answer.json()["message"]


def test_pages_stay_under_four_megabytes(rest, container, paths):
    for n in range(6):
        container.create_item({"id": str(n), "pk": "a", "fill": "x" * 1_000_000}, no_response=True)
    first = rest.get(paths.docs, x_ms_max_item_count="-1")
    assert len(first.body) <= 4 * 1024 * 1024
    assert [i for page in walk(rest, paths.docs, 100) for i in page] == list("012345")


def test_sdk_reads_pages(filled):
    pages = [[item["id"] for item in page] for page in filled.read_all_items(max_item_count=10).by_page()]
    assert [item for page in pages for item in page] == [f"{n:03}" for n in range(23)]
    assert max(map(len, pages)) <= 10


def test_sdk_resumes_from_a_token(filled):
    pager = filled.read_all_items(max_item_count=10).by_page()
    first = [item["id"] for item in next(pager)]
    token = pager.continuation_token
    rest_of_it = [item["id"] for page in filled.read_all_items(max_item_count=10).by_page(token) for item in page]
    assert first + rest_of_it == [f"{n:03}" for n in range(23)]


@pytest.mark.parametrize(
    "window, everything",
    [(("", "FF"), True), (("00", "3F"), True), (("", "00"), False), (("1F", "1F"), False), (("FF", "FF"), False)],
    ids=str,
)
def test_windows_of_the_hash_space(rest, filled, paths, window, everything):
    answer = rest.get(
        paths.docs,
        x_ms_start_epk=window[0],
        x_ms_end_epk=window[1],
        x_ms_read_key_type="EffectivePartitionKeyRange",
    )
    assert answer.status == 200
    assert answer.json()["_count"] == (23 if everything else 0)


def test_window_of_another_key_type(rest, filled, paths):
    answer = rest.get(paths.docs, x_ms_start_epk="", x_ms_end_epk="FF", x_ms_read_key_type="ResourceId")
    assert answer.status == 400
