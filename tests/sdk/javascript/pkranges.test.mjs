// Partition key ranges, asked without the incremental header (R12).

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownDatabase } from "./border.mjs";

const world = await ownDatabase("pkranges");

test("one range covers the whole space", async () => {
  const container = await world.container();
  const { resources } = await container.readPartitionKeyRanges().fetchAll();
  assert.deepEqual(
    resources.map((range) => [range.id, range.minInclusive, range.maxExclusive]),
    [["0", "", "FF"]],
  );
});
