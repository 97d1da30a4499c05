"""The conflicts feed, which one write region leaves empty."""

import pytest
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from rest import key_header


def test_nothing_is_there(container):
    assert list(container.list_conflicts()) == []
    for call in (container.get_conflict, container.delete_conflict):
        with pytest.raises(CosmosResourceNotFoundError):
            call("1", "a")


def test_queries(container):
    text = "SELECT * FROM c WHERE c.resourceType = 'document'"
    assert list(container.query_conflicts(text, enable_cross_partition_query=True)) == []
    assert list(container.query_conflicts(text, partition_key="a")) == []


def test_queries_are_held_to_their_rules(rest, paths):
    conflicts = f"{paths.container_path}/conflicts"
    assert rest.query(conflicts, "SELECT * FROM c").status == 400
    assert rest.query(conflicts, "SELECT * FROM c", **key_header("a")).status == 200
    assert rest.query(conflicts, "SELECT * FRO c", **key_header("a")).status == 400
    assert rest.post(conflicts, {"id": "1"}, **key_header("a")).status == 405
