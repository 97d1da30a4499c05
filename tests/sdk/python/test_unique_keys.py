"""Unique keys: no two items of a logical partition share the values."""

import pytest
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from rest import key_header

A = key_header("a")


@pytest.fixture
def members(make_container):
    policy = {"uniqueKeys": [{"paths": ["/email"]}, {"paths": ["/first", "/name/last"]}]}
    return make_container(unique_key_policy=policy)


def refused(call):
    with pytest.raises(CosmosHttpResponseError) as error:
        call()
    assert error.value.status_code == 409
    return error.value


def member(item_id, email, first="f", last=None, pk="a"):
    return {"id": item_id, "pk": pk, "email": email, "first": first, "name": {"last": last or item_id}}


def test_second_item_is_refused_with_its_own_sub_status(rest, database, members):
    members.create_item(member("1", "x@y"))
    refused(lambda: members.create_item(member("2", "x@y")))
    docs = f"/dbs/{database.id}/colls/{members.id}/docs"
    answer = rest.post(docs, member("2", "x@y"), **A)
    assert (answer.status, answer.sub_status) == (409, 3301)
    same_id = rest.post(docs, member("1", "other"), **A)
    assert (same_id.status, same_id.sub_status) == (409, 0)


def test_composite_keys_compare_all_their_paths(members):
    members.create_item(member("1", "a", "Ada", "L"))
    members.create_item(member("2", "b", "Ada", "M"))
    refused(lambda: members.create_item(member("3", "c", "Ada", "L")))


def test_scope_is_the_logical_partition(members):
    members.create_item(member("1", "x@y"))
    members.create_item(member("1", "x@y", pk="b"))


@pytest.mark.parametrize("operation", ["replace", "upsert", "patch"])
def test_updates_are_checked_too(members, operation):
    members.create_item(member("1", "x@y"))
    members.create_item(member("2", "z@y"))
    refused(
        {
            "replace": lambda: members.replace_item("2", member("2", "x@y")),
            "upsert": lambda: members.upsert_item(member("2", "x@y")),
            "patch": lambda: members.patch_item("2", "a", [{"op": "set", "path": "/email", "value": "x@y"}]),
        }[operation]
    )
    assert members.read_item("2", "a")["email"] == "z@y"


def test_item_does_not_collide_with_itself(members):
    members.create_item(member("1", "x@y"))
    members.replace_item("1", {**member("1", "x@y"), "n": 1})
    members.upsert_item({**member("1", "x@y"), "n": 2})


def test_value_is_free_again_after_delete_and_change(members):
    members.create_item(member("1", "x@y"))
    members.delete_item("1", "a")
    members.create_item(member("2", "x@y"))
    members.replace_item("2", member("2", "new@y"))
    members.create_item(member("3", "x@y"))


def test_missing_counts_as_null(members):
    members.create_item({"id": "1", "pk": "a", "first": "1", "name": {"last": "x"}})
    refused(lambda: members.create_item({"id": "2", "pk": "a", "first": "2", "name": {"last": "x"}}))
    refused(lambda: members.create_item({"id": "3", "pk": "a", "email": None, "first": "3", "name": {"last": "x"}}))


def test_types_are_told_apart(members):
    for n, email in enumerate(["1", 1, True, False, {"a": 1}, [1]]):
        members.create_item(member(str(n), email))
    refused(lambda: members.create_item(member("x", 1.0)))


def test_batch_checks_inside_and_outside(members):
    members.create_item(member("1", "x@y"))
    for emails in (["n@y", "n@y"], ["m@y", "x@y"]):
        operations = [("create", (member(f"b{n}", email),)) for n, email in enumerate(emails)]
        with pytest.raises(CosmosBatchOperationError):
            members.execute_item_batch(operations, partition_key="a")
    assert [item["id"] for item in members.read_all_items()] == ["1"]
