"""The process: start, stop, restart, and what a data folder protects itself from (R1).

Each test starts servers of its own, on ports of its own, over folders of its own.
"""

import os
import re
import signal
import socket
import ssl
import subprocess
import time
import urllib.request

import pytest
from azure.cosmos import CosmosClient, PartitionKey

from conftest import required
from rest import Rest, key_header

READY_SECONDS_MAX = 20
A = key_header("a")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, folder, *arguments, port=None):
        self.port = port or free_port()
        self.process = subprocess.Popen(
            [required("TESELA_BINARY"), "serve", "--port", str(self.port), "--data", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.printed = []

    def wait_ready(self):
        """Reads what it prints up to the line that says `ready`; False when it ends before that."""
        for line in self.process.stdout:
            self.printed.append(line)
            if re.search(r"\bready\b", line):
                return True
        self.process.wait(READY_SECONDS_MAX)
        return False

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def rest(self):
        return Rest(self.endpoint, required("TESELA_KEY"))

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(READY_SECONDS_MAX)


@pytest.fixture
def serve(tmp_path):
    running = []

    def start(*arguments, folder=tmp_path / "data", ready=True, port=None):
        server = Server(folder, *arguments, port=port)
        running.append(server)
        if ready:
            assert server.wait_ready(), "".join(server.printed)
        return server

    yield start
    for server in running:
        server.process.kill()
        server.process.wait()
        server.process.stdout.close()


def seed(server):
    client = CosmosClient(server.endpoint, required("TESELA_KEY"))
    database = client.create_database("d", offer_throughput=500)
    container = database.create_container("c", PartitionKey(path="/pk"), default_ttl=1000)
    return container, [container.create_item({"id": str(n), "pk": "a", "n": n}) for n in range(20)]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_everything_is_there_after_a_restart(serve, how):
    server = serve()
    container, items = seed(server)
    properties = container.read()
    container.delete_item("0", "a")
    code = server.stop(how)
    if how != signal.SIGKILL:
        assert code == 0
    again = serve(port=server.port)
    client = CosmosClient(again.endpoint, required("TESELA_KEY"))
    found = client.get_database_client("d").get_container_client("c")
    assert found.read() == properties
    assert list(found.read_all_items()) == items[1:]
    assert client.get_database_client("d").get_throughput().offer_throughput == 500
    newest = found.create_item({"id": "new", "pk": "a"})
    assert newest["_rid"] not in {item["_rid"] for item in items}


def test_versions_go_on_after_a_restart(serve):
    """LSNs never go back and ETags never come twice."""
    server = serve()
    seed(server)
    docs = "/dbs/d/colls/c/docs"
    before = server.rest().put(f"{docs}/1", {"id": "1", "pk": "a"}, **A)
    server.stop(signal.SIGKILL)
    after = serve(port=server.port).rest().put(f"{docs}/1", {"id": "1", "pk": "a"}, **A)
    assert int(after.headers["lsn"]) == int(before.headers["lsn"]) + 1
    assert after.headers["etag"] != before.headers["etag"]


def test_continuation_outlives_the_process(serve):
    server = serve()
    seed(server)
    docs = "/dbs/d/colls/c/docs"
    first = server.rest().get(docs, x_ms_max_item_count="5")
    token = first.headers["x-ms-continuation"]
    server.stop()
    second = serve(port=server.port).rest().get(docs, x_ms_max_item_count="5", x_ms_continuation=token)
    assert [item["id"] for item in second.json()["Documents"]] == ["5", "6", "7", "8", "9"]


def test_start_tells_how_to_connect(serve):
    server = serve()
    server.stop()
    text = "".join(server.printed) + server.process.stdout.read()
    assert str(server.port) in text
    found = re.search(r"AccountEndpoint=(\S+?);AccountKey=([^;\s]+)", text)
    assert found, text
    assert found.group(2) == required("TESELA_KEY")


def test_one_process_per_folder(serve):
    first = serve()
    second = serve(ready=False)
    assert not second.wait_ready()
    assert second.process.returncode not in (0, None)
    assert re.search(r"lock|in use|used by|another", "".join(second.printed), re.I)
    assert first.rest().get("/").status == 200


def test_damaged_folder_is_refused_with_a_message(serve, tmp_path):
    folder = tmp_path / "data"
    server = serve()
    seed(server)
    server.stop()
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_size and path.suffix not in (".pem", ".lock"):
            with open(path, "r+b") as file:
                file.write(os.urandom(min(path.stat().st_size, 4096)))
    broken = serve(ready=False)
    assert not broken.wait_ready()
    assert broken.process.returncode not in (0, None)
    text = "".join(broken.printed)
    assert text.strip() and "panicked" not in text


def test_files_of_others_in_the_folder_are_left_alone(serve, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear reader")
    server = serve(ready=False)
    if server.wait_ready():
        seed(server)
        server.stop()
    assert (folder / "letter.txt").read_text() == "dear reader"


def test_default_key_stays_on_loopback(serve):
    open_to_all = serve("--host", "0.0.0.0", ready=False)
    assert not open_to_all.wait_ready()
    assert re.search(r"default key|well-known key|allow-default-key", "".join(open_to_all.printed), re.I)
    allowed = serve("--host", "0.0.0.0", "--allow-default-key", port=open_to_all.port)
    assert allowed.rest().get("/").status == 200


def test_busy_port_is_said(serve, tmp_path):
    first = serve()
    second = serve(folder=tmp_path / "other", ready=False, port=first.port)
    assert not second.wait_ready()
    assert re.search(r"address|port|in use", "".join(second.printed), re.I)


def test_health(serve):
    server = serve()
    with urllib.request.urlopen(f"{server.endpoint}/_tesela/health", timeout=5) as answer:
        assert answer.status == 200


def test_certificate_is_handed_out_and_kept(serve):
    """What `GET /_explorer/emulator.pem` gives is what TLS shows, now and after a restart."""
    server = serve()

    def fetch(where):
        with urllib.request.urlopen(f"{where.endpoint}/_explorer/emulator.pem", timeout=5) as answer:
            return answer.read().decode()

    pem = fetch(server)
    assert pem.startswith("-----BEGIN CERTIFICATE-----")
    shown = ssl.get_server_certificate(("127.0.0.1", server.port))
    assert ssl.PEM_cert_to_DER_cert(pem) == ssl.PEM_cert_to_DER_cert(shown)
    trusting = ssl.create_default_context(cadata=pem)
    for name in ("localhost", "127.0.0.1"):
        with urllib.request.urlopen(f"https://{name}:{server.port}/_tesela/health", context=trusting, timeout=5) as answer:
            assert answer.status == 200
    server.stop()
    assert fetch(serve(port=server.port)) == pem


def test_requests_under_way_are_finished_before_the_end(serve):
    server = serve()
    seed(server)
    docs = "/dbs/d/colls/c/docs"
    rest = server.rest()
    headers = {**rest.signed_headers("POST", docs), "x-ms-documentdb-partitionkey": '["a"]'}
    body = b'{"id":"late","pk":"a"}'
    connection = rest.connection()
    connection.putrequest("POST", docs)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.putheader("content-length", str(len(body)))
    connection.endheaders()
    connection.send(body[:5])
    time.sleep(0.3)
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    connection.send(body[5:])
    assert connection.getresponse().status == 201
    assert server.process.wait(READY_SECONDS_MAX) == 0
    assert serve(port=server.port).rest().get(f"{docs}/late", **A).status == 200


def test_idle_connections_do_not_hold_up_the_end(serve):
    server = serve()
    idle = socket.create_connection(("127.0.0.1", server.port))
    begun = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - begun < 10
    idle.close()


def test_ephemeral_leaves_nothing_behind(serve, tmp_path):
    server = serve("--ephemeral", folder=tmp_path / "none")
    seed(server)
    server.stop()
    again = serve("--ephemeral", folder=tmp_path / "none", port=server.port)
    assert again.rest().get("/dbs").json()["_count"] == 0
