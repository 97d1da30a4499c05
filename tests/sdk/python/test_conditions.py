"""ETags and what a client may leave out of an answer: If-Match, If-None-Match, Prefer."""

import pytest
from azure.core import MatchConditions
from azure.cosmos.exceptions import CosmosAccessConditionFailedError

from rest import key_header

STALE = '"00000000-0000-0000-0000-000000000000"'
A = key_header("a")


@pytest.fixture
def item(container):
    return container.create_item({"id": "1", "pk": "a", "n": 1})


def test_replace_and_delete_with_the_current_etag(container, item):
    newer = container.replace_item(
        "1", dict(item, n=2), etag=item["_etag"], match_condition=MatchConditions.IfNotModified
    )
    container.delete_item("1", "a", etag=newer["_etag"], match_condition=MatchConditions.IfNotModified)


@pytest.mark.parametrize("operation", ["replace", "upsert", "delete", "patch"])
def test_stale_etag_is_412_and_changes_nothing(container, item, operation):
    condition = {"etag": STALE, "match_condition": MatchConditions.IfNotModified}
    calls = {
        "replace": lambda: container.replace_item("1", dict(item, n=9), **condition),
        "upsert": lambda: container.upsert_item(dict(item, n=9), **condition),
        "delete": lambda: container.delete_item("1", "a", **condition),
        "patch": lambda: container.patch_item(
            "1", "a", [{"op": "set", "path": "/n", "value": 9}], **condition
        ),
    }
    with pytest.raises(CosmosAccessConditionFailedError):
        calls[operation]()
    assert container.read_item("1", "a") == item


def test_unquoted_junk_is_an_etag_like_any_other(rest, paths, item):
    assert rest.put(paths.doc("1"), {"id": "1", "pk": "a"}, if_match="junk", **A).status == 412


def test_if_match_star(rest, paths, item):
    assert rest.put(paths.doc("1"), {"id": "1", "pk": "a"}, if_match="*", **A).status == 200


def test_upsert_with_if_match_creates_what_is_missing(rest, paths):
    answer = rest.post(
        paths.docs, {"id": "new", "pk": "a"}, if_match=STALE, x_ms_documentdb_is_upsert="True", **A
    )
    assert answer.status == 201


def test_read_of_a_known_version_is_304(rest, paths, item):
    answer = rest.get(paths.doc("1"), if_none_match=item["_etag"], **A)
    assert (answer.status, answer.body) == (304, b"")
    assert answer.headers["etag"] == item["_etag"]
    assert float(answer.headers["x-ms-request-charge"]) > 0
    assert rest.get(paths.doc("1"), if_none_match="*", **A).status == 304
    assert rest.get(paths.doc("1"), if_none_match=STALE, **A).status == 200


def test_if_none_match_star_on_writes(rest, paths, item):
    """Only-if-absent: 409 for a create, 412 for an upsert, of what exists."""
    body = {"id": "1", "pk": "a"}
    assert rest.post(paths.docs, body, if_none_match="*", **A).status == 409
    upsert = rest.post(paths.docs, body, if_none_match="*", x_ms_documentdb_is_upsert="True", **A)
    assert upsert.status == 412
    fresh = {"id": "2", "pk": "a"}
    assert rest.post(paths.docs, fresh, if_none_match="*", x_ms_documentdb_is_upsert="True", **A).status == 201


def test_condition_on_a_missing_item_is_404(rest, paths):
    assert rest.put(paths.doc("no"), {"id": "no", "pk": "a"}, if_match=STALE, **A).status == 404
    assert rest.delete(paths.doc("no"), if_match=STALE, **A).status == 404


MINIMAL = {"prefer": "return=minimal"}


@pytest.mark.parametrize("operation", ["create", "upsert", "replace", "patch"])
def test_minimal_answers_have_headers_and_no_body(rest, paths, item, operation):
    calls = {
        "create": lambda: rest.post(paths.docs, {"id": "2", "pk": "a"}, **MINIMAL, **A),
        "upsert": lambda: rest.post(
            paths.docs, {"id": "1", "pk": "a"}, x_ms_documentdb_is_upsert="True", **MINIMAL, **A
        ),
        "replace": lambda: rest.put(paths.doc("1"), {"id": "1", "pk": "a"}, **MINIMAL, **A),
        "patch": lambda: rest.patch(
            paths.doc("1"), [{"op": "set", "path": "/n", "value": 5}], **MINIMAL, **A
        ),
    }
    answer = calls[operation]()
    assert answer.status == (201 if operation == "create" else 200)
    assert answer.body == b""
    written = rest.get(paths.doc("2" if operation == "create" else "1"), **A)
    assert answer.headers["etag"] == written.json()["_etag"]
    assert float(answer.headers["x-ms-request-charge"]) > 0
    assert answer.headers["x-ms-session-token"]


def test_minimal_does_not_touch_reads(rest, paths, item):
    assert rest.get(paths.doc("1"), **MINIMAL, **A).json()["id"] == "1"


def test_sdk_no_response(container):
    assert not container.create_item({"id": "9", "pk": "a"}, no_response=True)
    assert container.read_item("9", "a")["id"] == "9"


def test_populate_content_header_of_the_rust_sdk(rest, paths):
    answer = rest.post(
        paths.docs, {"id": "3", "pk": "a"}, x_ms_cosmos_populate_content_response_on_write="false", **A
    )
    assert (answer.status, answer.body) == (201, b"")
