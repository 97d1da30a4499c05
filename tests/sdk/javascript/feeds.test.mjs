// Paging: `readAll` is a query in this SDK, so this area needs the simplest one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownDatabase } from "./border.mjs";

const world = await ownDatabase("feeds");
const ids = Array.from({ length: 23 }, (_, n) => String(n).padStart(2, "0"));

async function filled() {
  const container = await world.container();
  for (const [n, id] of ids.entries()) await container.items.create({ id, pk: `p${n % 3}` });
  return container;
}

for (const maxItemCount of [1, 5, 100]) {
  test(`pages of ${maxItemCount}`, async () => {
    const container = await filled();
    const pages = [];
    for await (const page of container.items.readAll({ maxItemCount }).getAsyncIterator()) {
      pages.push(page.resources.map((item) => item.id));
    }
    assert.ok(pages.every((page) => page.length <= maxItemCount));
    assert.deepEqual(pages.flat(), ids, "in the order of creation");
  });
}

test("one logical partition", async () => {
  const container = await filled();
  const { resources } = await container.items.readAll({ partitionKey: "p1" }).fetchAll();
  assert.deepEqual(resources.map((item) => item.id), ids.filter((_, n) => n % 3 === 1));
});

test("resume from a continuation", async () => {
  const container = await filled();
  const first = await container.items.readAll({ partitionKey: "p1", maxItemCount: 3 }).fetchNext();
  const rest = await container.items
    .readAll({ partitionKey: "p1", maxItemCount: 3, continuationToken: first.continuationToken })
    .fetchAll();
  const seen = [...first.resources, ...rest.resources].map((item) => item.id);
  assert.deepEqual(seen, ids.filter((_, n) => n % 3 === 1));
});
