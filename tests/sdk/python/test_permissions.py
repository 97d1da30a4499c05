"""Users, permissions and resource tokens."""

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceExistsError, CosmosResourceNotFoundError

from conftest import unique


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
