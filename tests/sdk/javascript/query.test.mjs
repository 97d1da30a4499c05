// Queries inside one logical partition (R18).

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownDatabase, refused } from "./border.mjs";

const world = await ownDatabase("query");
const people = await world.container();
for (const person of [
  { id: "1", name: "Ada", age: 36, tags: ["math", "engine"] },
  { id: "2", name: "Blaise", age: 39, tags: ["math"] },
  { id: "3", name: "Carl", age: 77, tags: ["math", "stars"] },
  { id: "4", name: "Emmy", age: null },
]) {
  await people.items.create({ ...person, pk: "a" });
}

const ask = async (query, parameters = []) =>
  (await people.items.query({ query, parameters }, { partitionKey: "a" }).fetchAll()).resources;

for (const [query, rows] of [
  ["SELECT VALUE c.name FROM c WHERE c.age > 38", ["Blaise", "Carl"]],
  ["SELECT VALUE c.name FROM c ORDER BY c.name DESC", ["Emmy", "Carl", "Blaise", "Ada"]],
  ["SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id", ["1", "2"]],
  ["SELECT VALUE COUNT(1) FROM c", [4]],
  ["SELECT VALUE AVG(c.age) FROM c WHERE IS_NUMBER(c.age)", [(36 + 39 + 77) / 3]],
  ["SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'stars')", ["3"]],
  ["SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 1 LIMIT 2", ["2", "3"]],
]) {
  test(query, async () => assert.deepEqual(await ask(query), rows));
}

test("group by", async () => {
  const rows = await ask("SELECT t AS tag, COUNT(1) AS n FROM c JOIN t IN c.tags GROUP BY t");
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.tag, row.n])), { math: 3, engine: 1, stars: 1 });
});

test("parameters", async () => {
  const rows = await ask("SELECT VALUE c.id FROM c WHERE c.name = @name", [{ name: "@name", value: "Ada" }]);
  assert.deepEqual(rows, ["1"]);
});

test("errors say what is wrong", async () => {
  const error = await refused(ask("SELECT * FROM c WHERE"), 400);
  assert.match(error.message, /SC1001|[Ss]yntax/);
});

test("query and index metrics in the format this SDK reads", async () => {
  const iterator = people.items.query("SELECT * FROM c WHERE c.name = 'Ada'", {
    partitionKey: "a",
    populateQueryMetrics: true,
    populateIndexMetrics: true,
  });
  const page = await iterator.fetchNext();
  assert.equal(page.resources.length, 1);
  assert.ok(JSON.stringify(page.indexMetrics).includes("/name/?"));
});
