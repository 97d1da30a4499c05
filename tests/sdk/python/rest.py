"""A signed REST client of a page, for what the SDK hides: raw bodies, raw headers, exact statuses.

The signature text is built from the path alone, the way the service builds it, so a test may send
anything else about a request wrong without having to re-sign it by hand.
"""

import base64
import email.utils
import hashlib
import hmac
import http.client
import json
import ssl
import time
import urllib.parse
from dataclasses import dataclass

VERSION = "2020-07-15"
RESOURCE_TYPES_BY_RID = {"offers"}


@dataclass
class Response:
    status: int
    headers: dict
    body: bytes

    @property
    def sub_status(self):
        return int(self.headers.get("x-ms-substatus", 0))

    def json(self):
        return json.loads(self.body)


def is_database_rid(segment):
    """Eight characters that are base64 of four bytes: the path is addressed by resource ids."""
    if len(segment) != 8:
        return False
    try:
        return len(base64.b64decode(segment.replace("-", "/"), validate=True)) == 4
    except ValueError:
        return False


def resource_of(path):
    """(resource type, resource link) that a request path is signed with."""
    segments = [urllib.parse.unquote(s) for s in path.split("?")[0].strip("/").split("/") if s]
    if not segments:
        return "", ""
    if segments[-1] == "partitionkeydelete":
        segments = segments[:-2]
        return "colls", "/".join(segments)
    by_rid = segments[0] in RESOURCE_TYPES_BY_RID or (len(segments) > 1 and is_database_rid(segments[1]))
    feed = len(segments) % 2 == 1
    resource_type = segments[-1] if feed else segments[-2]
    owner = segments[:-1] if feed else segments
    if by_rid:
        return resource_type, owner[-1].lower() if owner else ""
    return resource_type, "/".join(owner)


def sign(key, method, path, date):
    resource_type, link = resource_of(path)
    text = f"{method.lower()}\n{resource_type.lower()}\n{link}\n{date.lower()}\n\n"
    digest = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    token = f"type=master&ver=1.0&sig={base64.b64encode(digest).decode()}"
    return urllib.parse.quote(token, safe="")


def date_at(offset_seconds=0.0):
    return email.utils.formatdate(time.time() + offset_seconds, usegmt=True)


class Rest:
    def __init__(self, endpoint, key):
        parsed = urllib.parse.urlparse(endpoint)
        self.host, self.port = parsed.hostname, parsed.port
        self.tls = parsed.scheme == "https"
        self.key = key

    def connection(self):
        if self.tls:
            # A certificate the server made for itself: nobody could vouch for it.
            unverified = ssl._create_unverified_context()
            return http.client.HTTPSConnection(self.host, self.port, timeout=30, context=unverified)
        return http.client.HTTPConnection(self.host, self.port, timeout=30)

    def signed_headers(self, method, path, date=None):
        date = date or date_at()
        return {
            "authorization": sign(self.key, method, path, date),
            "x-ms-date": date,
            "x-ms-version": VERSION,
            "accept": "application/json",
        }

    def request(self, method, path, body=None, headers=None, date=None):
        """`body`: bytes as they are, anything else as JSON. A header of None is left out."""
        sent = self.signed_headers(method, path, date)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent["content-type"] = "application/json"
        sent.update(headers or {})
        sent = {name: value for name, value in sent.items() if value is not None}
        connection = self.connection()
        try:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            return Response(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.request("GET", path, headers=_dashed(headers))

    def post(self, path, body, **headers):
        return self.request("POST", path, body, headers=_dashed(headers))

    def put(self, path, body, **headers):
        return self.request("PUT", path, body, headers=_dashed(headers))

    def delete(self, path, **headers):
        return self.request("DELETE", path, headers=_dashed(headers))

    def patch(self, path, body, **headers):
        return self.request("PATCH", path, body, headers=_dashed(headers))

    def query(self, path, text, parameters=(), **headers):
        spec = {"query": text, "parameters": list(parameters)}
        marked = {
            "content-type": "application/query+json",
            "x-ms-documentdb-isquery": "True",
            **_dashed(headers),
        }
        return self.request("POST", path, spec, headers=marked)


def _dashed(headers):
    return {name.replace("_", "-"): value for name, value in headers.items()}


def key_header(*components):
    """The partition key header for these components; `{}` stands for a missing value."""
    return {"x_ms_documentdb_partitionkey": json.dumps(list(components))}
