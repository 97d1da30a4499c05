"""Deleting a whole logical partition in one call."""

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosResourceNotFoundError


def test_one_key_goes_and_the_others_stay(container):
    for n in range(30):
        container.create_item({"id": str(n), "pk": f"p{n % 3}"})
    container.delete_all_items_by_partition_key("p1")
    assert {item["pk"] for item in container.read_all_items()} == {"p0", "p2"}
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", "p1")
    container.create_item({"id": "1", "pk": "p1"})
    assert container.read_item("1", "p1")["id"] == "1"


def test_absent_key_is_no_error(container):
    container.delete_all_items_by_partition_key("nobody")


def test_hierarchical_keys_need_every_level(rest, database, make_container):
    container = make_container(PartitionKey(path=["/a", "/b"], kind="MultiHash"))
    container.create_item({"id": "1", "a": "x", "b": "y"})
    path = f"/dbs/{database.id}/colls/{container.id}/operations/partitionkeydelete"
    assert rest.request("POST", path, headers={"x-ms-documentdb-partitionkey": '["x"]'}).status == 400
    assert rest.request("POST", path, headers={"x-ms-documentdb-partitionkey": '["x","y"]'}).status == 200
    assert list(container.read_all_items()) == []
