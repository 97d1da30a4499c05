// Databases (R1).

import assert from "node:assert/strict";
import { test } from "node:test";
import { client, refused, unique } from "./border.mjs";

test("create, read, list, query, delete", async () => {
  const id = unique("js-db");
  const { database, statusCode, resource } = await client.databases.create({ id });
  assert.equal(statusCode, 201);
  assert.deepEqual(Object.keys(resource).sort(), ["_colls", "_etag", "_rid", "_self", "_ts", "_users", "id"]);
  assert.equal((await database.read()).resource.id, id);
  const all = await client.databases.readAll().fetchAll();
  assert.ok(all.resources.some((each) => each.id === id));
  const found = await client.databases
    .query({ query: "SELECT * FROM root r WHERE r.id = @id", parameters: [{ name: "@id", value: id }] })
    .fetchAll();
  assert.deepEqual(found.resources.map((each) => each.id), [id]);
  await refused(client.databases.create({ id }), 409);
  assert.equal((await database.delete()).statusCode, 204);
  await refused(database.read(), 404);
});

test("create if not exists says which it was", async () => {
  const id = unique("js-db");
  try {
    assert.equal((await client.databases.createIfNotExists({ id })).statusCode, 201);
    assert.equal((await client.databases.createIfNotExists({ id })).statusCode, 200);
  } finally {
    await client.database(id).delete();
  }
});

test("throughput of a database", async () => {
  const id = unique("js-db");
  const { database } = await client.databases.create({ id, throughput: 600 });
  try {
    const { resource: offer } = await database.readOffer();
    assert.equal(offer.content.offerThroughput, 600);
    assert.equal(offer.offerResourceId, (await database.read()).resource._rid);
  } finally {
    await database.delete();
  }
});

for (const id of ["with space", "ünï 数据"]) {
  test(`a database called ${id}`, async () => {
    const { database } = await client.databases.create({ id: unique(id) });
    assert.ok((await database.read()).resource.id.startsWith(id));
    await database.delete();
  });
}
