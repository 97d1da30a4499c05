"""Headers of every answer: charge, activity, session, LSN, paths (R13)."""

import re
import uuid

import pytest

from rest import key_header

A = key_header("a")
TOKEN = re.compile(r"^(\d+):(-?\d+)#(\d+)$")


def lsn_of(answer):
    match = TOKEN.match(answer.headers["x-ms-session-token"])
    assert match, answer.headers["x-ms-session-token"]
    assert int(answer.headers["lsn"]) == int(match.group(3))
    return int(match.group(3))


def every_item_answer(rest, paths):
    yield "create", rest.post(paths.docs, {"id": "1", "pk": "a"}, **A)
    yield "read", rest.get(paths.doc("1"), **A)
    yield "unchanged", rest.get(paths.doc("1"), if_none_match="*", **A)
    yield "upsert", rest.post(paths.docs, {"id": "1", "pk": "a"}, x_ms_documentdb_is_upsert="True", **A)
    yield "replace", rest.put(paths.doc("1"), {"id": "1", "pk": "a"}, **A)
    yield "patch", rest.patch(paths.doc("1"), [{"op": "set", "path": "/n", "value": 1}], **A)
    yield "conflict", rest.post(paths.docs, {"id": "1", "pk": "a"}, **A)
    yield "precondition", rest.put(paths.doc("1"), {"id": "1", "pk": "a"}, if_match='"x"', **A)
    yield "feed", rest.get(paths.docs)
    yield "delete", rest.delete(paths.doc("1"), **A)
    yield "not found", rest.get(paths.doc("1"), **A)


def test_every_item_answer_says_who_served_it(rest, container, paths, database):
    rid = container.read()["_rid"]
    for name, answer in every_item_answer(rest, paths):
        headers = answer.headers
        assert float(headers["x-ms-request-charge"]) > 0, name
        assert headers["x-ms-documentdb-partitionkeyrangeid"] == "0", name
        assert headers["x-ms-alt-content-path"] == f"dbs/{database.id}/colls/{container.id}", name
        assert headers["x-ms-content-path"] == rid, name
        assert lsn_of(answer) >= 0, name
        needed = ["x-ms-activity-id", "x-ms-request-duration-ms", "date"]
        if answer.status < 400:
            needed += [
                "x-ms-serviceversion",
                "x-ms-gatewayversion",
                "x-ms-last-state-change-utc",
                "x-ms-transport-request-id",
                "x-ms-global-committed-lsn",
                "x-ms-cosmos-llsn",
                "x-ms-number-of-read-regions",
            ]
        assert not [each for each in needed if not headers.get(each)], name
        assert all(value.isascii() for value in headers.values())


def test_point_reads_and_writes_carry_etag_and_quota(rest, paths):
    created = rest.post(paths.docs, {"id": "1", "pk": "a"}, **A)
    read = rest.get(paths.doc("1"), **A)
    for answer in (created, read):
        assert answer.headers["etag"] == answer.json()["_etag"]
        assert answer.headers["x-ms-resource-quota"].endswith(";")
        assert "documentsCount=" in answer.headers["x-ms-resource-usage"]


def test_each_write_adds_one_to_the_lsn_and_reads_none(rest, paths):
    created = lsn_of(rest.post(paths.docs, {"id": "1", "pk": "a"}, **A))
    assert lsn_of(rest.get(paths.doc("1"), **A)) == created
    assert lsn_of(rest.put(paths.doc("1"), {"id": "1", "pk": "a"}, **A)) == created + 1
    assert lsn_of(rest.post(paths.docs, {"id": "1", "pk": "a"}, **A)) == created + 1, "409 writes nothing"
    assert lsn_of(rest.delete(paths.doc("1"), **A)) == created + 2
    assert lsn_of(rest.get(paths.doc("1"), **A)) == created + 2


def test_item_lsn_is_that_of_its_own_last_write(rest, paths):
    written = lsn_of(rest.post(paths.docs, {"id": "1", "pk": "a"}, **A))
    rest.post(paths.docs, {"id": "2", "pk": "b"}, **key_header("b"))
    read = rest.get(paths.doc("1"), **A)
    assert int(read.headers["x-ms-item-lsn"]) == written
    assert lsn_of(read) == written + 1


def test_charge_of_a_one_kilobyte_read_is_one(rest, paths):
    """R13"""
    rest.post(paths.docs, {"id": "1", "pk": "a", "fill": "x" * 700}, **A)
    assert float(rest.get(paths.doc("1"), **A).headers["x-ms-request-charge"]) == 1.0


def test_charge_follows_size_and_kind(rest, paths):
    small = rest.post(paths.docs, {"id": "s", "pk": "a"}, **A)
    large = rest.post(paths.docs, {"id": "l", "pk": "a", "fill": "x" * 100_000}, **A)
    charge = lambda answer: float(answer.headers["x-ms-request-charge"])  # noqa: E731
    assert charge(large) > charge(small) > charge(rest.get(paths.doc("s"), **A))
    assert charge(rest.get(paths.doc("l"), **A)) > 1


def test_charge_is_a_plain_decimal(rest, paths):
    for _, answer in every_item_answer(rest, paths):
        assert re.fullmatch(r"\d+(\.\d{1,2})?", answer.headers["x-ms-request-charge"])


def test_activity_id_is_echoed_or_made(rest, paths):
    mine = str(uuid.uuid4())
    assert rest.get(paths.docs, x_ms_activity_id=mine).headers["x-ms-activity-id"] == mine
    made = [rest.get(paths.docs).headers["x-ms-activity-id"] for _ in range(3)]
    assert len({str(uuid.UUID(each)) for each in made}) == 3


def test_activity_id_that_is_none_is_not_echoed(rest, paths):
    answer = rest.get(paths.docs, x_ms_activity_id="not a guid")
    assert answer.status == 200
    uuid.UUID(answer.headers["x-ms-activity-id"])


def test_errors_carry_activity_and_charge(rest, database):
    for answer in (
        rest.get(f"/dbs/{database.id}/colls/absent"),
        rest.request("GET", "/", headers={"authorization": None}),
        rest.post("/dbs", b"{"),
    ):
        assert answer.status >= 400
        assert answer.headers["x-ms-activity-id"]
        assert "x-ms-request-charge" in answer.headers


def test_control_plane_answers_have_no_empty_session_token(rest, database, paths):
    for path in ("/dbs", f"/dbs/{database.id}", paths.container_path, "/offers"):
        answer = rest.get(path)
        assert answer.headers.get("x-ms-session-token", "absent") != ""
        assert float(answer.headers["x-ms-request-charge"]) >= 0


@pytest.mark.parametrize(
    "name, value",
    [
        ("x-ms-cosmos-throughput-bucket", "2"),
        ("x-ms-cosmos-priority-level", "Low"),
        ("x-ms-dedicatedgateway-max-age", "100"),
        ("x-ms-cosmos-correlated-activityid", "7d2d5cf4-1c31-4a8e-9a3c-0d3a3f3b9a51"),
        ("x-ms-cosmos-sdk-supportedcapabilities", "11"),
        ("x-ms-client-id", "anything"),
        ("x-ms-thinclient-proxy-operation-type", "x"),
        ("x-something-nobody-knows", "1"),
    ],
)
def test_unknown_and_optional_headers_are_tolerated(rest, paths, name, value):
    assert rest.request("GET", paths.docs, headers={name: value}).status == 200


@pytest.mark.parametrize("flag", ["true", "True", "TRUE"])
def test_booleans_in_any_case(rest, paths, flag):
    body = {"id": "1", "pk": "a"}
    rest.post(paths.docs, body, **A)
    assert rest.post(paths.docs, body, x_ms_documentdb_is_upsert=flag, **A).status == 200


@pytest.mark.parametrize("flag", ["false", "False", "FALSE"])
def test_false_in_any_case(rest, paths, flag):
    body = {"id": "1", "pk": "a"}
    rest.post(paths.docs, body, **A)
    assert rest.post(paths.docs, body, x_ms_documentdb_is_upsert=flag, **A).status == 409


def test_stronger_consistency_than_the_account_is_refused(rest, paths):
    for level in ("Session", "ConsistentPrefix", "Eventual"):
        assert rest.get(paths.docs, x_ms_consistency_level=level).status == 200
    for level in ("Strong", "BoundedStaleness", "Nonsense"):
        assert rest.get(paths.docs, x_ms_consistency_level=level).status == 400


def test_answers_say_where_they_come_from(rest, paths):
    created = rest.post(f"{paths.docs}/", {"id": "1", "pk": "a"}, **A)
    assert created.headers["content-location"] == f"http://{rest.host}:{rest.port}{paths.docs}"
    assert rest.get(paths.doc("1"), **A).headers["content-location"].endswith(paths.doc("1"))


def test_session_tokens_are_read(rest, paths):
    rest.post(paths.docs, {"id": "1", "pk": "a"}, **A)
    assert rest.get(paths.doc("1"), x_ms_session_token="0:-1#1", **A).status == 200
    assert rest.get(paths.doc("1"), x_ms_session_token="77:-1#5", **A).status == 200, "a range nobody knows"
    assert rest.get(paths.doc("1"), x_ms_session_token="nonsense", **A).status == 400


def test_sdk_mixes_up_sessions_of_containers(make_container):
    """A container whose first answer had no body is unknown to the SDK, which then keeps the session of
    all such containers in one place and sends it to each. Nothing lags behind here, so nothing may fail."""
    busy, quiet = make_container(), make_container()
    for n in range(20):
        busy.create_item({"id": str(n), "pk": "a"}, no_response=True)
    quiet.create_item({"id": "1", "pk": "a"}, no_response=True)
    assert quiet.read_item("1", "a")["id"] == "1"


def test_sdk_follows_the_session(container):
    seen = []
    hook = lambda headers, _: seen.append(headers["x-ms-session-token"])  # noqa: E731
    container.create_item({"id": "1", "pk": "a"}, response_hook=hook)
    container.read_item("1", "a", response_hook=hook)
    container.replace_item("1", {"id": "1", "pk": "a"}, response_hook=hook)
    assert seen[0] == seen[1] != seen[2]
