"""Signatures: every request is checked, every time."""

import base64
import hashlib
import hmac
import re
import urllib.parse

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError

from conftest import required, unique
from rest import Rest, date_at, key_header, sign

A = key_header("a")
MINUTE = 60


@pytest.fixture
def item(rest, paths):
    rest.post(paths.docs, {"id": "1", "pk": "a"}, **A)
    return paths.doc("1")


def with_authorization(rest, path, value, method="GET"):
    return rest.request(method, path, headers={"authorization": value, "x-ms-documentdb-partitionkey": '["a"]'})


def test_sdk_with_a_wrong_key(endpoint):
    wrong = base64.b64encode(b"w" * 64).decode()
    with pytest.raises(CosmosHttpResponseError) as refused:
        CosmosClient(endpoint, wrong)
    assert refused.value.status_code == 401


@pytest.mark.parametrize("path", ["/", "/dbs", "/offers", "/dbs/any", "/dbs/any/colls/any/docs/any"])
def test_no_header_no_answer(rest, path):
    answer = rest.request("GET", path, headers={"authorization": None})
    assert (answer.status, answer.sub_status) == (401, 5000)
    assert answer.json()["code"] == "Unauthorized" and answer.json()["message"]


MALFORMED = {
    "empty": "",
    "word": "master",
    "not encoded twice": "type=master",
    "no signature": "type%3Dmaster%26ver%3D1.0%26sig%3D",
    "unknown type": "type%3Droot%26ver%3D1.0%26sig%3DAAAA",
    "unknown version": "type%3Dmaster%26ver%3D9.9%26sig%3DAAAA",
    "not base64": "type%3Dmaster%26ver%3D1.0%26sig%3D%21%21%21",
    "broken escape": "type%3Dmaster%26ver%3D1.0%26sig%3D%zz",
    "basic": "Basic dXNlcjpwYXNz",
    "very long": "type%3Dmaster%26ver%3D1.0%26sig%3D" + "A" * 5000,
}


@pytest.mark.parametrize("value", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_headers(rest, item, value):
    answer = with_authorization(rest, item, value)
    assert answer.status == 401
    assert answer.json()["code"] == "Unauthorized"


def test_signature_of_another_key(endpoint, item):
    forged = Rest(endpoint, base64.b64encode(b"f" * 64).decode())
    assert forged.get(item, **A).status == 401


@pytest.mark.parametrize("part", ["method", "path", "date"])
def test_signature_of_another_request(rest, item, part):
    date = date_at()
    token = {
        "method": lambda: sign(rest.key, "DELETE", item, date),
        "path": lambda: sign(rest.key, "GET", item + "x", date),
        "date": lambda: sign(rest.key, "GET", item, date_at(-30)),
    }[part]()
    answer = rest.request(
        "GET", item, headers={"authorization": token, "x-ms-documentdb-partitionkey": '["a"]'}, date=date
    )
    assert answer.status == 401


def test_one_bit_makes_it_wrong(rest, item):
    good = urllib.parse.unquote(rest.signed_headers("GET", item)["authorization"])
    head, signature = good.split("sig=")
    raw = bytearray(base64.b64decode(signature))
    raw[-1] ^= 1
    forged = urllib.parse.quote(f"{head}sig={base64.b64encode(bytes(raw)).decode()}", safe="")
    assert with_authorization(rest, item, forged).status == 401


@pytest.mark.parametrize("offset", [-14 * MINUTE, -60, 60, 14 * MINUTE])
def test_clock_inside_the_window(rest, item, offset):
    assert rest.request("GET", item, headers={"x-ms-documentdb-partitionkey": '["a"]'}, date=date_at(offset)).status == 200


@pytest.mark.parametrize("offset", [-16 * MINUTE, 16 * MINUTE, -365 * 24 * 60 * MINUTE])
def test_expired_and_future_signatures(rest, item, offset):
    answer = rest.request("GET", item, date=date_at(offset))
    assert answer.status == 403
    assert answer.json()["code"] == "Forbidden"


@pytest.mark.parametrize("date", ["yesterday", "", "2026-01-01T00:00:00Z"])
def test_unreadable_dates(rest, item, date):
    headers = {"authorization": sign(rest.key, "GET", item, date), "x-ms-date": date}
    assert rest.request("GET", item, headers=headers).status == 401


def test_no_date_at_all(rest, item):
    assert rest.request("GET", item, headers={"x-ms-date": None}).status == 401


def test_lower_case_escapes_and_raw_plus(rest, item):
    """.NET writes lower-case escapes; people who write headers by hand leave `+` as it is."""
    # Another second gives another signature; some of them hold a plus.
    dates = (date_at(-seconds) for seconds in range(600))
    date, token = next((d, t) for d in dates if "%2B" in (t := sign(rest.key, "GET", item, d)))
    for spelled in (lowered_escapes(token), token.replace("%2B", "+")):
        headers = {"authorization": spelled, "x-ms-documentdb-partitionkey": '["a"]'}
        assert rest.request("GET", item, headers=headers, date=date).status == 200


def lowered_escapes(token):
    return re.sub("%[0-9A-F]{2}", lambda escape: escape.group().lower(), token)


def test_date_header_serves_when_x_ms_date_is_absent(rest, item):
    date = date_at()
    text = f"get\ndocs\n{item.strip('/')}\n\n{date.lower()}\n"
    digest = hmac.new(base64.b64decode(rest.key), text.encode(), hashlib.sha256).digest()
    token = urllib.parse.quote(f"type=master&ver=1.0&sig={base64.b64encode(digest).decode()}", safe="")
    answer = rest.request(
        "GET",
        item,
        headers={"authorization": token, "x-ms-date": None, "date": date, "x-ms-documentdb-partitionkey": '["a"]'},
    )
    assert answer.status == 200


def test_secondary_key_is_as_good(endpoint, item):
    secondary = Rest(endpoint, required("TESELA_SECONDARY_KEY"))
    assert secondary.get(item, **A).status == 200
    name = unique("py-secondary")
    assert secondary.post("/dbs", {"id": name}).status == 201
    assert secondary.delete(f"/dbs/{name}").status == 204


@pytest.mark.parametrize("variable", ["TESELA_READ_ONLY_KEY", "TESELA_SECONDARY_READ_ONLY_KEY"])
def test_read_only_keys_read_and_never_write(rest, endpoint, item, paths, variable):
    reader = Rest(endpoint, required(variable))
    assert reader.get("/").status == 200
    assert reader.get(item, **A).status == 200
    assert reader.get(paths.docs).status == 200
    assert reader.get(f"{paths.container_path}/pkranges").status == 200
    assert reader.query("/dbs", "SELECT * FROM root r WHERE r.id = 'x'").status == 200
    refused = [
        reader.post("/dbs", {"id": unique("ro")}),
        reader.delete(paths.container_path),
        reader.post(paths.docs, {"id": "2", "pk": "a"}, **A),
        reader.post(paths.docs, {"id": "1", "pk": "a"}, x_ms_documentdb_is_upsert="True", **A),
        reader.put(item, {"id": "1", "pk": "a"}, **A),
        reader.patch(item, [{"op": "set", "path": "/n", "value": 1}], **A),
        reader.delete(item, **A),
    ]
    for answer in refused:
        assert answer.status == 403
        assert answer.json()["code"] == "Forbidden"
    assert rest.get(paths.docs).json()["_count"] == 1


def test_sdk_with_a_read_only_key(endpoint, database, container):
    container.create_item({"id": "1", "pk": "a"})
    reader = CosmosClient(endpoint, required("TESELA_READ_ONLY_KEY"))
    mirror = reader.get_database_client(database.id).get_container_client(container.id)
    assert mirror.read_item("1", "a")["id"] == "1"
    with pytest.raises(CosmosHttpResponseError) as refused:
        mirror.create_item({"id": "2", "pk": "a"})
    assert refused.value.status_code == 403


def test_signature_comes_before_the_resource(rest, database):
    """Nobody learns what exists without a key."""
    for path in (f"/dbs/{database.id}", "/dbs/absent"):
        assert rest.request("GET", path, headers={"authorization": None}).status == 401


@pytest.mark.parametrize("item_id", ["with space", "é", "100%", "a+b", "a%20b"])
def test_signed_text_is_the_decoded_name(rest, container, paths, item_id):
    container.create_item({"id": item_id, "pk": "a"})
    assert rest.get(paths.doc(urllib.parse.quote(item_id)), **A).status == 200
