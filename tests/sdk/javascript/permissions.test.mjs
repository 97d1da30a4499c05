// Users, permissions, resource tokens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CosmosClient } from "@azure/cosmos";
import { endpoint, ownDatabase, refused, unique } from "./border.mjs";

const world = await ownDatabase("permissions");

test("a token opens one container, for reading", async () => {
  const container = await world.container();
  await container.items.create({ id: "1", pk: "a" });
  const { user } = await world.database.users.create({ id: unique("u") });
  const { resource: permission } = await user.permissions.create({
    id: "read",
    permissionMode: "Read",
    resource: container.url,
  });
  const holder = new CosmosClient({ endpoint, resourceTokens: { [container.url]: permission._token } });
  const mirror = holder.database(world.database.id).container(container.id);
  assert.equal((await mirror.item("1", "a").read()).statusCode, 200);
  await refused(mirror.items.create({ id: "2", pk: "a" }), 403);
  const other = await world.container();
  await assert.rejects(holder.database(world.database.id).container(other.id).items.create({ id: "1", pk: "a" }));
});

/// A user with one permission, and the container as seen by who holds its token.
async function holding(container, permission) {
  const { user } = await world.database.users.create({ id: unique("u") });
  const { resource } = await user.permissions.create({ id: unique("p"), ...permission });
  const holder = new CosmosClient({ endpoint, permissionFeed: [resource] });
  return { user, resource, mirror: holder.database(world.database.id).container(container.id) };
}

test("a list of permissions is as good as a map of tokens", async () => {
  const container = await world.container();
  const { mirror } = await holding(container, { permissionMode: "All", resource: container.url });
  await mirror.items.create({ id: "1", pk: "a" });
  const { resources } = await mirror.items.query("SELECT * FROM c").fetchAll();
  assert.deepEqual(resources.map((item) => item.id), ["1"]);
  assert.equal((await mirror.item("1", "a").delete()).statusCode, 204);
});

test("a permission for one key keeps to it", async () => {
  const container = await world.container();
  for (const pk of ["a", "b"]) await container.items.create({ id: "1", pk });
  const { mirror } = await holding(container, {
    permissionMode: "All",
    resource: container.url,
    resourcePartitionKey: ["a"],
  });
  const inKey = (partitionKey) => mirror.items.query("SELECT * FROM c", { partitionKey }).fetchAll();
  assert.deepEqual((await inKey("a")).resources.map((item) => item.pk), ["a"]);
  await refused(inKey("b"), 403);
  assert.equal((await mirror.items.batch([{ operationType: "Create", resourceBody: { id: "2", pk: "a" } }], "a")).code, 200);
  // The SDK keeps the status of a refused batch to itself.
  const elsewhere = mirror.items.batch([{ operationType: "Create", resourceBody: { id: "2", pk: "b" } }], "b");
  await assert.rejects(elsewhere, /does not cover the request/);
  await refused(mirror.items.readAll().fetchAll(), 403);
});

test("a token ends with its permission", async () => {
  const container = await world.container();
  await container.items.create({ id: "1", pk: "a" });
  const { user, resource, mirror } = await holding(container, { permissionMode: "Read", resource: container.url });
  assert.equal((await mirror.item("1", "a").read()).statusCode, 200);
  await user.permission(resource.id).delete();
  await refused(mirror.item("1", "a").read(), 403);
});
