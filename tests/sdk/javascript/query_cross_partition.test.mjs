// Queries over all partitions, merged by the SDK (R18, R19).

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownDatabase } from "./border.mjs";

const world = await ownDatabase("cross");
const COUNT = 50;
const totals = Array.from({ length: COUNT }, (_, n) => (n * 37) % 101);
const ascending = [...totals].sort((a, b) => a - b);
const containers = {};

for (const throughput of [400, 30000]) {
  const container = await world.container({ throughput });
  for (let n = 0; n < COUNT; n++) {
    await container.items.create({ id: `${n}`, pk: `p${n}`, total: totals[n], status: ["open", "paid"][n % 2] });
  }
  containers[throughput] = container;
}

for (const throughput of [400, 30000]) {
  const ask = async (query, options) => (await containers[throughput].items.query(query, options).fetchAll()).resources;
  const at = (name) => `${name}, ${throughput} RU/s`;

  test(at("every item once"), async () => {
    const ids = await ask("SELECT VALUE c.id FROM c");
    assert.deepEqual(ids.map(Number).sort((a, b) => a - b), Array.from({ length: COUNT }, (_, n) => n));
  });

  for (const maxItemCount of [3, 100]) {
    test(at(`order by, pages of ${maxItemCount}`), async () => {
      const iterator = containers[throughput].items.query("SELECT VALUE c.total FROM c ORDER BY c.total", { maxItemCount });
      const rows = [];
      while (iterator.hasMoreResults()) rows.push(...((await iterator.fetchNext()).resources ?? []));
      assert.deepEqual(rows, ascending);
    });
  }

  test(at("top and offset limit"), async () => {
    assert.deepEqual(await ask("SELECT TOP 5 VALUE c.total FROM c ORDER BY c.total DESC"), [...ascending].reverse().slice(0, 5));
    assert.deepEqual(await ask("SELECT VALUE c.total FROM c ORDER BY c.total OFFSET 10 LIMIT 5"), ascending.slice(10, 15));
  });

  test(at("aggregates"), async () => {
    assert.deepEqual(await ask("SELECT VALUE COUNT(1) FROM c"), [COUNT]);
    assert.deepEqual(await ask("SELECT VALUE SUM(c.total) FROM c"), [totals.reduce((a, b) => a + b)]);
    assert.deepEqual(await ask("SELECT VALUE MAX(c.total) FROM c"), [ascending.at(-1)]);
  });

  test(at("distinct and group by"), async () => {
    assert.deepEqual((await ask("SELECT DISTINCT VALUE c.status FROM c")).sort(), ["open", "paid"]);
    const groups = await ask("SELECT c.status, COUNT(1) AS n FROM c GROUP BY c.status");
    assert.deepEqual(Object.fromEntries(groups.map((row) => [row.status, row.n])), { open: 25, paid: 25 });
  });
}
