"""Transactional batches: one logical partition, all or nothing (R16, R17)."""

import json

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from rest import key_header

A = key_header("a")
BATCH = {"x_ms_cosmos_is_batch_request": "True", "x_ms_cosmos_batch_atomic": "True"}


def send(rest, paths, operations, **headers):
    return rest.post(paths.docs, operations, **BATCH, **A, **headers)


def create(item_id, **extra):
    return {"operationType": "Create", "resourceBody": {"id": item_id, "pk": "a", **extra}}


def test_every_kind_of_operation(container):
    for item_id in ("read", "replace", "patch", "delete", "upsert"):
        container.create_item({"id": item_id, "pk": "a", "n": 1})
    results = container.execute_item_batch(
        [
            ("create", ({"id": "create", "pk": "a"},)),
            ("read", ("read",)),
            ("replace", ("replace", {"id": "replace", "pk": "a", "n": 2})),
            ("upsert", ({"id": "upsert", "pk": "a", "n": 3},)),
            ("upsert", ({"id": "fresh", "pk": "a"},)),
            ("patch", ("patch", [{"op": "incr", "path": "/n", "value": 5}])),
            ("delete", ("delete",)),
        ],
        partition_key="a",
    )
    assert [result["statusCode"] for result in results] == [201, 200, 200, 200, 201, 200, 204]
    assert results[1]["resourceBody"]["id"] == "read"
    assert container.read_item("patch", "a")["n"] == 6
    assert {item["id"] for item in container.read_all_items()} == {"create", "read", "replace", "upsert", "fresh", "patch"}


def test_reads_see_earlier_writes_of_the_batch(container):
    results = container.execute_item_batch(
        [("create", ({"id": "1", "pk": "a"},)), ("read", ("1",)), ("delete", ("1",))], partition_key="a"
    )
    assert results[1]["resourceBody"]["id"] == "1"
    assert list(container.read_all_items()) == []


FAILURES = {
    "duplicate": (create("taken"), 409),
    "missing": ({"operationType": "Replace", "id": "no", "resourceBody": {"id": "no", "pk": "a"}}, 404),
    "stale etag": ({"operationType": "Delete", "id": "taken", "ifMatch": '"stale"'}, 412),
    "bad patch": ({"operationType": "Patch", "id": "taken", "resourceBody": {"operations": [{"op": "remove", "path": "/x"}]}}, 400),
    "another partition": ({"operationType": "Create", "resourceBody": {"id": "9", "pk": "b"}}, 400),
    "missing read": ({"operationType": "Read", "id": "no"}, 404),
}  # fmt: skip


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("operation, status", FAILURES.values(), ids=FAILURES.keys())
def test_one_failure_undoes_all(rest, container, paths, operation, status, position):
    """R16: 207, the culprit with its own status, every other 424, nothing stored."""
    container.create_item({"id": "taken", "pk": "a"})
    operations = [create("x"), create("y")]
    operations.insert(position, operation)
    answer = send(rest, paths, operations)
    assert answer.status == 207
    statuses = [result["statusCode"] for result in answer.json()]
    assert statuses == [status if n == position else 424 for n in range(3)]
    assert [item["id"] for item in container.read_all_items()] == ["taken"]


def test_sdk_raises_with_the_index(container):
    container.create_item({"id": "1", "pk": "a"})
    with pytest.raises(CosmosBatchOperationError) as refused:
        container.execute_item_batch(
            [("create", ({"id": "2", "pk": "a"},)), ("create", ({"id": "1", "pk": "a"},))], partition_key="a"
        )
    assert (refused.value.error_index, refused.value.status_code) == (1, 409)


def test_a_batch_is_one_lsn(rest, paths):
    first = int(rest.post(paths.docs, {"id": "0", "pk": "a"}, **A).headers["lsn"])
    answer = send(rest, paths, [create(str(n)) for n in range(1, 11)])
    assert answer.status == 200
    assert int(answer.headers["lsn"]) == first + 1
    assert float(answer.headers["x-ms-request-charge"]) > 10


def test_results_carry_etag_and_charge(rest, paths):
    (result,) = send(rest, paths, [create("1")]).json()
    assert result["eTag"] == rest.get(paths.doc("1"), **A).json()["_etag"]
    assert result["requestCharge"] > 0


def test_minimal_results(rest, paths):
    operations = [create("1"), {"operationType": "Read", "id": "1"}]
    written, read = send(rest, paths, operations, prefer="return=minimal").json()
    assert "resourceBody" not in written and read["resourceBody"]["id"] == "1"


def test_hundred_operations_and_not_one_more(rest, paths):
    assert send(rest, paths, [create(str(n)) for n in range(100)]).status == 200
    over = send(rest, paths, [create(f"x{n}") for n in range(101)])
    assert over.status == 400
    assert "more operations than what is supported" in over.json()["message"]


def test_empty_batch(rest, paths):
    answer = send(rest, paths, [])
    assert answer.status == 400
    assert "no operations" in answer.json()["message"]


def test_two_megabytes(rest, paths):
    answer = send(rest, paths, [create(str(n), fill="x" * 600_000) for n in range(4)])
    assert answer.status == 413
    assert answer.json()["code"] == "RequestEntityTooLarge"
    assert rest.get(paths.docs).json()["_count"] == 0


@pytest.mark.parametrize(
    "body",
    [{}, [1], [{}], [{"operationType": "Explode"}], [{"operationType": "Create"}], [{"operationType": "Read"}]],
    ids=json.dumps,
)
def test_malformed_batches(rest, paths, body):
    assert send(rest, paths, body).status in (207, 400)
    assert rest.get(paths.docs).json()["_count"] == 0


def test_hierarchical_keys(make_container):
    container = make_container(PartitionKey(path=["/a", "/b"], kind="MultiHash"))
    operations = [("create", ({"id": str(n), "a": "x", "b": 1},)) for n in range(3)]
    container.execute_item_batch(operations, partition_key=["x", 1])
    assert len(list(container.read_all_items())) == 3
    with pytest.raises(CosmosHttpResponseError):
        container.execute_item_batch(operations, partition_key=["x"])


def test_bulk_is_not_all_or_nothing(rest, container, paths):
    """Without the atomic flag each operation stands alone; JavaScript's bulk relies on it."""
    container.create_item({"id": "taken", "pk": "a"})
    operations = [
        {**create("taken"), "partitionKey": '["a"]'},
        {**create("free"), "partitionKey": '["a"]'},
        {"operationType": "Create", "partitionKey": '["b"]', "resourceBody": {"id": "free", "pk": "b"}},
    ]
    answer = rest.post(
        paths.docs,
        operations,
        x_ms_cosmos_is_batch_request="True",
        x_ms_cosmos_batch_atomic="False",
        x_ms_cosmos_batch_continue_on_error="True",
        x_ms_documentdb_partitionkeyrangeid="0",
    )
    assert answer.status in (200, 207)
    assert [result["statusCode"] for result in answer.json()] == [409, 201, 201]
