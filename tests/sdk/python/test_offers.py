"""Throughput: manual or autoscale, found through offers, replaced by PUT (R14)."""

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.exceptions import CosmosHttpResponseError

from conftest import unique


def offers_of(rest, container):
    link = container.read()["_self"]
    response = rest.query(
        "/offers", "SELECT * FROM root r WHERE r.resource=@link", [{"name": "@link", "value": link}]
    )
    assert response.status == 200, response.body
    return response.json()["Offers"]


def offer_of(rest, container):
    (offer,) = offers_of(rest, container)
    return offer


def test_default_is_400_manual(make_container):
    assert make_container().get_throughput().offer_throughput == 400


def test_manual_is_created_read_and_replaced(make_container):
    container = make_container(offer_throughput=700)
    assert container.get_throughput().offer_throughput == 700
    assert container.replace_throughput(900).offer_throughput == 900
    assert container.get_throughput().offer_throughput == 900


def test_autoscale_is_created_read_and_replaced(make_container):
    settings = ThroughputProperties(auto_scale_max_throughput=5000, auto_scale_increment_percent=42)
    container = make_container(offer_throughput=settings)
    read = container.get_throughput()
    assert read.auto_scale_max_throughput == 5000
    assert read.auto_scale_increment_percent == 42
    assert read.properties["content"]["offerThroughput"] == 500, "a tenth of the maximum"
    container.replace_throughput(ThroughputProperties(auto_scale_max_throughput=7000))
    assert container.get_throughput().auto_scale_max_throughput == 7000


def test_resource_shape(rest, make_container):
    container = make_container(offer_throughput=600)
    resource = container.read()
    offer = offer_of(rest, container)
    assert offer["id"] == offer["_rid"] and len(offer["id"]) == 4
    assert offer["_self"] == f"offers/{offer['_rid']}/"
    assert offer["resource"] == resource["_self"]
    assert offer["offerResourceId"] == resource["_rid"]
    assert offer["offerVersion"] == "V2"
    assert offer["content"]["offerThroughput"] == 600
    assert offer["_etag"] and isinstance(offer["_ts"], int)


@pytest.mark.parametrize(
    "text",
    [
        'SELECT * from root where root.resource = "{self}"',
        "SELECT * FROM c WHERE c.offerResourceId = '{rid}'",
        "select * from root r where r.offerResourceId= @target",
    ],
    ids=["javascript", "go", ".NET"],
)
def test_found_by_the_query_of_each_sdk(rest, container, text):
    resource = container.read()
    query = text.format(self=resource["_self"], rid=resource["_rid"])
    found = rest.query("/offers", query, [{"name": "@target", "value": resource["_rid"]}])
    assert [each["offerResourceId"] for each in found.json()["Offers"]] == [resource["_rid"]]


def test_read_list_and_replace_by_rid(rest, make_container):
    container = make_container(offer_throughput=400)
    offer = offer_of(rest, container)
    read = rest.get(f"/offers/{offer['_rid']}")
    assert read.status == 200 and read.json() == offer
    assert int(read.headers["x-ms-cosmos-min-throughput"]) == 400
    assert offer["_rid"] in [each["_rid"] for each in rest.get("/offers").json()["Offers"]]
    offer["content"]["offerThroughput"] = 800
    replaced = rest.put(f"/offers/{offer['_rid']}", offer)
    assert replaced.status == 200
    assert replaced.json()["content"]["offerThroughput"] == 800
    assert replaced.json()["_etag"] != offer["_etag"]
    assert container.get_throughput().offer_throughput == 800


def test_replace_with_a_stale_etag(rest, container):
    offer = offer_of(rest, container)
    offer["content"]["offerThroughput"] = 500
    assert rest.put(f"/offers/{offer['_rid']}", offer, if_match='"stale"').status == 412


@pytest.mark.parametrize("throughput", [399, 450, 0, -200, 1_000_100], ids=str)
def test_impossible_manual_throughput(rest, database, container, throughput):
    body = {"id": unique("c"), "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}
    created = rest.post(f"/dbs/{database.id}/colls", body, x_ms_offer_throughput=str(throughput))
    assert created.status == 400
    with pytest.raises(CosmosHttpResponseError) as refused:
        container.replace_throughput(throughput)
    assert refused.value.status_code == 400
    assert container.get_throughput().offer_throughput == 400


@pytest.mark.parametrize("maximum", [-200, 0, 900, 1500], ids=str)
def test_impossible_autoscale_throughput(database, maximum):
    with pytest.raises(CosmosHttpResponseError) as refused:
        database.create_container(
            unique("c"),
            PartitionKey(path="/pk"),
            offer_throughput=ThroughputProperties(auto_scale_max_throughput=maximum),
        )
    assert refused.value.status_code == 400
    if maximum < 1000:
        expected = f"Requested throughput {maximum} is less than required minimum throughput 1000"
        assert expected in refused.value.message


@pytest.mark.parametrize("header", ["not-json", "[]", '{"maxThroughput":"much"}'])
def test_malformed_autoscale_header(rest, database, header):
    body = {"id": unique("c"), "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}
    response = rest.post(
        f"/dbs/{database.id}/colls", body, x_ms_cosmos_offer_autopilot_settings=header
    )
    assert response.status == 400


def test_kind_changes_only_with_the_migration_header(rest, container):
    offer = offer_of(rest, container)
    path = f"/offers/{offer['_rid']}"
    offer["content"] = {"offerAutopilotSettings": {"maxThroughput": 4000}}
    assert rest.put(path, offer).status == 400
    migrated = rest.put(path, offer, x_ms_cosmos_migrate_offer_to_autopilot="true")
    assert migrated.status == 200
    assert migrated.json()["content"]["offerAutopilotSettings"]["maxThroughput"] == 4000


def test_containers_of_a_shared_database_have_no_offer_of_their_own(client, rest):
    database = client.create_database(unique("py-shared"), offer_throughput=1000)
    try:
        container = database.create_container("c", PartitionKey(path="/pk"))
        assert offers_of(rest, container) == []
        assert database.get_throughput().offer_throughput == 1000
        dedicated = database.create_container("own", PartitionKey(path="/pk"), offer_throughput=400)
        assert dedicated.get_throughput().offer_throughput == 400
    finally:
        client.delete_database(database.id)


def test_if_not_exists_never_changes_an_offer(database, make_container):
    container = make_container(offer_throughput=700)
    database.create_container_if_not_exists(container.id, PartitionKey(path="/pk"), offer_throughput=900)
    assert container.get_throughput().offer_throughput == 700


def test_offer_goes_with_its_container(rest, database, make_container):
    container = make_container()
    rid = offer_of(rest, container)["_rid"]
    database.delete_container(container.id)
    assert rest.get(f"/offers/{rid}").status == 404


def test_missing_offer(rest):
    assert rest.get("/offers/AAAA").status == 404
