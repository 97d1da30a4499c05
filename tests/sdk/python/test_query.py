"""Queries inside one logical partition, served by the server alone (R18, R20)."""

import base64
import json

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from rest import key_header

A = key_header("a")

PEOPLE = [
    {"id": "1", "name": "Ada", "age": 36, "city": "London", "tags": ["math", "engine"], "address": {"zip": "N1"}},
    {"id": "2", "name": "Blaise", "age": 39, "city": "Paris", "tags": ["math"], "address": {"zip": "75"}},
    {"id": "3", "name": "Carl", "age": 77, "city": "Göttingen", "tags": ["math", "stars"]},
    {"id": "4", "name": "Dorothy", "age": 84, "city": "London", "tags": [], "address": {"zip": None}},
    {"id": "5", "name": "Emmy", "age": None, "city": "Göttingen"},
    {"id": "6", "name": "fritz", "age": "old", "tags": "none"},
]


@pytest.fixture(scope="module")
def people(database):
    container = database.create_container("people", PartitionKey(path="/pk"))
    for person in PEOPLE:
        container.create_item({**person, "pk": "a"})
    container.create_item({"id": "1", "pk": "b", "name": "Someone else"})
    return container


def ask(container, text, **options):
    return list(container.query_items(text, partition_key="a", **options))


ROWS = {
    "equality": ("SELECT VALUE c.name FROM c WHERE c.city = 'London'", ["Ada", "Dorothy"]),
    "range skips other types": ("SELECT VALUE c.id FROM c WHERE c.age > 38", ["2", "3", "4"]),
    "between": ("SELECT VALUE c.id FROM c WHERE c.age BETWEEN 36 AND 39", ["1", "2"]),
    "in": ("SELECT VALUE c.id FROM c WHERE c.name IN ('Ada', 'Carl', 'nobody')", ["1", "3"]),
    "and or not": ("SELECT VALUE c.id FROM c WHERE NOT (c.city = 'London' OR c.city = 'Paris') AND IS_NUMBER(c.age)", ["3"]),
    "undefined is not false": ("SELECT VALUE c.id FROM c WHERE NOT (c.city = 'Paris')", ["1", "3", "4", "5"]),
    "null equality": ("SELECT VALUE c.id FROM c WHERE c.age = null", ["5"]),
    "is defined": ("SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.tags)", ["5"]),
    "like": ("SELECT VALUE c.id FROM c WHERE c.name LIKE 'A%'", ["1"]),
    "nested path": ("SELECT VALUE c.id FROM c WHERE c.address.zip = 'N1'", ["1"]),
    "bracket path": ('SELECT VALUE c.id FROM c WHERE c["address"]["zip"] = "N1"', ["1"]),
    "array element": ("SELECT VALUE c.id FROM c WHERE c.tags[1] = 'stars'", ["3"]),
    "array contains": ("SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'math')", ["1", "2", "3"]),
    "join": ("SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE c.age < 40", [
        {"id": "1", "tag": "math"}, {"id": "1", "tag": "engine"}, {"id": "2", "tag": "math"}]),
    "exists": ("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'stars')", ["3"]),
    "array subquery": ("SELECT VALUE ARRAY(SELECT VALUE UPPER(t) FROM t IN c.tags) FROM c WHERE c.id = '1'", [["MATH", "ENGINE"]]),
    "projection": ("SELECT c.id, c.address.zip FROM c WHERE c.id IN ('1', '3')", [{"id": "1", "zip": "N1"}, {"id": "3"}]),
    "constructed": ("SELECT VALUE {'n': c.name, 'a': [c.age, c.nothing]} FROM c WHERE c.id = '1'", [{"n": "Ada", "a": [36]}]),
    "order by": ("SELECT VALUE c.name FROM c WHERE IS_NUMBER(c.age) ORDER BY c.age DESC", ["Dorothy", "Carl", "Blaise", "Ada"]),
    "order by text": ("SELECT VALUE c.name FROM c ORDER BY c.name", ["Ada", "Blaise", "Carl", "Dorothy", "Emmy", "fritz"]),
    "top": ("SELECT TOP 2 VALUE c.name FROM c ORDER BY c.name DESC", ["fritz", "Emmy"]),
    "offset limit": ("SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 1 LIMIT 2", ["2", "3"]),
    "distinct": ("SELECT DISTINCT VALUE c.city FROM c ORDER BY c.city", ["Göttingen", "London", "Paris"]),
    "count": ("SELECT VALUE COUNT(1) FROM c", [6]),
    "sum, min, max, avg": ("SELECT SUM(c.age) AS s, MIN(c.age) AS l, MAX(c.age) AS h, AVG(c.age) AS m FROM c WHERE IS_NUMBER(c.age)",
        [{"s": 236, "l": 36, "h": 84, "m": 59}]),
    "arithmetic": ("SELECT VALUE (c.age * 2 + 1) % 10 FROM c WHERE c.id = '1'", [3]),
    "coalesce": ("SELECT VALUE (c.address.zip ?? 'none') FROM c WHERE c.id IN ('3', '1')", ["N1", "none"]),
    "conditional": ("SELECT VALUE (c.age > 50 ? 'old' : 'young') FROM c WHERE c.id IN ('1', '3')", ["young", "old"]),
    "concatenation": ("SELECT VALUE c.name || '/' || c.city FROM c WHERE c.id = '1'", ["Ada/London"]),
    "functions": ("SELECT VALUE CONCAT(LOWER(c.name), TOSTRING(LENGTH(c.name))) FROM c WHERE c.id = '1'", ["ada3"]),
    "alias root": ("SELECT VALUE root.id FROM root WHERE root.id = '1'", ["1"]),
    "no from": ("SELECT VALUE 1 + 1", [2]),
}  # fmt: skip


@pytest.mark.parametrize("text, rows", ROWS.values(), ids=ROWS.keys())
def test_rows(people, text, rows):
    assert ask(people, text) == rows


def test_group_by(people):
    rows = ask(people, "SELECT c.city, COUNT(1) AS n FROM c WHERE IS_DEFINED(c.city) GROUP BY c.city")
    assert sorted((row["city"], row["n"]) for row in rows) == [("Göttingen", 2), ("London", 2), ("Paris", 1)]


def test_parameters(people):
    rows = ask(
        people,
        "SELECT VALUE c.id FROM c WHERE c.age >= @low AND ARRAY_CONTAINS(@cities, c.city)",
        parameters=[{"name": "@low", "value": 39}, {"name": "@cities", "value": ["Paris", "London"]}],
    )
    assert rows == ["2", "4"]


def test_whole_items_come_back_as_they_are(people):
    assert ask(people, "SELECT * FROM c WHERE c.id = '1'") == [people.read_item("1", "a")]


def test_unordered_rows_come_in_the_order_of_creation(people):
    assert ask(people, "SELECT VALUE c.id FROM c") == ["1", "2", "3", "4", "5", "6"]


@pytest.mark.parametrize("size", [1, 2, 5, 6, 100])
@pytest.mark.parametrize("text", ["SELECT VALUE c.id FROM c", "SELECT VALUE c.id FROM c ORDER BY c.id DESC"])
def test_any_page_size_gives_the_same_rows(people, text, size):
    pages = [list(page) for page in people.query_items(text, partition_key="a", max_item_count=size).by_page()]
    rows = [row for page in pages for row in page]
    assert rows == (list("123456") if "DESC" not in text else list("654321"))
    assert all(0 < len(page) <= size for page in pages)


def test_resume_from_a_token(people):
    pager = people.query_items("SELECT VALUE c.id FROM c ORDER BY c.name DESC", partition_key="a", max_item_count=2).by_page()
    first = list(next(pager))
    again = people.query_items("SELECT VALUE c.id FROM c ORDER BY c.name DESC", partition_key="a", max_item_count=2)
    assert first + [row for page in again.by_page(pager.continuation_token) for row in page] == list("654321")


BAD = {
    "syntax": "SELEC * FROM c",
    "unclosed": "SELECT * FROM c WHERE (c.a = 1",
    "unknown alias": "SELECT * FROM c WHERE d.a = 1",
    "unknown function": "SELECT VALUE NOPE(c.a) FROM c",
    "reserved word": "SELECT c.left FROM c",
    "empty": "",
    "unbound parameter": "SELECT * FROM c WHERE c.a = @p",
    "top of text": "SELECT TOP 'x' * FROM c",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_errors(rest, database, people, text):
    answer = rest.query(f"/dbs/{database.id}/colls/people/docs", text, **A)
    assert answer.status == 400
    assert answer.json()["code"] == "BadRequest" and answer.json()["message"]


def test_syntax_errors_say_where(rest, database, people):
    answer = rest.query(f"/dbs/{database.id}/colls/people/docs", "SELECT * FROM c WHERE c.a == 1", **A)
    assert "SC1001" in answer.json()["message"]
    assert '"location"' in answer.json()["message"].replace("\\", "")


@pytest.mark.parametrize("token", ["nonsense", "{}", "AAAA"])
def test_forged_continuation(rest, database, people, token):
    answer = rest.query(f"/dbs/{database.id}/colls/people/docs", "SELECT * FROM c", x_ms_continuation=token, **A)
    assert answer.status == 400


def test_headers_of_a_page(rest, database, people):
    docs = f"/dbs/{database.id}/colls/people/docs"
    plain = rest.query(docs, "SELECT * FROM c", x_ms_max_item_count="4", **A)
    assert plain.headers["x-ms-item-count"] == "4" and plain.headers["x-ms-continuation"]
    assert float(plain.headers["x-ms-request-charge"]) > 0
    assert "x-ms-documentdb-query-metrics" not in plain.headers
    asked = rest.query(docs, "SELECT * FROM c", x_ms_documentdb_populatequerymetrics="true", **A)
    metrics = dict(part.split("=") for part in asked.headers["x-ms-documentdb-query-metrics"].split(";"))
    assert float(metrics["totalExecutionTimeInMs"]) >= 0
    assert int(metrics["outputDocumentCount"]) == 6


def test_index_metrics_on_request(rest, database, people):
    docs = f"/dbs/{database.id}/colls/people/docs"
    text = "SELECT * FROM c WHERE c.name = 'Ada'"
    first = rest.query(docs, text, x_ms_cosmos_populateindexmetrics="true", **A)
    used = json.loads(base64.b64decode(first.headers["x-ms-cosmos-index-utilization"]))
    assert "/name/?" in [index["IndexSpec"] for index in used["UtilizedSingleIndexes"]]
    assert "x-ms-cosmos-index-utilization" not in rest.query(docs, text, **A).headers


def test_cost_follows_the_result(rest, database):
    """R20: an indexed hit costs the same however many neighbours it has."""
    large = database.create_container("large", PartitionKey(path="/pk"))

    def charge_after(up_to):
        for n in range(up_to):
            large.upsert_item({"id": str(n), "pk": "a", "n": n, "fill": "x" * 500}, no_response=True)
        docs = f"/dbs/{database.id}/colls/large/docs"
        answer = rest.query(docs, "SELECT VALUE c.id FROM c WHERE c.n = 7", **A)
        assert answer.json()["Documents"] == ["7"]
        return float(answer.headers["x-ms-request-charge"])

    few, many = charge_after(20), charge_after(400)
    assert many <= few * 1.5


def test_order_by_an_excluded_path(database):
    policy = {"includedPaths": [{"path": "/*"}], "excludedPaths": [{"path": "/raw/?"}]}
    container = database.create_container("excluded", PartitionKey(path="/pk"), indexing_policy=policy)
    container.create_item({"id": "1", "pk": "a", "raw": 1})
    with pytest.raises(CosmosHttpResponseError) as refused:
        list(container.query_items("SELECT * FROM c ORDER BY c.raw", partition_key="a"))
    assert refused.value.status_code == 400


def test_databases_and_containers_can_be_queried(client, database, people):
    assert [d["id"] for d in client.query_databases(f"SELECT * FROM c WHERE c.id LIKE '{database.id}%'")] == [database.id]
    assert "people" in [c["id"] for c in database.query_containers("SELECT * FROM c ORDER BY c.id")]


@pytest.mark.parametrize(
    "text, rule",
    [
        ("SELECT MAX(c.n FROM c", "Syntax error, incorrect syntax near 'FROM'"),
        (
            "SELECT TOP 1 c.id FROM c ORDER BY VectorDistance(c.v, [1, 2]) ASC",
            "Specifying a sorting order (ASC or DESC) with VectorDistance function is not supported.",
        ),
        (
            "SELECT TOP 1 c.id FROM c ORDER BY RANK FullTextScore(c.t, 'a') DESC",
            "Specifying a sort order (ASC or DESC) in the ORDER BY RANK clause is not allowed.",
        ),
    ],
    ids=["syntax", "vector", "rank"],
)
def test_texts_that_clients_look_for(container, text, rule):
    with pytest.raises(CosmosHttpResponseError) as refused:
        list(container.query_items(text, partition_key="a"))
    assert refused.value.status_code == 400 and rule in refused.value.message
