"""Where the server is, and databases of one's own on it.

Every test module gets a database with a name nobody else has, and every test that asks for
`container` an empty container in it, so modules run side by side and leave nothing behind.
"""

import os
import uuid

import pytest
from azure.cosmos import CosmosClient, PartitionKey

from rest import Rest


def required(name):
    value = os.environ.get(name)
    if not value:
        pytest.exit(f"{name} is not set: run these tests with `cargo xtask sdk`", returncode=2)
    return value


@pytest.fixture(scope="session")
def endpoint():
    return required("TESELA_ENDPOINT")


@pytest.fixture(scope="session")
def https_endpoint():
    return required("TESELA_HTTPS_ENDPOINT")


@pytest.fixture(scope="session")
def key():
    return required("TESELA_KEY")


@pytest.fixture(scope="session")
def client(endpoint, key):
    return CosmosClient(endpoint, key)


@pytest.fixture(scope="session")
def rest(endpoint, key):
    return Rest(endpoint, key)


def unique(prefix):
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def database(request, client):
    area = request.module.__name__.removeprefix("test_").replace("_", "-")
    database = client.create_database(unique(f"py-{area}"))
    yield database
    client.delete_database(database.id)


@pytest.fixture
def make_container(database):
    """Creates containers; key path `/pk` unless told otherwise. The database's end is theirs."""

    def make(partition_key=None, **properties):
        partition_key = partition_key or PartitionKey(path="/pk")
        return database.create_container(unique("c"), partition_key=partition_key, **properties)

    return make


@pytest.fixture
def container(make_container):
    return make_container()


@pytest.fixture
def paths(database, container):
    """URL paths of the test's container."""

    class Paths:
        database_path = f"/dbs/{database.id}"
        container_path = f"/dbs/{database.id}/colls/{container.id}"
        docs = f"/dbs/{database.id}/colls/{container.id}/docs"

        def doc(self, item_id):
            return f"{self.docs}/{item_id}"

    return Paths()
