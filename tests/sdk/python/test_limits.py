"""Limits at their edges: the last size that fits and the first that does not."""

import pytest

from conftest import unique
from rest import key_header

A = key_header("a")
MEGABYTE = 1024 * 1024


def test_item_of_nearly_two_megabytes(rest, paths):
    body = {"id": "1", "pk": "a", "fill": "x" * (2 * MEGABYTE - 1024)}
    assert rest.post(paths.docs, body, **A).status == 201
    assert len(rest.get(paths.doc("1"), **A).json()["fill"]) == 2 * MEGABYTE - 1024


@pytest.mark.parametrize("fill", [2 * MEGABYTE, 3 * MEGABYTE, 8 * MEGABYTE])
def test_item_over_two_megabytes(rest, paths, fill):
    answer = rest.post(paths.docs, {"id": "1", "pk": "a", "fill": "x" * fill}, **A)
    assert answer.status == 413
    assert answer.json()["code"] == "RequestEntityTooLarge"
    assert rest.get(paths.doc("1"), **A).status == 404


@pytest.mark.parametrize("item_id, fits", [("x" * 1023, True), ("x" * 1024, False), ("é" * 511, True), ("é" * 512, False)], ids=["1023 bytes", "1024 bytes", "1022 bytes in é", "1024 bytes in é"])
def test_item_id(rest, paths, item_id, fits):
    answer = rest.post(paths.docs, {"id": item_id, "pk": "a"}, **A)
    assert answer.status == (201 if fits else 400)


@pytest.mark.parametrize("size, fits", [(2000, True), (2100, False)])
def test_key_value_v2(rest, paths, size, fits):
    value = "k" * size
    answer = rest.post(paths.docs, {"id": "1", "pk": value}, **key_header(value))
    assert answer.status == (201 if fits else 400)


@pytest.mark.parametrize("size, fits", [(100, True), (2000, True), (2100, False)])
def test_key_value_v1(rest, database, size, fits):
    name = unique("v1")
    rest.post(f"/dbs/{database.id}/colls", {"id": name, "partitionKey": {"paths": ["/pk"]}})
    value = "k" * size
    docs = f"/dbs/{database.id}/colls/{name}/docs"
    answer = rest.post(docs, {"id": "1", "pk": value}, **key_header(value))
    assert answer.status == (201 if fits else 400)


def nested(levels):
    """An item whose deepest value stands `levels` objects or arrays down, the item included."""
    inner = levels - 1
    return b'{"id":"1","pk":"a","v":' + b"[" * inner + b"]" * inner + b"}"


@pytest.mark.parametrize("levels, fits", [(127, True), (128, True), (130, False), (1000, False), (100_000, False)])
def test_nesting(rest, paths, levels, fits):
    answer = rest.post(paths.docs, nested(levels), **A)
    assert answer.status == (201 if fits else 400)


def test_many_properties(rest, paths):
    body = {"id": "1", "pk": "a", **{f"p{n}": n for n in range(20_000)}}
    assert rest.post(paths.docs, body, **A).status == 201
    assert rest.get(paths.doc("1"), **A).json()["p19999"] == 19_999


@pytest.mark.parametrize("length, fits", [(255, True), (256, False)])
def test_container_name(rest, database, length, fits):
    body = {"id": "c" * length, "partitionKey": {"paths": ["/pk"]}}
    assert rest.post(f"/dbs/{database.id}/colls", body).status == (201 if fits else 400)


def test_long_url(rest, database):
    answer = rest.get(f"/dbs/{database.id}/colls/{'c' * 20_000}")
    assert answer.status in (400, 404, 414)


def test_large_headers(rest, paths):
    answer = rest.request("GET", paths.docs, headers={"x-filler": "y" * 100_000})
    assert answer.status in (400, 431)
    assert rest.get(paths.docs).status == 200
