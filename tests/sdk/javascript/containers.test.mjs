// Containers (R1, R2, R6).

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownDatabase, refused, unique } from "./border.mjs";

const world = await ownDatabase("containers");

test("create, read, list, query, delete", async () => {
  const container = await world.container();
  const { resource } = await container.read();
  assert.equal(resource.id, container.id);
  assert.deepEqual(resource.indexingPolicy, {
    indexingMode: "consistent",
    automatic: true,
    includedPaths: [{ path: "/*" }],
    excludedPaths: [{ path: '/"_etag"/?' }],
  });
  const all = await world.database.containers.readAll().fetchAll();
  assert.ok(all.resources.some((each) => each.id === container.id));
  const found = await world.database.containers
    .query({ query: "SELECT * FROM root r WHERE r.id = @id", parameters: [{ name: "@id", value: container.id }] })
    .fetchAll();
  assert.equal(found.resources.length, 1);
  await refused(world.database.containers.create({ id: container.id, partitionKey: "/pk" }), 409);
  assert.equal((await container.delete()).statusCode, 204);
  await refused(container.read(), 404);
});

test("a key given as text makes a v1 container, and stays one", async () => {
  const { container } = await world.database.containers.create({ id: unique("v1"), partitionKey: "/pk" });
  const { resource } = await container.read();
  assert.deepEqual(resource.partitionKey, { paths: ["/pk"], kind: "Hash" });
  await container.items.create({ id: "1", pk: "a".repeat(50) });
  assert.equal((await container.item("1", "a".repeat(50)).read()).statusCode, 200);
});

test("hierarchical keys", async () => {
  const container = await world.container({
    partitionKey: { paths: ["/tenant", "/user", "/session"], kind: "MultiHash", version: 2 },
  });
  const { resource } = await container.read();
  assert.equal(resource.partitionKey.kind, "MultiHash");
  assert.equal(resource.partitionKey.paths.length, 3);
});

test("properties are kept", async () => {
  const sent = {
    defaultTtl: 60,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] },
    computedProperties: [{ name: "cp", query: "SELECT VALUE LOWER(c.name) FROM c" }],
    changeFeedPolicy: { retentionDuration: 10 },
    geospatialConfig: { type: "Geography" },
  };
  const { resource } = await (await world.container(sent)).read();
  for (const [name, value] of Object.entries(sent)) {
    assert.deepEqual(resource[name], value, name);
  }
});

test("replace changes the policy and never the key", async () => {
  const container = await world.container();
  const { resource } = await container.read();
  const { resource: replaced } = await container.replace({ ...resource, defaultTtl: 120 });
  assert.equal(replaced.defaultTtl, 120);
  await refused(container.replace({ ...resource, partitionKey: { paths: ["/other"], kind: "Hash", version: 2 } }), 400);
});

test("bad definitions are refused", async () => {
  for (const wrong of [{ defaultTtl: 0 }, { indexingPolicy: { indexingMode: "eager" } }, { id: "a".repeat(256) }]) {
    await refused(world.container(wrong), 400);
  }
});

test("create if not exists", async () => {
  const definition = { id: unique("c"), partitionKey: { paths: ["/pk"], version: 2 } };
  assert.equal((await world.database.containers.createIfNotExists(definition)).statusCode, 201);
  assert.equal((await world.database.containers.createIfNotExists(definition)).statusCode, 200);
});
