// Batch and bulk (R16, R17).

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownDatabase } from "./border.mjs";

const world = await ownDatabase("batch");

test("a batch succeeds as one", async () => {
  const container = await world.container();
  const { code, result } = await container.items.batch(
    [
      { operationType: "Create", resourceBody: { id: "1", pk: "a" } },
      { operationType: "Upsert", resourceBody: { id: "2", pk: "a", n: 1 } },
      { operationType: "Patch", id: "2", resourceBody: { operations: [{ op: "incr", path: "/n", value: 1 }] } },
      { operationType: "Read", id: "2" },
      { operationType: "Delete", id: "1" },
    ],
    "a",
  );
  assert.equal(code, 200);
  assert.deepEqual(result.map((each) => each.statusCode), [201, 201, 200, 200, 204]);
  assert.equal(result[3].resourceBody.n, 2);
});

test("a batch fails as one", async () => {
  const container = await world.container();
  await container.items.create({ id: "taken", pk: "a" });
  const { code, result } = await container.items.batch(
    [
      { operationType: "Create", resourceBody: { id: "1", pk: "a" } },
      { operationType: "Create", resourceBody: { id: "taken", pk: "a" } },
    ],
    "a",
  );
  assert.equal(code, 207);
  assert.deepEqual(result.map((each) => each.statusCode), [424, 409]);
  assert.equal((await container.item("1", "a").read()).statusCode, 404);
});

test("bulk operations stand alone, over several partitions", async () => {
  const container = await world.container({ throughput: 11000 });
  const operations = Array.from({ length: 120 }, (_, n) => ({
    operationType: "Create",
    partitionKey: `p${n}`,
    resourceBody: { id: `${n}`, pk: `p${n}` },
  }));
  const results = await container.items.executeBulkOperations(operations);
  assert.equal(results.length, 120);
  assert.ok(results.every((each) => each.response?.statusCode === 201), JSON.stringify(results.find((each) => each.error)));
  const again = await container.items.executeBulkOperations(operations.slice(0, 3));
  assert.ok(again.every((each) => each.error?.code === 409));
});
