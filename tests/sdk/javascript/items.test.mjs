// Items (R1, R3, R5, R6).

import assert from "node:assert/strict";
import { test } from "node:test";
import { own, ownDatabase, refused } from "./border.mjs";

const world = await ownDatabase("items");

test("life of an item", async () => {
  const container = await world.container();
  const created = await container.items.create({ id: "1", pk: "a", n: 1 });
  assert.equal(created.statusCode, 201);
  const item = container.item("1", "a");
  assert.deepEqual((await item.read()).resource, created.resource);
  assert.equal((await item.replace({ id: "1", pk: "a", n: 2 })).resource.n, 2);
  assert.equal((await container.items.upsert({ id: "1", pk: "a", n: 3 })).statusCode, 200);
  assert.equal((await container.items.upsert({ id: "2", pk: "a" })).statusCode, 201);
  assert.equal((await item.delete()).statusCode, 204);
  const missing = await item.read();
  assert.equal(missing.statusCode, 404);
  assert.equal(missing.resource, undefined);
});

test("ids are unique inside a logical partition", async () => {
  const container = await world.container();
  await container.items.create({ id: "1", pk: "a" });
  await container.items.create({ id: "1", pk: "b" });
  const error = await refused(container.items.create({ id: "1", pk: "a" }), 409);
  assert.ok(error.message.length > 0);
});

test("the SDK makes ids", async () => {
  const container = await world.container();
  const { resource } = await container.items.create({ pk: "a" });
  assert.match(resource.id, /^[0-9a-f-]{36}$/);
});

test("any JSON comes back as it was", async () => {
  const container = await world.container();
  const item = {
    id: "ünï 数 😀",
    pk: "a",
    nothing: null,
    deep: { list: [1, -0.5, 1e21, "\u2028", { "": [] }] },
    __proto: "x",
    big: Number.MAX_SAFE_INTEGER,
  };
  await container.items.create(item);
  const { resource } = await container.item(item.id, "a").read();
  assert.deepEqual(own(resource), item);
});

test("wrong bodies", async () => {
  const container = await world.container();
  await refused(container.items.create({ id: "1", pk: "a", ttl: 0 }), 400);
  await refused(container.items.create({ id: "big", pk: "a", fill: "x".repeat(2 * 1024 * 1024) }), 413);
});

test("missing container", async () => {
  const absent = world.database.container("absent");
  await refused(absent.items.create({ id: "1", pk: "a" }), 404);
});

test("every answer has a charge, an activity and a session", async () => {
  const container = await world.container();
  const created = await container.items.create({ id: "1", pk: "a" });
  const read = await container.item("1", "a").read();
  for (const answer of [created, read]) {
    assert.ok(answer.requestCharge > 0);
    assert.match(answer.activityId, /^[0-9a-f-]{36}$/);
    assert.match(answer.headers["x-ms-session-token"], /^0:-?\d+#\d+$/);
    assert.equal(answer.etag, answer.resource._etag);
  }
});
