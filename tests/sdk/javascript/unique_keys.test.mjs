// Unique keys.

import { test } from "node:test";
import { ownDatabase, refused } from "./border.mjs";

const world = await ownDatabase("unique-keys");

test("unique inside a logical partition", async () => {
  const container = await world.container({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] } });
  await container.items.create({ id: "1", pk: "a", email: "x" });
  await container.items.create({ id: "1", pk: "b", email: "x" });
  await refused(container.items.create({ id: "2", pk: "a", email: "x" }), 409);
});
