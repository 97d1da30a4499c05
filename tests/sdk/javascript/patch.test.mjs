// Patch: the JavaScript SDK sends a bare list and no content type.

import assert from "node:assert/strict";
import { test } from "node:test";
import { own, ownDatabase, refused } from "./border.mjs";

const world = await ownDatabase("patch");

test("operations in order", async () => {
  const container = await world.container();
  await container.items.create({ id: "1", pk: "a", n: 1, list: [1], old: true });
  const { resource } = await container.item("1", "a").patch([
    { op: "add", path: "/list/-", value: 2 },
    { op: "set", path: "/new", value: { x: 1 } },
    { op: "replace", path: "/n", value: 5 },
    { op: "incr", path: "/n", value: 2.5 },
    { op: "remove", path: "/old" },
    { op: "move", from: "/new", path: "/moved" },
  ]);
  assert.deepEqual(own(resource), { id: "1", pk: "a", n: 7.5, list: [1, 2], moved: { x: 1 } });
});

test("with a condition", async () => {
  const container = await world.container();
  await container.items.create({ id: "1", pk: "a", n: 1 });
  const item = container.item("1", "a");
  const operations = [{ op: "incr", path: "/n", value: 1 }];
  assert.equal((await item.patch({ condition: "from c where c.n = 1", operations })).resource.n, 2);
  await refused(item.patch({ condition: "from c where c.n = 1", operations }), 412);
});

test("refused patches change nothing", async () => {
  const container = await world.container();
  const { resource } = await container.items.create({ id: "1", pk: "a", n: "text" });
  const item = container.item("1", "a");
  for (const operation of [
    { op: "incr", path: "/n", value: 1 },
    { op: "remove", path: "/absent" },
    { op: "set", path: "/id", value: "2" },
    { op: "set", path: "/pk", value: "b" },
  ]) {
    await refused(item.patch([operation]), 400);
  }
  assert.deepEqual((await item.read()).resource, resource);
});
