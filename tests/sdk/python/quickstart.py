"""The quick start of azure-cosmos, written as a newcomer would: only the endpoint and the key are set.

    python quickstart.py ENDPOINT KEY
"""

import sys
import uuid

from azure.cosmos import CosmosClient, PartitionKey, exceptions

endpoint, key = sys.argv[1:3]

client = CosmosClient(endpoint, key)
database = client.create_database_if_not_exists(id=f"cosmicworks-{uuid.uuid4().hex[:8]}")
try:
    products = database.create_container_if_not_exists(
        id="products", partition_key=PartitionKey(path="/category"), offer_throughput=400
    )

    surfboard = {
        "id": "aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb",
        "category": "gear-surf-surfboards",
        "name": "Yamba Surfboard",
        "quantity": 12,
        "price": 850.00,
        "clearance": False,
    }
    created = products.upsert_item(surfboard)
    print("upserted", created["id"])

    read = products.read_item(item=surfboard["id"], partition_key="gear-surf-surfboards")
    print("read", read["name"], read["price"])

    found = products.query_items(
        query="SELECT * FROM products p WHERE p.category = @category",
        parameters=[{"name": "@category", "value": "gear-surf-surfboards"}],
        partition_key="gear-surf-surfboards",
    )
    print("found", [item["name"] for item in found])

    read["quantity"] = 9
    products.replace_item(item=read, body=read)
    products.delete_item(item=read, partition_key="gear-surf-surfboards")
    try:
        products.read_item(item=surfboard["id"], partition_key="gear-surf-surfboards")
    except exceptions.CosmosResourceNotFoundError:
        print("deleted")
finally:
    client.delete_database(database)
print("done")
