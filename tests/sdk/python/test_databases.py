"""Databases: the outermost resource (R1)."""

import base64

import pytest
from azure.cosmos import ThroughputProperties
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

from conftest import unique


@pytest.fixture
def scratch(client):
    """Names to create databases under; whatever exists at the end is deleted."""
    names = []

    def name(prefix="py-db"):
        names.append(unique(prefix))
        return names[-1]

    yield name
    for each in names:
        try:
            client.delete_database(each)
        except CosmosResourceNotFoundError:
            pass


def test_create_read_list_query_delete(client, scratch):
    name = scratch()
    client.create_database(name)
    assert client.get_database_client(name).read()["id"] == name
    assert name in [each["id"] for each in client.list_databases()]
    found = client.query_databases("SELECT * FROM root r WHERE r.id=@id", parameters=[{"name": "@id", "value": name}])
    assert [each["id"] for each in found] == [name]
    client.delete_database(name)
    with pytest.raises(CosmosResourceNotFoundError):
        client.get_database_client(name).read()


def test_resource_shape(rest, scratch):
    name = scratch()
    created = rest.post("/dbs", {"id": name})
    assert created.status == 201
    body = created.json()
    assert set(body) == {"id", "_rid", "_self", "_etag", "_ts", "_colls", "_users"}
    assert len(base64.b64decode(body["_rid"].replace("-", "/"))) == 4
    assert body["_self"] == f"dbs/{body['_rid']}/"
    assert body["_etag"].startswith('"') and body["_etag"].endswith('"')
    assert created.headers["etag"] == body["_etag"]
    assert (body["_colls"], body["_users"]) == ("colls/", "users/")
    assert isinstance(body["_ts"], int)
    assert rest.get(f"/dbs/{name}").json() == body


def test_duplicate_is_a_conflict(client, scratch):
    name = scratch()
    client.create_database(name)
    with pytest.raises(CosmosResourceExistsError) as refused:
        client.create_database(name)
    assert "already exists" in refused.value.message


def test_create_if_not_exists_keeps_the_first(client, scratch):
    name = scratch()
    first = client.create_database_if_not_exists(name).read()
    second = client.create_database_if_not_exists(name).read()
    assert first["_rid"] == second["_rid"]


def test_deleting_what_is_not_there(client):
    with pytest.raises(CosmosResourceNotFoundError):
        client.delete_database(unique("absent"))


def test_delete_honours_if_match(client, rest, scratch):
    name = scratch()
    etag = client.create_database(name).read()["_etag"]
    assert rest.delete(f"/dbs/{name}", if_match='"stale"').status == 412
    assert rest.delete(f"/dbs/{name}", if_match=etag).status == 204


def test_delete_takes_everything_below(client, scratch, rest):
    name = scratch()
    database = client.create_database(name)
    rest.post(f"/dbs/{name}/colls", {"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash"}})
    assert rest.get(f"/dbs/{name}/colls/c").status == 200
    client.delete_database(database.id)
    client.create_database(name)
    assert rest.get(f"/dbs/{name}/colls/c").status == 404


@pytest.mark.parametrize(
    "name",
    ["", "a" * 256, "slash/inside", "back\\slash", "question?", "hash#", "ends in a space "],
    ids=["empty", "256 characters", "slash", "backslash", "question mark", "hash", "trailing space"],
)
def test_bad_ids_are_refused(rest, name):
    response = rest.post("/dbs", {"id": name})
    assert response.status == 400
    assert response.json()["code"] == "BadRequest"


@pytest.mark.parametrize("body", [{}, {"id": 7}, {"id": None}, [], "text", None], ids=repr)
def test_a_body_without_a_string_id_is_refused(rest, body):
    response = rest.post("/dbs", b"null" if body is None else body)
    assert response.status == 400


@pytest.mark.parametrize("name", ["a" * 240, "with space", "ünïcödé 数据库", "colls", "dots.and-dashes_"])
def test_unusual_ids_work(client, scratch, name):
    full = f"{name}-{scratch('x')[-12:]}"
    database = client.create_database(full)
    try:
        assert database.read()["id"] == full
    finally:
        client.delete_database(full)


def test_throughput_of_a_database(client, rest, scratch):
    manual = client.create_database(scratch(), offer_throughput=500)
    assert manual.get_throughput().offer_throughput == 500
    autoscale = client.create_database(
        scratch(), offer_throughput=ThroughputProperties(auto_scale_max_throughput=5000)
    )
    assert autoscale.get_throughput().auto_scale_max_throughput == 5000
    without = client.create_database(scratch())
    found = rest.query(
        "/offers", "SELECT * FROM c WHERE c.resource = @link", [{"name": "@link", "value": without.read()["_self"]}]
    )
    assert found.json()["Offers"] == []


def test_both_kinds_of_throughput_at_once_are_refused(rest):
    response = rest.post(
        "/dbs",
        {"id": unique("both")},
        x_ms_offer_throughput="400",
        x_ms_cosmos_offer_autopilot_settings='{"maxThroughput":4000}',
    )
    assert response.status == 400


def test_list_pages(client, scratch):
    names = {scratch("py-page") for _ in range(5)}
    for name in names:
        client.create_database(name)
    pages = [list(page) for page in client.list_databases(max_item_count=2).by_page()]
    assert all(len(page) <= 2 for page in pages)
    assert names <= {each["id"] for page in pages for each in page}


def test_there_is_no_replace(client, rest, scratch):
    name = scratch()
    client.create_database(name)
    assert rest.put(f"/dbs/{name}", {"id": name}).status == 405
