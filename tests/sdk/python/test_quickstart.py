"""The quick-start program runs as it stands, over HTTP and over TLS, given an endpoint and a key."""

import subprocess
import sys
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient

QUICKSTART = Path(__file__).with_name("quickstart.py")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_quickstart(scheme, endpoint, https_endpoint, key):
    where = endpoint if scheme == "http" else https_endpoint
    ran = subprocess.run([sys.executable, str(QUICKSTART), where, key], capture_output=True, text=True, timeout=50)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "upserted aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb",
        "read Yamba Surfboard 850.0",
        "found ['Yamba Surfboard']",
        "deleted",
        "done",
    ]


def test_connection_string(endpoint, key):
    """What the server prints at start can be pasted."""
    client = CosmosClient.from_connection_string(f"AccountEndpoint={endpoint}/;AccountKey={key};")
    assert client.get_database_account().WritableLocations
