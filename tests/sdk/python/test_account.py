"""The account read: the first call of every SDK, and the one that tells it where to go next."""

import json
from urllib.parse import urlparse

import pytest
from azure.cosmos import CosmosClient

from rest import Rest


def test_sdk_reads_the_account(client):
    account = client.get_database_account()
    assert account.ConsistencyPolicy["defaultConsistencyLevel"] == "Session"
    assert account.WritableLocations and account.ReadableLocations


def test_document_has_what_each_sdk_dereferences(rest):
    account = rest.get("/").json()
    for field in ("id", "_rid", "_self", "_dbs", "media", "addresses"):
        assert isinstance(account[field], str), field
    assert account["enableMultipleWriteLocations"] is False
    assert account["userReplicationPolicy"]["maxReplicasetSize"] >= 1
    engine = json.loads(account["queryEngineConfiguration"])
    assert engine["maxSqlQueryInputLength"] == 524288
    assert engine["sqlAllowTop"] is True


@pytest.mark.parametrize("member", ["thinClientReadableLocations", "thinClientWritableLocations", "_etag"])
def test_document_leaves_out_what_would_mislead_a_client(rest, member):
    response = rest.get("/")
    assert member not in response.json()
    assert "etag" not in response.headers


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_locations_are_reachable_by_the_one_who_asks(endpoint, key, host):
    port = urlparse(endpoint).port
    rest = Rest(f"http://{host}:{port}", key)
    account = rest.get("/").json()
    for location in account["writableLocations"] + account["readableLocations"]:
        told = urlparse(location["databaseAccountEndpoint"])
        assert (told.scheme, told.port) == ("http", port)
        assert told.hostname in ("127.0.0.1", "localhost")
        assert location["databaseAccountEndpoint"].endswith("/")
        assert location["name"]


def test_locations_keep_the_scheme_of_the_connection(https_endpoint, key):
    account = CosmosClient(https_endpoint, key).get_database_account()
    for location in account.WritableLocations:
        assert urlparse(location["databaseAccountEndpoint"]).scheme == "https"


def test_account_read_is_signed_like_everything_else(rest):
    response = rest.request("GET", "/", headers={"authorization": None})
    assert response.status == 401
    assert response.json()["code"] == "Unauthorized"
