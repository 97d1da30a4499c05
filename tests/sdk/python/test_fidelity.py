"""What was stored comes back: property order, number text, every kind of text."""

import json

import pytest

from rest import key_header

A = key_header("a")


def stored_text(rest, paths, fragment):
    """Stores `{"id":"1","pk":"a","v":<fragment>}` as text and returns the text of v that is read."""
    body = f'{{"id":"1","pk":"a","v":{fragment}}}'.encode()
    created = rest.post(paths.docs, body, **A)
    assert created.status == 201, created.body
    read = rest.get(paths.doc("1"), **A).body.decode()
    assert created.body.decode() == read
    start = read.index('"v":') + 4
    _, end = json.JSONDecoder().raw_decode(read, start)
    return read[start:end]


NUMBERS = [
    "0", "-0", "0.0", "-0.0", "1", "-1", "1.0", "1.10", "1e2", "1E+2", "1e-7", "0.1", "123456789.123456789",
    "9007199254740993", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
    "1.7976931348623157e308", "5e-324", "3.14159265358979323846264338327950288",
]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_keep_their_spelling(rest, paths, text):
    assert stored_text(rest, paths, text) == text


def test_properties_keep_their_order(rest, paths):
    names = ["zebra", "alpha", "Alpha", "10", "9", "_under", "", "éclair", "a b"]
    body = json.dumps({"id": "1", **{name: {"b": 1, "a": 2} for name in names}, "pk": "a"}, ensure_ascii=False)
    rest.post(paths.docs, body.encode(), **A)
    read = json.loads(rest.get(paths.doc("1"), **A).body, object_pairs_hook=list)
    own = [name for name, _ in read if name not in ("_rid", "_self", "_etag", "_ts", "_attachments")]
    assert own == ["id", *names, "pk"]
    assert all(value == [("b", 1), ("a", 2)] for name, value in read if name in names)


def test_order_survives_replace_and_patch(rest, paths):
    rest.post(paths.docs, b'{"z":1,"id":"1","pk":"a","b":2}', **A)
    rest.put(paths.doc("1"), b'{"y":1.50,"id":"1","x":2,"pk":"a"}', **A)
    rest.patch(paths.doc("1"), [{"op": "set", "path": "/new", "value": 1}, {"op": "set", "path": "/x", "value": 3}], **A)
    text = rest.get(paths.doc("1"), **A).body.decode()
    own = [name for name in json.loads(text) if not name.startswith("_")]
    assert own == ["y", "id", "x", "pk", "new"]
    assert '"y":1.50' in text


TEXTS = {
    "escapes": '"\\" \\\\ \\/ \\b \\f \\n \\r \\t"',
    "unicode escape": '"\\u00e9\\u4e2d"',
    "surrogate pair": '"\\ud83d\\ude00"',
    "raw unicode": '"é中😀"',
    "separators": '"\u2028\u2029\u0085"',
    "control by escape": '"\\u0001\\u001f"',
    "escaped NUL": '"\\u0000"',
    "delete and beyond": '"\x7f\ufffd\uffff"',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_texts_keep_their_meaning(rest, paths, text):
    assert json.loads(stored_text(rest, paths, text)) == json.loads(text)


@pytest.mark.parametrize("text", ["[]", "{}", "[[[]]]", '[{},null,true,false,""]', '{"a":{"b":{"c":[1,[2,[3]]]}}}'])
def test_structures_keep_their_shape(rest, paths, text):
    assert stored_text(rest, paths, text) == text


def test_whitespace_is_not_kept(rest, paths):
    rest.post(paths.docs, b' {\r\n "id" : "1" ,\t"pk":"a", "v" : [ 1 , 2 ] }\n', **A)
    assert b'"v":[1,2]' in rest.get(paths.doc("1"), **A).body


def test_feed_returns_the_same_bytes_as_the_read(rest, paths):
    rest.post(paths.docs, b'{"z":1.0,"id":"1","pk":"a","v":1e2}', **A)
    one = rest.get(paths.doc("1"), **A).body
    assert one in rest.get(paths.docs).body
