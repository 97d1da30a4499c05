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
