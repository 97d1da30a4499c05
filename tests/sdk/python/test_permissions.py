"""Users, permissions and resource tokens."""

import json
import urllib.parse

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceExistsError, CosmosResourceNotFoundError

from conftest import required, unique
from rest import Rest


@pytest.fixture
def user(database):
    return database.create_user({"id": unique("u")})


def permit(user, resource, mode="All", **extra):
    return user.create_permission(
        {"id": unique("p"), "permissionMode": mode, "resource": resource, **extra}
    ).properties


def link_of(container):
    return container.container_link


@pytest.fixture
def as_holder(endpoint, database):
    """A client that has nothing but one permission, on the same container."""

    def client(permission, container):
        scoped = CosmosClient(endpoint, {permission["resource"]: permission["_token"]})
        return scoped.get_database_client(database.id).get_container_client(container.id)

    return client


def forbidden(call):
    with pytest.raises(CosmosHttpResponseError) as refused:
        call()
    assert refused.value.status_code == 403


def test_life_of_a_user(database):
    name = unique("u")
    user = database.create_user({"id": name})
    properties = user.read()
    assert properties["id"] == name and properties["_permissions"] == "permissions/"
    with pytest.raises(CosmosResourceExistsError):
        database.create_user({"id": name})
    assert name in [each["id"] for each in database.list_users()]
    renamed = unique("v")
    database.replace_user(name, {"id": renamed})
    assert database.get_user_client(renamed).read()["id"] == renamed
    database.delete_user(renamed)
    with pytest.raises(CosmosResourceNotFoundError):
        database.get_user_client(renamed).read()


def test_life_of_a_permission(user, container):
    made = permit(user, link_of(container), "Read")
    assert made["_token"].startswith("type=resource&ver=1")
    assert user.get_permission(made["id"]).permission_mode == "Read"
    assert [each["id"] for each in user.list_permissions()] == [made["id"]]
    user.replace_permission(made["id"], {"id": made["id"], "permissionMode": "All", "resource": link_of(container)})
    assert user.get_permission(made["id"]).permission_mode == "All"
    user.delete_permission(made["id"])
    with pytest.raises(CosmosResourceNotFoundError):
        user.get_permission(made["id"])


def test_one_permission_per_resource_and_user(user, container):
    permit(user, link_of(container))
    with pytest.raises(CosmosResourceExistsError):
        permit(user, link_of(container), "Read")


def test_read_token_reads_and_never_writes(user, container, as_holder):
    container.create_item({"id": "1", "pk": "a"})
    reader = as_holder(permit(user, link_of(container), "Read"), container)
    assert reader.read_item("1", "a")["id"] == "1"
    forbidden(lambda: reader.create_item({"id": "2", "pk": "a"}))
    forbidden(lambda: reader.delete_item("1", "a"))


def test_all_token_writes(user, container, as_holder):
    writer = as_holder(permit(user, link_of(container)), container)
    writer.create_item({"id": "1", "pk": "a"})
    writer.delete_item("1", "a")


def test_token_of_another_container(user, container, make_container, as_holder):
    permission = permit(user, link_of(container))
    other = make_container()
    other.create_item({"id": "1", "pk": "a"})
    stolen = dict(permission, resource=link_of(other))
    forbidden(lambda: as_holder(stolen, other).read_item("1", "a"))


def test_token_of_one_partition_key(user, container, as_holder):
    for pk in ("a", "b"):
        container.create_item({"id": "1", "pk": pk})
    holder = as_holder(permit(user, link_of(container), resourcePartitionKey=["a"]), container)
    assert holder.read_item("1", "a")["pk"] == "a"
    forbidden(lambda: holder.read_item("1", "b"))
    forbidden(lambda: holder.create_item({"id": "2", "pk": "b"}))


def test_permission_dies_with_its_user(database, user, container, as_holder):
    container.create_item({"id": "1", "pk": "a"})
    reader = as_holder(permit(user, link_of(container), "Read"), container)
    assert reader.read_item("1", "a")
    database.delete_user(user.id)
    with pytest.raises(CosmosHttpResponseError) as refused:
        reader.read_item("1", "a")
    assert refused.value.status_code in (401, 403)


def test_forged_token(user, container, as_holder):
    permission = permit(user, link_of(container))
    forged = dict(permission, _token=permission["_token"][:-6] + "AAAA;;")
    with pytest.raises(CosmosHttpResponseError) as refused:
        as_holder(forged, container).read_item("1", "a")
    assert refused.value.status_code in (401, 403)


@pytest.mark.parametrize("mode", ["Write", "", 5])
def test_unknown_modes(rest, database, user, container, mode):
    answer = rest.post(
        f"/dbs/{database.id}/users/{user.id}/permissions",
        {"id": "p", "permissionMode": mode, "resource": link_of(container)},
    )
    assert answer.status == 400


def test_tokens_never_reach_the_control_plane(endpoint, user, container):
    permission = permit(user, link_of(container))
    scoped = CosmosClient(endpoint, {permission["resource"]: permission["_token"]})
    with pytest.raises(CosmosHttpResponseError):
        scoped.create_database(unique("stolen"))


def test_every_look_at_a_permission_brings_a_fresh_token(rest, database, user, container):
    made = permit(user, link_of(container), "Read")
    path = f"/dbs/{database.id}/users/{user.id}/permissions"
    queried = rest.query(path, "SELECT * FROM p WHERE p.id = @id", [{"name": "@id", "value": made["id"]}])
    shown = [made, rest.get(f"{path}/{made['id']}").json(), *rest.get(path).json()["Permissions"]]
    shown += queried.json()["Permissions"]
    tokens = {each["_token"] for each in shown}
    assert len(shown) == 4 and len(tokens) == 4
    for token in tokens:
        assert under(rest, token, "GET", f"/{link_of(container)}").status == 200


@pytest.mark.parametrize("seconds, status", [(599, 400), (600, 200), (86400, 200), (86401, 400), ("soon", 400), (-1, 400)])
def test_life_of_a_token(rest, database, user, container, seconds, status):
    made = permit(user, link_of(container), "Read")
    path = f"/dbs/{database.id}/users/{user.id}/permissions/{made['id']}"
    assert rest.get(path, x_ms_documentdb_expiry_seconds=str(seconds)).status == status


@pytest.mark.parametrize("link", ["dbs/d", "dbs/d/colls", "dbs/d/colls/c/docs", "dbs/d/users/u", "offers/x", "junk", "dbs/d/colls/c/pkranges/0"])
def test_permissions_are_on_containers_items_and_scripts(rest, database, user, link):
    body = {"id": unique("p"), "permissionMode": "Read", "resource": link}
    assert rest.post(f"/dbs/{database.id}/users/{user.id}/permissions", body).status == 400


def test_a_changed_permission_has_other_tokens(user, container, as_holder):
    container.create_item({"id": "1", "pk": "a"})
    made = permit(user, link_of(container))
    holder = as_holder(made, container)
    assert holder.read_item("1", "a")
    user.replace_permission(made["id"], {"id": made["id"], "permissionMode": "Read", "resource": link_of(container)})
    forbidden(lambda: holder.read_item("1", "a"))
    assert as_holder(user.get_permission(made["id"]).properties, container).read_item("1", "a")


@pytest.mark.parametrize("by_rid", [True, False])
def test_token_of_one_item(user, container, as_holder, by_rid):
    made = container.create_item({"id": "1", "pk": "a"})
    container.create_item({"id": "2", "pk": "a"})
    link = made["_self"] if by_rid else f"{link_of(container)}/docs/1"
    permission = dict(permit(user, link), resource=f"{link_of(container)}/docs/1")
    holder = as_holder(permission, container)
    assert holder.read_item("1", "a")["id"] == "1"
    holder.replace_item("1", {"id": "1", "pk": "a", "n": 1})
    forbidden(lambda: holder.read_item("2", "a"))
    forbidden(lambda: holder.create_item({"id": "3", "pk": "a"}))
    forbidden(lambda: list(holder.query_items("SELECT * FROM c", partition_key="a")))
    holder.delete_item("1", "a")


def test_queries_and_feeds_keep_to_the_key(user, container, as_holder):
    for pk in ("a", "b"):
        container.create_item({"id": "1", "pk": pk})
    holder = as_holder(permit(user, link_of(container), "Read", resourcePartitionKey=["a"]), container)
    assert [item["pk"] for item in holder.query_items("SELECT * FROM c", partition_key="a")] == ["a"]
    forbidden(lambda: list(holder.query_items("SELECT * FROM c", partition_key="b")))
    forbidden(lambda: list(holder.query_items("SELECT * FROM c", enable_cross_partition_query=True)))
    forbidden(lambda: list(holder.read_all_items()))


def test_a_resource_id_does_not_lead_around_the_key(rest, user, container):
    own, other = (container.create_item({"id": "1", "pk": pk}) for pk in ("a", "b"))
    token = permit(user, link_of(container), resourcePartitionKey=["a"])["_token"]
    key = {"x-ms-documentdb-partitionkey": '["a"]'}
    assert under(rest, token, "GET", "/" + own["_self"], **key).status == 200
    for method in ("GET", "DELETE"):
        assert under(rest, token, method, "/" + other["_self"], **key).status == 403
    assert len(list(container.read_all_items())) == 2


def test_a_bulk_request_does_not_lead_around_the_key(rest, user, container):
    token = permit(user, link_of(container), resourcePartitionKey=["a"])["_token"]
    operations = [{"operationType": "Create", "partitionKey": '["b"]', "resourceBody": {"id": "1", "pk": "b"}}]
    marked = {"x-ms-cosmos-is-batch-request": "True", "x-ms-documentdb-partitionkey": '["a"]'}
    assert under(rest, token, "POST", f"/{link_of(container)}/docs", operations, **marked).status == 403
    assert list(container.read_all_items()) == []


def test_unusual_names(user, database, as_holder, make_container):
    from azure.cosmos import PartitionKey

    container = database.create_container(unique("a b%20é"), PartitionKey(path="/pk"))
    container.create_item({"id": "50%", "pk": "a"})
    assert as_holder(permit(user, link_of(container), "Read"), container).read_item("50%", "a")


def test_read_only_keys_do_not_see_permissions(endpoint, rest, database, user, container):
    permit(user, link_of(container))
    reader = Rest(endpoint, required("TESELA_READ_ONLY_KEY"))
    path = f"/dbs/{database.id}/users/{user.id}"
    assert reader.get(path).status == 200
    assert reader.get(f"{path}/permissions").status == 403


def under(rest, token, method, path, body=None, **headers):
    """A request that shows a token instead of a signature."""
    shown = {"authorization": urllib.parse.quote(token, safe=""), **headers}
    return rest.request(method, path, body, headers=shown)


# What a token allows, over the wire: container (Read, All), key "a" (Read, All), item "i" (Read, All), procedure "s"
# (Read, All), another container (All). `+` is anything but 401 and 403.
MATRIX = """
GET    /                             -       -   ++ ++ ++ ++ +
GET    /{c}                          -       -   ++ ++ ++ ++ .
GET    /{c}/pkranges                 -       -   ++ ++ ++ ++ .
GET    /{c}/docs/i                   -       a   ++ ++ ++ .. .
GET    /{c}/docs/i                   -       b   ++ .. ++ .. .
GET    /{c}/docs/j                   -       a   ++ ++ .. .. .
GET    /{c}/docs                     -       -   ++ .. .. .. .
GET    /{c}/docs                     -       a   ++ ++ .. .. .
GET    /{c}/docs                     changes -   ++ .. .. .. .
GET    /{c}/docs                     changes a   ++ ++ .. .. .
POST   /{c}/docs                     query   -   ++ .. .. .. .
POST   /{c}/docs                     query   a   ++ ++ .. .. .
POST   /{c}/docs                     query   b   ++ .. .. .. .
POST   /{c}/docs                     plan    -   ++ ++ .. .. .
GET    /{c}/conflicts                -       -   ++ .. .. .. .
GET    /{c}/sprocs                   -       -   ++ .. .. .. .
GET    /{c}/sprocs/s                 -       -   ++ .. .. ++ .
PUT    /{c}/docs/i                   -       a   .+ .+ .+ .. .
PATCH  /{c}/docs/i                   -       a   .+ .+ .+ .. .
POST   /{c}/docs                     -       a   .+ .+ .. .. .
POST   /{c}/docs                     -       b   .+ .. .. .. .
POST   /{c}/docs                     batch   a   .+ .+ .. .. .
POST   /{c}/docs                     batch   b   .+ .. .. .. .
POST   /{c}/docs                     bulk    a   .+ .. .. .. .
POST   /{c}/sprocs/s                 -       a   .+ .+ .. .+ .
POST   /{c}/sprocs/s                 query   b   .+ .. .. .+ .
POST   /{c}/udfs                     -       -   .+ .. .. .. .
POST   /{c}/operations/partitionkeydelete query z .+ .. .. .. .
PUT    /{c}                          -       -   .. .. .. .. .
DELETE /{c}                          -       -   .. .. .. .. .
GET    /{d}                          -       -   .. .. .. .. .
GET    /{d}/colls                    -       -   .. .. .. .. .
POST   /{d}/colls                    query   -   .. .. .. .. .
POST   /{d}/colls                    -       -   .. .. .. .. .
GET    /{d}/users                    -       -   .. .. .. .. .
GET    /{d}/users/{u}/permissions    -       -   .. .. .. .. .
POST   /{d}/users/{u}/permissions    -       -   .. .. .. .. .
GET    /dbs                          -       -   .. .. .. .. .
POST   /dbs                          -       -   .. .. .. .. .
GET    /offers                       -       -   .. .. .. .. .
GET    /_tesela/partitions           -       -   .. .. .. .. .
"""

MARKERS = {
    "-": {},
    "query": {"x-ms-documentdb-isquery": "True", "content-type": "application/query+json"},
    "plan": {"x-ms-cosmos-is-query-plan-request": "True", "x-ms-documentdb-isquery": "True"},
    "batch": {"x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True"},
    "bulk": {"x-ms-cosmos-is-batch-request": "True"},
    "changes": {"a-im": "Incremental Feed"},
}


def rows():
    return [line.split(None, 4) for line in MATRIX.strip().splitlines()]


def headers_of(marker, key):
    return {**MARKERS[marker], **({} if key == "-" else {"x-ms-documentdb-partitionkey": json.dumps([key])})}


def test_matrix(rest, database, make_container):
    container, other = make_container(), make_container()
    for item_id in ("i", "j"):
        container.create_item({"id": item_id, "pk": "a"})
    container.scripts.create_stored_procedure({"id": "s", "body": "function () {}"})
    user = database.create_user({"id": unique("u")})
    c = link_of(container)
    tokens = []
    for resource, modes, extra in [
        (c, ("Read", "All"), {}),
        (c, ("Read", "All"), {"resourcePartitionKey": ["a"]}),
        (f"{c}/docs/i", ("Read", "All"), {}),
        (f"{c}/sprocs/s", ("Read", "All"), {}),
        (link_of(other), ("All",), {}),
    ]:
        for mode in modes:
            # One permission on a resource for each user.
            holder = database.create_user({"id": unique("u")})
            tokens.append(permit(holder, resource, mode, **extra)["_token"])
    names = {"c": c, "d": f"dbs/{database.id}", "u": user.id}
    for method, path, marker, key, wanted in rows():
        url, headers = path.format(**names), headers_of(marker, key)
        found = ""
        for token in tokens:
            # No body is what any of them expects, so what is let in changes nothing.
            status = under(rest, token, method, url, b"" if method in ("POST", "PUT", "PATCH") else None, **headers).status
            found += "." if status in (401, 403) else "+"
        assert found == wanted.replace(" ", ""), f"{method} {path} {marker} {key}"


def test_nothing_without_a_credential(rest, database, container):
    container.create_item({"id": "i", "pk": "a", "secret": "s3cr3t"})
    names = {"c": link_of(container), "d": f"dbs/{database.id}", "u": "u"}
    for method, path, marker, key, _ in rows():
        for shown in (None, "", "type=resource&ver=1&sig=AAAA;BBBB;", "type%3Daad%26ver%3D1.0%26sig%3Da.b.c", "Bearer x"):
            headers = {"authorization": shown, **headers_of(marker, key)}
            answer = rest.request(method, path.format(**names), headers=headers)
            assert answer.status == 401 and b"s3cr3t" not in answer.body, f"{method} {path} {shown}"
