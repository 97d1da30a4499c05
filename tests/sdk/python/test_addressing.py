"""Names and resource ids: each resource has two addresses, and both work everywhere."""

import pytest
from azure.cosmos import PartitionKey

from conftest import unique
from rest import key_header

A = key_header("a")


@pytest.fixture
def by_rid(database, container):
    return f"/dbs/{database.read()['_rid']}/colls/{container.read()['_rid']}"


def test_database_and_container_by_rid(rest, database, container, by_rid):
    owner = by_rid.rsplit("/colls/", 1)[0]
    assert rest.get(owner).json()["id"] == database.id
    assert rest.get(by_rid).json()["id"] == container.id
    assert container.id in [each["id"] for each in rest.get(f"{owner}/colls").json()["DocumentCollections"]]


def test_self_links_lead_back(rest, database, container):
    item = container.create_item({"id": "1", "pk": "a"})
    for resource, headers in ((database.read(), {}), (container.read(), {}), (item, A)):
        for link in (f"/{resource['_self']}", f"/{resource['_self']}".rstrip("/")):
            answer = rest.get(link, **headers)
            assert answer.status == 200
            assert answer.json()["_rid"] == resource["_rid"]


def test_items_by_rid(rest, by_rid):
    created = rest.post(f"{by_rid}/docs", {"id": "1", "pk": "a"}, **A)
    assert created.status == 201
    item = f"{by_rid}/docs/{created.json()['_rid']}"
    assert rest.get(item, **A).json() == created.json()
    assert rest.put(item, {"id": "1", "pk": "a", "n": 1}, **A).json()["n"] == 1
    assert rest.patch(item, [{"op": "incr", "path": "/n", "value": 1}], **A).json()["n"] == 2
    assert rest.get(f"{by_rid}/docs", **A).json()["_count"] == 1
    assert rest.delete(item, **A).status == 204
    assert rest.get(item, **A).status == 404


def test_sdk_addresses_an_item_it_holds_by_its_self_link(container):
    item = container.create_item({"id": "1", "pk": "a"})
    assert container.read_item(item, "a")["id"] == "1"
    container.replace_item(item, dict(item, n=1))
    container.delete_item(item, "a")


def test_key_of_an_item_by_rid_must_be_whole_and_its_own(rest, database, make_container):
    tree = make_container(PartitionKey(path=["/a", "/b"], kind="MultiHash"))
    item = tree.create_item({"id": "1", "a": "x", "b": "y"})
    path = f"/{item['_self']}"
    assert rest.get(path, **key_header("x", "y")).json() == item
    partial = rest.get(path, **key_header("x"))
    assert (partial.status, partial.sub_status) == (400, 1001)
    assert rest.get(path, **key_header("x", "z")).status == 404


def test_container_replace_and_delete_by_rid(rest, by_rid):
    body = rest.get(by_rid).json()
    assert rest.put(by_rid, dict(body, defaultTtl=60)).json()["defaultTtl"] == 60
    assert rest.delete(by_rid).status == 204
    assert rest.get(by_rid).status == 404


@pytest.mark.parametrize("missing", ["/dbs/AAAAAA==", "/dbs/{db}/colls/AAAAAIAAAAA=", "/dbs/{db}/colls/{c}/docs/{c}"])
def test_rids_nobody_has(rest, database, container, missing):
    path = missing.format(db=database.read()["_rid"], c=container.read()["_rid"])
    assert rest.get(path, **A).status in (400, 404)


def test_rids_keep_their_case(rest, by_rid):
    swapped = by_rid.swapcase().replace("/DBS/", "/dbs/").replace("/COLLS/", "/colls/")
    assert rest.get(swapped).status in (400, 401, 404)


@pytest.mark.parametrize("segment", ["DBS", "Dbs"])
def test_type_segments_ignore_case(rest, database, segment):
    assert rest.get(f"/{segment}/{database.id}").status == 200


def test_names_that_look_like_something_else(client, rest):
    """Paths are read by position: a database may be called `colls` and an item `docs`."""
    name = "colls" + unique("")
    database = client.create_database(name)
    try:
        rest.post(f"/dbs/{name}/colls", {"id": "docs", "partitionKey": {"paths": ["/pk"]}})
        docs = f"/dbs/{name}/colls/docs/docs"
        assert rest.post(docs, {"id": "docs", "pk": "a"}, **A).status == 201
        assert rest.get(f"{docs}/docs", **A).status == 200
        assert rest.get(docs).json()["_count"] == 1
    finally:
        client.delete_database(database.id)


def test_database_named_like_a_rid(client, rest):
    """Eight characters that decode to four bytes: a resource id first, a name when there is none."""
    name = "abcdef=="
    if rest.get("/dbs/" + name).status == 200:
        pytest.skip("a database of that name or id exists")
    client.create_database(name)
    try:
        assert name in [each["id"] for each in client.list_databases()]
        assert rest.get("/dbs").status == 200
    finally:
        rest.request("DELETE", f"/dbs/{name}")


def test_percent_encoded_names(client, rest, database):
    name = "ünï cödé"
    rest.post(f"/dbs/{database.id}/colls", {"id": name, "partitionKey": {"paths": ["/pk"], "version": 2}})
    container = database.get_container_client(name)
    container.create_item({"id": "é ü", "pk": "a"})
    assert container.read_item("é ü", "a")["id"] == "é ü"
