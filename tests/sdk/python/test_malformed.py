"""Malformed requests: what a broken or hostile client sends. The answer is a clean refusal, the
server goes on, and nothing was stored."""

import gzip
import json
import socket
import struct
import urllib.parse

import pytest

from rest import key_header

A = key_header("a")


@pytest.fixture
def raw(endpoint):
    """Sends bytes, returns (status, header bytes, body) of the first answer, or None if hung up on."""
    address = urllib.parse.urlparse(endpoint)

    def send(*chunks, half_close=False, timeout=20):
        with socket.create_connection((address.hostname, address.port), timeout=timeout) as connection:
            try:
                for chunk in chunks:
                    connection.sendall(chunk)
                if half_close:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before all of it was read: the answer may still be there
            return read_answer(connection)

    return send


def read_answer(connection):
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            chunk = connection.recv(65536)
            if not chunk:
                return None
            data += chunk
    except ConnectionResetError:
        return None
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    return status, head, body


@pytest.fixture(autouse=True)
def nothing_breaks(rest, paths):
    """After every test: the server answers, and the container is as empty as it was."""
    yield
    answer = rest.get(paths.docs)
    assert answer.status == 200
    assert answer.json()["_count"] == 0


BAD_JSON = {
    "empty": b"",
    "blank": b"   ",
    "truncated": b'{"id":"1","pk":"a"',
    "trailing comma": b'{"id":"1","pk":"a",}',
    "single quotes": b"{'id':'1','pk':'a'}",
    "bare word": b"{id:1}",
    "comment": b'{"id":"1","pk":"a"}//',
    "two values": b'{"id":"1","pk":"a"}{"id":"2","pk":"a"}',
    "unclosed text": b'{"id":"1","pk":"a","v":"abc}',
    "raw newline in text": b'{"id":"1","pk":"a","v":"a\nb"}',
    "raw NUL": b'{"id":"1","pk":"a","v":"a\x00b"}',
    "NUL after": b'{"id":"1","pk":"a"}\x00',
    "bad escape": b'{"id":"1","pk":"a","v":"\\x41"}',
    "short unicode escape": b'{"id":"1","pk":"a","v":"\\u00g1"}',
    "lone high surrogate": b'{"id":"1","pk":"a","v":"\\ud800"}',
    "lone low surrogate": b'{"id":"1","pk":"a","v":"\\udc00x"}',
    "swapped surrogates": b'{"id":"1","pk":"a","v":"\\ude00\\ud83d"}',
    "surrogate in a name": b'{"id":"1","pk":"a","\\ud800":1}',
    "invalid UTF-8": b'{"id":"1","pk":"a","v":"\xff\xfe"}',
    "overlong UTF-8": b'{"id":"1","pk":"a","v":"\xc0\xaf"}',
    "surrogate in UTF-8": b'{"id":"1","pk":"a","v":"\xed\xa0\x80"}',
    "UTF-16": '{"id":"1","pk":"a"}'.encode("utf-16"),
    "NaN": b'{"id":"1","pk":"a","v":NaN}',
    "Infinity": b'{"id":"1","pk":"a","v":-Infinity}',
    "hexadecimal": b'{"id":"1","pk":"a","v":0x10}',
    "leading zero": b'{"id":"1","pk":"a","v":01}',
    "leading plus": b'{"id":"1","pk":"a","v":+1}',
    "bare point": b'{"id":"1","pk":"a","v":1.}',
    "bare exponent": b'{"id":"1","pk":"a","v":1e}',
    "array": b"[]",
    "text": b'"text"',
    "number": b"5",
    "null": b"null",
    "deep arrays": b'{"id":"1","pk":"a","v":' + b"[" * 200_000,
    "deep objects": b'{"id":"1","pk":"a","v":' + b'{"a":' * 200_000,
    "binary marker alone": b"\x80",
    "binary truncated": b"\x80\xea\xff\xff\xff\x7f",
    "binary unknown type": b"\x80\xfd\xfd\xfd",
    "binary endless nesting": b"\x80" + b"\xe2" * 100_000,
}


@pytest.mark.parametrize("body", BAD_JSON.values(), ids=BAD_JSON.keys())
def test_bad_bodies(rest, paths, body):
    answer = rest.request(
        "POST",
        paths.docs,
        body,
        headers={"content-type": "application/json", "x-ms-documentdb-partitionkey": '["a"]'},
    )
    assert answer.status == 400, answer.body
    assert answer.json()["code"] == "BadRequest" and answer.json()["message"]


@pytest.mark.parametrize("body", [b"{", b"[1]", b"null", b'{"id":}', b"\x80\xff"], ids=repr)
@pytest.mark.parametrize("verb, path", [("POST", "/dbs"), ("POST", "{db}/colls"), ("PUT", "{coll}"), ("PUT", "{coll}/docs/1"), ("PATCH", "{coll}/docs/1")])
def test_bad_bodies_elsewhere(rest, paths, verb, path, body):
    full = path.format(db=paths.database_path, coll=paths.container_path)
    answer = rest.request(verb, full, body, headers={"x-ms-documentdb-partitionkey": '["a"]'})
    assert answer.status in (400, 404)
    assert answer.json()["message"]


HUGE = {
    "beyond double": (b"1e400", None),
    "beyond double, negative": (b"-1e400", None),
    "many digits": (b"1" * 400, None),
    "tiny": (b"1e-400", 0.0),
    "long fraction": (b"0." + b"1" * 5000, 0.1111111111111111),
}


@pytest.mark.parametrize("text, meaning", HUGE.values(), ids=HUGE.keys())
def test_numbers_no_double_can_hold(rest, paths, text, meaning):
    """Refused, or kept as written; never turned into something that is not JSON."""
    answer = rest.post(paths.docs, b'{"id":"1","pk":"a","v":' + text + b"}", **A)
    assert answer.status in (201, 400)
    if answer.status == 201:
        read = json.loads(rest.get(paths.doc("1"), **A).body, parse_constant=pytest.fail)
        if meaning is not None:
            assert read["v"] == pytest.approx(meaning)
        assert rest.delete(paths.doc("1"), **A).status == 204


def test_duplicate_properties_keep_the_last(rest, paths):
    answer = rest.post(paths.docs, b'{"id":"1","v":1,"pk":"a","v":{"x":1,"x":2}}', **A)
    assert answer.status == 201
    assert answer.json()["v"] == {"x": 2}
    assert answer.body.count(b'"v"') == 1
    rest.delete(paths.doc("1"), **A)


def test_byte_order_mark(rest, paths):
    answer = rest.post(paths.docs, b'\xef\xbb\xbf{"id":"1","pk":"a"}', **A)
    assert answer.status in (201, 400)
    if answer.status == 201:
        rest.delete(paths.doc("1"), **A)


def head_of(rest, method, path, **headers):
    lines = [f"{method} {path} HTTP/1.1", f"host: {rest.host}:{rest.port}"]
    sent = {**rest.signed_headers(method, path), "x-ms-documentdb-partitionkey": '["a"]', **headers}
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in sent.items() if value is not None]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


BODY = b'{"id":"1","pk":"a"}'


def test_body_shorter_than_said(rest, paths, raw):
    head = head_of(rest, "POST", paths.docs, content_length=str(len(BODY) + 10))
    answer = raw(head, BODY, half_close=True)
    assert answer is None or answer[0] in (400, 408)


def test_body_longer_than_said(rest, paths, raw):
    """What is left over is the next request, and no good one."""
    head = head_of(rest, "POST", paths.docs, content_length=str(len(BODY) - 5))
    answer = raw(head, BODY, half_close=True)
    assert answer is not None and answer[0] == 400


@pytest.mark.parametrize("length", ["-1", "abc", "1e3", "18446744073709551616", "5, 6"])
def test_impossible_lengths(rest, paths, raw, length):
    answer = raw(head_of(rest, "POST", paths.docs, content_length=length), BODY, half_close=True)
    assert answer is None or answer[0] == 400


def test_two_lengths(rest, paths, raw):
    head = head_of(rest, "POST", paths.docs, content_length=str(len(BODY)))
    head = head[:-2] + b"content-length: 3\r\n\r\n"
    answer = raw(head, BODY, half_close=True)
    assert answer is None or answer[0] == 400


def test_length_and_chunks_together(rest, paths, raw):
    """Request smuggling: the two must not be read differently by two readers."""
    head = head_of(rest, "POST", paths.docs, content_length="3", transfer_encoding="chunked")
    answer = raw(head, b"0\r\n\r\n", half_close=True)
    assert answer is None or answer[0] == 400


def test_promised_body_far_over_the_limit(rest, paths, raw):
    """Refused by its length, before a byte of it is read."""
    answer = raw(head_of(rest, "POST", paths.docs, content_length=str(10**12)))
    assert answer is not None and answer[0] == 413


def test_chunked_body(rest, paths, raw):
    head = head_of(rest, "POST", paths.docs, transfer_encoding="chunked")
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (BODY[:7], BODY[7:]))
    answer = raw(head, chunks + b"0\r\n\r\n")
    assert answer is not None and answer[0] == 201
    rest.delete(paths.doc("1"), **A)


@pytest.mark.parametrize("chunks", [b"zz\r\nabc\r\n0\r\n\r\n", b"5\r\nab\r\n", b"ffffffffffffffffff\r\n"], ids=repr)
def test_broken_chunks(rest, paths, raw, chunks):
    answer = raw(head_of(rest, "POST", paths.docs, transfer_encoding="chunked"), chunks, half_close=True)
    assert answer is None or answer[0] in (400, 408)


def test_endless_chunked_body(rest, paths, raw):
    head = head_of(rest, "POST", paths.docs, transfer_encoding="chunked")
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    answer = raw(head, *[piece] * 4000)  # 256 MB, if anybody reads that far
    assert answer is None or answer[0] == 413


GARBAGE = {
    "words": b"hello there\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "HTTP/0.9": b"GET / HTTP/0.9\r\n\r\n",
    "HTTP/9.9": b"GET / HTTP/9.9\r\nhost: x\r\n\r\n",
    "header without colon": b"GET / HTTP/1.1\r\nhost localhost\r\n\r\n",
    "NUL in a header": b"GET / HTTP/1.1\r\nhost: a\x00b\r\n\r\n",
    "control character in a header": b"GET / HTTP/1.1\r\nhost: x\r\nx-ms-continuation: \x01\r\n\r\n",
    "bare zero bytes": b"\x00" * 64,
    "broken TLS hello": b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
    "TLS of absurd length": b"\x16\x03\x01" + struct.pack(">H", 0xFFFF) + b"\x01" * 100,
    "broken HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    "HTTP/2 preface then junk": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 64,
    "space in the path": b"GET /a b HTTP/1.1\r\nhost: x\r\n\r\n",
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_on_the_wire(raw, data):
    with_timeout = raw(data, half_close=True)
    assert with_timeout is None or with_timeout[0] >= 400 or data.startswith((b"\x16", b"PRI"))


def test_connection_closed_in_the_middle_of_headers(rest, paths, raw):
    head = head_of(rest, "GET", paths.docs)
    answer = raw(head[: len(head) // 2], half_close=True)
    assert answer is None or answer[0] in (400, 408)


@pytest.mark.parametrize("method", ["HEAD", "TRACE", "CONNECT", "PROPFIND", "FOO", "get"])
def test_unknown_methods(rest, paths, method):
    answer = rest.request(method, paths.docs)
    assert 400 <= answer.status < 500


@pytest.mark.parametrize(
    "verb, path",
    [("DELETE", "/"), ("PUT", "/dbs"), ("PATCH", "/dbs"), ("DELETE", "/offers"), ("POST", "{coll}/docs/1"), ("PATCH", "{coll}"), ("PUT", "{coll}/docs")],
)
def test_methods_that_do_not_fit_the_path(rest, paths, verb, path):
    answer = rest.request(verb, path.format(coll=paths.container_path), {"id": "1", "pk": "a"})
    assert answer.status == 405
    assert answer.json()["message"]


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/dbs/a/nothing", "/dbs/a/nothing/b", "/dbs/a/colls/b/nothing", "/dbs/a/colls/b/docs/c/d/e/f", "/dbs//colls", "/dbs/%zz", "/dbs/%00", "/dbs/%ff", "/dbs/..%2f..%2fetc", "/favicon.ico"],
)
def test_unknown_paths(rest, path):
    answer = rest.get(path)
    assert answer.status in (400, 401, 404, 405)
    assert answer.json()["message"]


HEADERS = {
    "x-ms-max-item-count": ["", "x", "99999999999999999999", "-5"],
    "x-ms-continuation": ["x" * 5000],
    "x-ms-documentdb-partitionkeyrangeid": ["", "-1", "abc", "0,1"],
    "x-ms-session-token": ["0:", "::::", "0:1#2#3", "0:-1#99999999999999999999999"],
    "x-ms-start-epk": ["zz", "0", "-"],
    "x-ms-consistency-level": ["", "strongest"],
}


@pytest.mark.parametrize("name, value", [(n, v) for n, values in HEADERS.items() for v in values])
def test_bad_header_values(rest, paths, name, value):
    extra = {"x-ms-end-epk": "FF", "x-ms-read-key-type": "EffectivePartitionKeyRange"} if "epk" in name else {}
    answer = rest.request("GET", paths.docs, headers={name: value, **extra})
    assert answer.status in (200, 400, 404, 410)
    if answer.status >= 400:
        assert answer.json()["message"]


@pytest.mark.parametrize("version", ["", "2012-01-01", "9999-99-99", "latest"])
def test_other_api_versions(rest, paths, version):
    assert rest.request("GET", paths.docs, headers={"x-ms-version": version}).status in (200, 400)


def test_gzip_body_is_not_mistaken_for_json(rest, paths):
    answer = rest.request(
        "POST", paths.docs, gzip.compress(BODY), headers={"content-encoding": "gzip", "x-ms-documentdb-partitionkey": '["a"]'}
    )
    assert answer.status in (400, 415)


def test_many_requests_on_one_connection_after_an_error(rest, paths):
    """A refused request with a read body leaves the connection usable."""
    connection = rest.connection()
    for n in range(20):
        body = b"{bad" if n % 2 else json.dumps({"id": f"{n}", "pk": "a"}).encode()
        headers = rest.signed_headers("POST", paths.docs)
        headers["x-ms-documentdb-partitionkey"] = '["a"]'
        connection.request("POST", paths.docs, body=body, headers=headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == (400 if n % 2 else 201)
    connection.close()
    for n in range(0, 20, 2):
        assert rest.delete(paths.doc(str(n)), **A).status == 204


def test_pipelined_requests_are_answered_in_order(rest, paths, endpoint):
    address = urllib.parse.urlparse(endpoint)
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        wanted = head_of(rest, "GET", paths.docs) + head_of(rest, "GET", "/nothing") + head_of(rest, "GET", paths.docs, connection="close")
        connection.sendall(wanted)
        data = b""
        while chunk := connection.recv(65536):
            data += chunk
    statuses = [int(part.split(b" ", 1)[0]) for part in data.split(b"HTTP/1.1 ")[1:]]
    assert statuses[0] == statuses[2] == 200 and 400 <= statuses[1] < 500


def test_half_open_connections_do_not_starve_others(rest, paths, endpoint):
    address = urllib.parse.urlparse(endpoint)
    idle = [socket.create_connection((address.hostname, address.port)) for _ in range(100)]
    try:
        for connection in idle:
            connection.sendall(b"POST /dbs HTTP/1.1\r\n")
        assert rest.get(paths.docs).status == 200
    finally:
        for connection in idle:
            connection.close()


def test_wrong_types_everywhere(rest, paths):
    """Properties the server reads, each with a value of the wrong kind."""
    for value in (1, True, None, [], {}, "x"):
        for path, body in (
            (f"{paths.database_path}/colls", {"id": "w", "partitionKey": value}),
            (f"{paths.database_path}/colls", {"id": "w", "partitionKey": {"paths": value}}),
            (f"{paths.database_path}/colls", {"id": "w", "partitionKey": {"paths": ["/a"]}, "indexingPolicy": [value]}),
            (f"{paths.database_path}/colls", {"id": "w", "partitionKey": {"paths": ["/a"]}, "uniqueKeyPolicy": [value]}),
        ):
            assert rest.post(path, body).status == 400, (path, body)
        answer = rest.patch(paths.doc("1"), value, **A)
        assert answer.status in (400, 404)
        query = rest.query(paths.docs, value, x_ms_documentdb_query_enablecrosspartition="True")
        assert query.status in ((200, 400) if isinstance(value, str) else (400,))
