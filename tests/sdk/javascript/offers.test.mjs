// Throughput (R14).

import assert from "node:assert/strict";
import { test } from "node:test";
import { client, ownDatabase, refused } from "./border.mjs";

const world = await ownDatabase("offers");

test("manual throughput is created, read and replaced", async () => {
  const container = await world.container({ throughput: 500 });
  const { resource, offer } = await container.readOffer();
  assert.equal(resource.content.offerThroughput, 500);
  resource.content.offerThroughput = 700;
  const replaced = await offer.replace(resource);
  assert.equal(replaced.resource.content.offerThroughput, 700);
  assert.equal((await container.readOffer()).resource.content.offerThroughput, 700);
});

test("autoscale", async () => {
  const container = await world.container({ maxThroughput: 4000 });
  const { resource } = await container.readOffer();
  assert.equal(resource.content.offerAutopilotSettings.maxThroughput, 4000);
  assert.equal(resource.content.offerThroughput, 400);
});

test("impossible throughput", async () => {
  await refused(world.container({ throughput: 100 }), 400);
  await refused(world.container({ maxThroughput: 999 }), 400);
});

test("the list of offers holds ours", async () => {
  const container = await world.container({ throughput: 400 });
  const rid = (await container.read()).resource._rid;
  const { resources } = await client.offers.readAll().fetchAll();
  assert.ok(resources.some((offer) => offer.offerResourceId === rid));
});
