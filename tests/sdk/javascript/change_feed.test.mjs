// The change feed, by the SDK's pull model.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeFeedStartFrom } from "@azure/cosmos";
import { ownDatabase } from "./border.mjs";

const world = await ownDatabase("change-feed");

/// Reads until the feed says 304; the continuation is kept on the iterator's last answer.
async function drain(container, options) {
  const seen = [];
  let token;
  for await (const page of container.items.getChangeFeedIterator(options).getAsyncIterator()) {
    token = page.continuationToken;
    if (page.statusCode === 304) break;
    seen.push(...page.result.map((item) => item.id));
  }
  return { seen, token };
}

test("from the beginning, then on", async () => {
  const container = await world.container({ throughput: 11000 });
  for (let n = 0; n < 10; n++) await container.items.create({ id: `${n}`, pk: `p${n}` });
  const first = await drain(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning() });
  assert.deepEqual(first.seen.sort(), Array.from({ length: 10 }, (_, n) => `${n}`));
  await container.items.create({ id: "later", pk: "p" });
  const iterator = { changeFeedStartFrom: ChangeFeedStartFrom.Continuation(first.token) };
  const second = await drain(container, iterator);
  assert.ok(second.seen.includes("later"));
});

test("one logical partition", async () => {
  const container = await world.container();
  for (let n = 0; n < 6; n++) await container.items.create({ id: `${n}`, pk: `p${n % 2}` });
  const { seen } = await drain(container, { changeFeedStartFrom: ChangeFeedStartFrom.Beginning("p1") });
  assert.deepEqual(seen, ["1", "3", "5"]);
});
