// ETags.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownDatabase, refused } from "./border.mjs";

const world = await ownDatabase("conditions");
const ifMatch = (condition) => ({ accessCondition: { type: "IfMatch", condition } });

test("If-Match on replace, upsert and delete", async () => {
  const container = await world.container();
  const { resource } = await container.items.create({ id: "1", pk: "a", n: 1 });
  const item = container.item("1", "a");
  await refused(item.replace({ id: "1", pk: "a", n: 9 }, ifMatch('"stale"')), 412);
  await refused(container.items.upsert({ id: "1", pk: "a", n: 9 }, ifMatch('"stale"')), 412);
  await refused(item.delete(ifMatch('"stale"')), 412);
  assert.equal((await item.read()).resource._etag, resource._etag);
  const replaced = await item.replace({ id: "1", pk: "a", n: 2 }, ifMatch(resource._etag));
  assert.equal(replaced.statusCode, 200);
  assert.equal((await item.delete(ifMatch(replaced.etag))).statusCode, 204);
});

test("If-None-Match on read", async () => {
  const container = await world.container();
  const { resource } = await container.items.create({ id: "1", pk: "a" });
  const answer = await container
    .item("1", "a")
    .read({ accessCondition: { type: "IfNoneMatch", condition: resource._etag } });
  assert.equal(answer.statusCode, 304);
});
