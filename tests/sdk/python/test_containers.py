"""Containers: every property is validated, defaulted, kept and returned (R1, R2, R6)."""

import base64

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import (
    CosmosHttpResponseError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from conftest import unique
from rest import key_header

DEFAULT_INDEXING = {
    "indexingMode": "consistent",
    "automatic": True,
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": '/"_etag"/?'}],
}


def create(rest, database, **properties):
    body = {"id": unique("c"), "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}}
    body.update(properties)
    return rest.post(f"/dbs/{database.id}/colls", {k: v for k, v in body.items() if v is not ...})


def created(rest, database, **properties):
    response = create(rest, database, **properties)
    assert response.status == 201, response.body
    return response.json()


def test_create_read_list_query_delete(database):
    container = database.create_container(unique("c"), PartitionKey(path="/pk"))
    assert container.read()["id"] == container.id
    assert container.id in [each["id"] for each in database.list_containers()]
    found = database.query_containers(
        "SELECT * FROM root r WHERE r.id=@id", parameters=[{"name": "@id", "value": container.id}]
    )
    assert [each["id"] for each in found] == [container.id]
    database.delete_container(container.id)
    with pytest.raises(CosmosResourceNotFoundError):
        container.read()


def test_resource_shape_and_defaults(rest, database):
    body = created(rest, database)
    assert set(body) == {
        "id", "partitionKey", "indexingPolicy", "conflictResolutionPolicy", "geospatialConfig",
        "_rid", "_self", "_etag", "_ts", "_docs", "_sprocs", "_triggers", "_udfs", "_conflicts",
    }
    rid = base64.b64decode(body["_rid"].replace("-", "/"))
    assert len(rid) == 8 and rid[4] & 0x80
    owner = base64.b64encode(rid[:4]).decode().replace("/", "-")
    assert body["_self"] == f"dbs/{owner}/colls/{body['_rid']}/"
    assert body["indexingPolicy"] == DEFAULT_INDEXING
    assert body["partitionKey"] == {"paths": ["/pk"], "kind": "Hash", "version": 2}
    assert body["conflictResolutionPolicy"]["mode"] == "LastWriterWins"
    assert body["conflictResolutionPolicy"]["conflictResolutionPath"] == "/_ts"
    assert body["geospatialConfig"] == {"type": "Geography"}
    links = [body[name] for name in ("_docs", "_sprocs", "_triggers", "_udfs", "_conflicts")]
    assert links == ["docs/", "sprocs/", "triggers/", "udfs/", "conflicts/"]


KEPT = {
    "defaultTtl off by default": {"defaultTtl": -1},
    "defaultTtl in seconds": {"defaultTtl": 3600},
    "unique keys": {"uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/email"]}, {"paths": ["/a", "/b/c"]}]}},
    "last writer wins by own path": {
        "conflictResolutionPolicy": {"mode": "LastWriterWins", "conflictResolutionPath": "/priority"}
    },
    "custom conflict resolution": {
        "conflictResolutionPolicy": {
            "mode": "Custom",
            "conflictResolutionProcedure": "dbs/d/colls/c/sprocs/resolve",
        }
    },
    "computed properties": {
        "computedProperties": [{"name": "cp_lower", "query": "SELECT VALUE LOWER(c.name) FROM c"}]
    },
    "change feed retention": {"changeFeedPolicy": {"retentionDuration": 10}},
    "planar geometry": {"geospatialConfig": {"type": "Geometry"}},
    "analytical store": {"analyticalStorageTtl": -1},
    "full text": {
        "fullTextPolicy": {
            "defaultLanguage": "en-US",
            "fullTextPaths": [{"path": "/text", "language": "en-US"}],
        }
    },
    "vectors": {
        "vectorEmbeddingPolicy": {
            "vectorEmbeddings": [
                {"path": "/v", "dataType": "float32", "dimensions": 8, "distanceFunction": "cosine"}
            ]
        }
    },
    "client encryption": {
        "clientEncryptionPolicy": {
            "includedPaths": [
                {
                    "path": "/secret",
                    "clientEncryptionKeyId": "k1",
                    "encryptionType": "Deterministic",
                    "encryptionAlgorithm": "AEAD_AES_256_CBC_HMAC_SHA256",
                }
            ],
            "policyFormatVersion": 1,
        }
    },
}


@pytest.mark.parametrize("properties", KEPT.values(), ids=KEPT.keys())
def test_properties_are_kept_and_returned(rest, database, properties):
    body = created(rest, database, **properties)
    read = rest.get(f"/dbs/{database.id}/colls/{body['id']}").json()
    assert read == body
    for name, sent in properties.items():
        returned = body[name]
        if isinstance(sent, dict):
            assert {k: returned[k] for k in sent} == sent
        else:
            assert returned == sent


INDEXING = {
    "composite": {"compositeIndexes": [[{"path": "/a", "order": "ascending"}, {"path": "/b", "order": "descending"}]]},
    "spatial": {"spatialIndexes": [{"path": "/loc/*", "types": ["Point", "LineString", "Polygon", "MultiPolygon"]}]},
    "excluded subtree": {"excludedPaths": [{"path": "/big/*"}]},
    "named paths only": {"includedPaths": [{"path": "/name/?"}], "excludedPaths": [{"path": "/*"}]},
}


@pytest.mark.parametrize("part", INDEXING.values(), ids=INDEXING.keys())
def test_indexing_policy_is_normalised(rest, database, part):
    policy = created(rest, database, indexingPolicy=part)["indexingPolicy"]
    assert policy["indexingMode"] == "consistent" and policy["automatic"] is True
    for name, sent in part.items():
        if name == "excludedPaths":
            assert all(path in policy[name] for path in sent)
        else:
            assert policy[name] == sent
    assert {"path": '/"_etag"/?'} in policy["excludedPaths"]
    roots = [path["path"] for path in policy["includedPaths"] + policy["excludedPaths"]]
    assert "/*" in roots


def test_indexing_paths_are_written_in_one_form(rest, database):
    policy = created(
        rest,
        database,
        indexingPolicy={
            "indexingMode": "Consistent",
            "includedPaths": [{"path": "/", "indexes": [{"kind": "Range", "dataType": "String", "precision": -1}]}],
        },
    )["indexingPolicy"]
    assert policy["indexingMode"] == "consistent"
    assert [path["path"] for path in policy["includedPaths"]] == ["/*"]


def test_indexing_none_empties_the_paths(rest, database):
    policy = created(rest, database, indexingPolicy={"indexingMode": "none", "automatic": False})["indexingPolicy"]
    assert policy["indexingMode"] == "none"
    assert policy["automatic"] is False
    assert policy.get("includedPaths", []) == [] and policy.get("excludedPaths", []) == []


def test_automatic_false_comes_back_true_in_consistent_mode(rest, database):
    """What the Rust SDK sends by default, and expects back."""
    sent = {
        "indexingMode": "consistent",
        "automatic": False,
        "includedPaths": [{"path": "/*"}],
        "excludedPaths": [{"path": '/"_etag"/?'}],
    }
    assert created(rest, database, indexingPolicy=sent)["indexingPolicy"] == DEFAULT_INDEXING


PARTITION_KEYS = {
    "one path, v2": ({"paths": ["/pk"], "kind": "Hash", "version": 2},) * 2,
    "one path, v1 stays unversioned": ({"paths": ["/pk"], "kind": "Hash"},) * 2,
    "explicit v1": ({"paths": ["/pk"], "kind": "Hash", "version": 1},) * 2,
    "kind defaults to Hash": ({"paths": ["/pk"]}, {"paths": ["/pk"], "kind": "Hash"}),
    "nested": ({"paths": ["/address/city"], "kind": "Hash", "version": 2},) * 2,
    "quoted": ({"paths": ['/"first-name"/x'], "kind": "Hash", "version": 2},) * 2,
    "two levels": ({"paths": ["/tenant", "/user"], "kind": "MultiHash", "version": 2},) * 2,
    "three levels": ({"paths": ["/a", "/b/c", "/id"], "kind": "MultiHash", "version": 2},) * 2,
}


@pytest.mark.parametrize("sent, returned", PARTITION_KEYS.values(), ids=PARTITION_KEYS.keys())
def test_partition_key_definitions(rest, database, sent, returned):
    """R2; a container without `version` hashes by v1 and must say so by leaving it out."""
    body = created(rest, database, partitionKey=sent)
    assert body["partitionKey"] == returned


REFUSED = {
    "no partition key": {"partitionKey": ...},
    "no paths": {"partitionKey": {"paths": [], "kind": "Hash"}},
    "path without slash": {"partitionKey": {"paths": ["pk"], "kind": "Hash"}},
    "two paths for Hash": {"partitionKey": {"paths": ["/a", "/b"], "kind": "Hash"}},
    "four levels": {"partitionKey": {"paths": ["/a", "/b", "/c", "/d"], "kind": "MultiHash", "version": 2}},
    "same path twice": {"partitionKey": {"paths": ["/a", "/a"], "kind": "MultiHash", "version": 2}},
    "MultiHash v1": {"partitionKey": {"paths": ["/a", "/b"], "kind": "MultiHash", "version": 1}},
    "unknown version": {"partitionKey": {"paths": ["/a"], "kind": "Hash", "version": 3}},
    "unknown kind": {"partitionKey": {"paths": ["/a"], "kind": "Modulo"}},
    "paths not a list": {"partitionKey": {"paths": "/a", "kind": "Hash"}},
    "array index in a path": {"partitionKey": {"paths": ["/a/[]"], "kind": "Hash"}},
    "defaultTtl zero": {"defaultTtl": 0},
    "defaultTtl below -1": {"defaultTtl": -10},
    "defaultTtl text": {"defaultTtl": "60"},
    "unknown indexing mode": {"indexingPolicy": {"indexingMode": "eager"}},
    "no root path": {"indexingPolicy": {"includedPaths": [{"path": "/a/?"}], "excludedPaths": []}},
    "indexing path without slash": {"indexingPolicy": {"includedPaths": [{"path": "a/*"}]}},
    "composite of one": {"indexingPolicy": {"compositeIndexes": [[{"path": "/a", "order": "ascending"}]]}},
    "composite order": {
        "indexingPolicy": {"compositeIndexes": [[{"path": "/a", "order": "up"}, {"path": "/b", "order": "ascending"}]]}
    },
    "spatial type": {"indexingPolicy": {"spatialIndexes": [{"path": "/l/*", "types": ["Circle"]}]}},
    "unique keys over the limit": {"uniqueKeyPolicy": {"uniqueKeys": [{"paths": [f"/p{n}"]} for n in range(11)]}},
    "unique key paths over the limit": {"uniqueKeyPolicy": {"uniqueKeys": [{"paths": [f"/p{n}" for n in range(17)]}]}},
    "unique key without paths": {"uniqueKeyPolicy": {"uniqueKeys": [{"paths": []}]}},
    "conflict mode": {"conflictResolutionPolicy": {"mode": "FirstWriterWins"}},
    "computed properties not a list": {"computedProperties": {"name": "x", "query": "SELECT VALUE 1 FROM c"}},
    "computed properties over the limit": {
        "computedProperties": [{"name": f"p{n}", "query": "SELECT VALUE c.a FROM c"} for n in range(21)]
    },
    "vector dimensions": {
        "vectorEmbeddingPolicy": {
            "vectorEmbeddings": [
                {"path": "/v", "dataType": "float32", "dimensions": 8000, "distanceFunction": "cosine"}
            ]
        }
    },
    "vector data type": {
        "vectorEmbeddingPolicy": {
            "vectorEmbeddings": [{"path": "/v", "dataType": "float8", "dimensions": 8, "distanceFunction": "cosine"}]
        }
    },
    "full text language": {
        "fullTextPolicy": {"defaultLanguage": "xx-XX", "fullTextPaths": [{"path": "/t", "language": "xx-XX"}]}
    },
    "full text path": {
        "fullTextPolicy": {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "t", "language": "en-US"}]}
    },
    "geometry kind": {"geospatialConfig": {"type": "Flat"}},
    "id not text": {"id": 5},
    "id with slash": {"id": "a/b"},
    "id too long": {"id": "c" * 256},
}


@pytest.mark.parametrize("properties", REFUSED.values(), ids=REFUSED.keys())
def test_bad_definitions_are_refused(rest, database, properties):
    before = {each["id"] for each in database.list_containers()}
    response = create(rest, database, **properties)
    assert response.status == 400, response.body
    assert response.json()["code"] == "BadRequest" and response.json()["message"]
    assert {each["id"] for each in database.list_containers()} == before


def test_too_many_paths_is_said_in_the_words_tests_look_for(rest, database):
    response = create(rest, database, partitionKey={"paths": ["/a", "/b"], "kind": "Hash"})
    assert "Too many partition key paths" in response.json()["message"]


def test_definition_is_checked_before_the_name(rest, database):
    name = created(rest, database)["id"]
    assert create(rest, database, id=name, defaultTtl=0).status == 400
    assert create(rest, database, id=name).status == 409


def test_duplicate_is_a_conflict(database, container):
    with pytest.raises(CosmosResourceExistsError):
        database.create_container(container.id, PartitionKey(path="/pk"))


def test_container_of_a_missing_database(rest):
    absent = f"/dbs/{unique('absent')}/colls"
    body = {"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}
    response = rest.post(absent, body)
    assert (response.status, response.sub_status) == (404, 1003)
    assert rest.get(absent).status == 404


def test_replace_changes_what_may_change(database, container):
    policy = dict(DEFAULT_INDEXING, excludedPaths=[{"path": "/big/*"}, {"path": '/"_etag"/?'}])
    database.replace_container(container, PartitionKey(path="/pk"), indexing_policy=policy, default_ttl=60)
    read = container.read()
    assert read["indexingPolicy"]["excludedPaths"] == policy["excludedPaths"]
    assert read["defaultTtl"] == 60
    database.replace_container(container, PartitionKey(path="/pk"))
    reset = container.read()
    assert "defaultTtl" not in reset
    assert reset["indexingPolicy"] == DEFAULT_INDEXING


def test_replace_keeps_identity_and_moves_the_etag(database, container):
    before = container.read()
    database.replace_container(container, PartitionKey(path="/pk"), default_ttl=5)
    after = container.read()
    assert (after["_rid"], after["_self"]) == (before["_rid"], before["_self"])
    assert after["_etag"] != before["_etag"]


@pytest.mark.parametrize(
    "partition_key",
    [
        {"paths": ["/other"], "kind": "Hash", "version": 2},
        {"paths": ["/pk", "/other"], "kind": "MultiHash", "version": 2},
        None,
    ],
    ids=["other path", "other kind", "left out"],
)
def test_partition_key_cannot_be_replaced(rest, paths, partition_key):
    """R6: a clear error and nothing changed."""
    before = rest.get(paths.container_path).json()
    body = {"id": before["id"], "defaultTtl": 9}
    if partition_key:
        body["partitionKey"] = partition_key
    response = rest.put(paths.container_path, body)
    assert response.status == 400
    assert rest.get(paths.container_path).json() == before


@pytest.mark.parametrize("name", ["uniqueKeyPolicy", "vectorEmbeddingPolicy"])
def test_immutable_policies_cannot_be_added_later(rest, paths, name):
    body = rest.get(paths.container_path).json()
    body[name] = KEPT["unique keys" if name == "uniqueKeyPolicy" else "vectors"][name]
    assert rest.put(paths.container_path, body).status == 400


def test_replace_with_a_stale_etag(rest, paths):
    body = rest.get(paths.container_path).json()
    body["defaultTtl"] = 7
    assert rest.put(paths.container_path, body, if_match='"stale"').status == 412
    assert rest.put(paths.container_path, body, if_match=body["_etag"]).status == 200
    assert rest.put(paths.container_path, body, if_match=body["_etag"]).status == 412


def test_replace_of_a_missing_container(rest, database):
    body = {"id": "absent", "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}
    assert rest.put(f"/dbs/{database.id}/colls/absent", body).status == 404


def test_delete_honours_if_match(rest, container, paths):
    assert rest.delete(paths.container_path, if_match='"stale"').status == 412
    assert rest.delete(paths.container_path, if_match=container.read()["_etag"]).status == 204


def test_items_of_a_deleted_container(rest, database, container, paths):
    database.delete_container(container.id)
    response = rest.post(paths.docs, {"id": "1", "pk": "a"}, **key_header("a"))
    assert (response.status, response.sub_status) == (404, 1003)


def test_recreated_container_is_another_one(rest, database, container, paths):
    """A client that still believes in the old container is told so: 400, sub-status 1024."""
    old = container.read()["_rid"]
    container.create_item({"id": "1", "pk": "a"})
    database.delete_container(container.id)
    again = database.create_container(container.id, PartitionKey(path="/pk"))
    assert again.read()["_rid"] != old
    stale = rest.get(paths.doc("1"), x_ms_cosmos_intended_collection_rid=old, **key_header("a"))
    assert (stale.status, stale.sub_status) == (400, 1024)
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", "a")  # the SDK refreshes by itself, and the item is gone
    again.create_item({"id": "1", "pk": "a"})
    assert container.read_item("1", "a")["id"] == "1"


def test_quota_and_index_progress_on_request(container):
    headers = {}
    container.read(
        populate_quota_info=True, response_hook=lambda sent, _: headers.update(sent)
    )
    headers = {name.lower(): value for name, value in headers.items()}
    assert "documentsCount=" in headers["x-ms-resource-usage"]
    assert headers["x-ms-resource-quota"].endswith(";")
    assert headers["x-ms-documentdb-collection-index-transformation-progress"] == "100"


def test_partition_statistics_on_request(container):
    container.create_item({"id": "1", "pk": "a"})
    statistics = container.read(populate_partition_key_range_statistics=True)["statistics"]
    assert [each["id"] for each in statistics] == ["0"]
    assert statistics[0]["documentCount"] == 1
    assert "statistics" not in container.read()


def test_conflicts_feed_is_empty(container):
    assert list(container.list_conflicts()) == []
    with pytest.raises(CosmosHttpResponseError) as absent:
        container.get_conflict("nothing", partition_key="a")
    assert absent.value.status_code == 404


def test_unknown_properties_are_echoed(rest, database):
    body = created(rest, database, somethingNew={"a": 1})
    assert body["somethingNew"] == {"a": 1}


def test_list_pages(database, make_container):
    made = {make_container().id for _ in range(5)}
    pages = [list(page) for page in database.list_containers(max_item_count=2).by_page()]
    assert all(len(page) <= 2 for page in pages)
    assert made <= {each["id"] for page in pages for each in page}
