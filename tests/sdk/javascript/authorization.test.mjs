// Keys: primary, secondary, read-only, wrong.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CosmosClient } from "@azure/cosmos";
import { endpoint, ownDatabase, refused, required, unique } from "./border.mjs";

const world = await ownDatabase("authorization");
const as = (key) => new CosmosClient({ endpoint, key });

test("a wrong key is refused everywhere", async () => {
  const stranger = as(Buffer.alloc(64, 1).toString("base64"));
  await refused(stranger.databases.create({ id: unique("stranger") }), 401);
  await refused(stranger.database(world.database.id).read(), 401);
});

test("the secondary key is as good", async () => {
  const secondary = as(required("TESELA_SECONDARY_KEY"));
  assert.equal((await secondary.database(world.database.id).read()).statusCode, 200);
});

test("a read-only key reads and never writes", async () => {
  const container = await world.container();
  await container.items.create({ id: "1", pk: "a" });
  const mirror = as(required("TESELA_READ_ONLY_KEY")).database(world.database.id).container(container.id);
  assert.equal((await mirror.item("1", "a").read()).statusCode, 200);
  await refused(mirror.items.create({ id: "2", pk: "a" }), 403);
  await refused(mirror.item("1", "a").delete(), 403);
});
