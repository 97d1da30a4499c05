// Partition key values (R4), hierarchical keys (R2).

import assert from "node:assert/strict";
import { test } from "node:test";
import { PartitionKeyBuilder } from "@azure/cosmos";
import { ownDatabase, refused } from "./border.mjs";

const world = await ownDatabase("partition-keys");

const values = ["text", "", "数据 😀", 'q"\\', 0, -1.5, 9007199254740993, true, false, null];

for (const version of [1, 2]) {
  test(`every kind of value, v${version}`, async () => {
    const container = await world.container({ partitionKey: { paths: ["/pk"], version } });
    for (const [n, value] of values.entries()) {
      await container.items.create({ id: `${n}`, pk: value });
      const { resource, statusCode } = await container.item(`${n}`, value).read();
      assert.equal(statusCode, 200, JSON.stringify(value));
      assert.equal(resource.pk, value);
    }
    const { resources } = await container.items.readAll().fetchAll();
    assert.equal(resources.length, values.length);
  });
}

test("a missing value is a partition of its own", async () => {
  const container = await world.container();
  await container.items.create({ id: "1" });
  assert.equal((await container.item("1", undefined).read()).statusCode, 200);
  assert.equal((await container.item("1", null).read()).statusCode, 404);
});

test("hierarchical keys", async () => {
  const container = await world.container({
    partitionKey: { paths: ["/a", "/b", "/c"], kind: "MultiHash", version: 2 },
  });
  await container.items.create({ id: "1", a: "x", b: 2, c: true });
  const key = new PartitionKeyBuilder().addValue("x").addValue(2).addValue(true).build();
  assert.equal((await container.item("1", key).read()).statusCode, 200);
  assert.equal((await container.item("1", ["x", 2, true]).delete()).statusCode, 204);
  await refused(container.item("1", ["x"]).delete(), 400, 1001);
});
