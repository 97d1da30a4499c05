// Stored procedures, triggers, user-defined functions (R16, R17).

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownDatabase, refused } from "./border.mjs";

const world = await ownDatabase("scripts");

/* global getContext */

test("a procedure given as a function", async () => {
  const container = await world.container();
  await container.scripts.storedProcedures.create({
    id: "add",
    body: function (a, b) {
      const collection = getContext().getCollection();
      const accepted = collection.createDocument(collection.getSelfLink(), { id: "made", pk: "a", sum: a + b }, (error, made) => {
        if (error) throw error;
        getContext().getResponse().setBody(made.sum);
      });
      if (!accepted) throw new Error("not accepted");
    },
  });
  const { resource } = await container.scripts.storedProcedure("add").execute("a", [2, 3]);
  assert.equal(resource, 5);
  assert.equal((await container.item("made", "a").read()).resource.sum, 5);
  await refused(container.scripts.storedProcedure("add").execute("a", [2, 3]), 400);
});

test("a trigger and a function of one's own in a query", async () => {
  const container = await world.container();
  await container.scripts.triggers.create({
    id: "stamp",
    triggerType: "Pre",
    triggerOperation: "Create",
    body: "function () { const r = getContext().getRequest(), b = r.getBody(); b.stamped = 1; r.setBody(b); }",
  });
  const made = await container.items.create({ id: "1", pk: "a" }, { preTriggerInclude: ["stamp"] });
  assert.equal(made.resource.stamped, 1);
  await container.scripts.userDefinedFunctions.create({ id: "twice", body: "function (n) { return n * 2 }" });
  const { resources } = await container.items
    .query("SELECT VALUE udf.twice(c.stamped) FROM c", { partitionKey: "a" })
    .fetchAll();
  assert.deepEqual(resources, [2]);
});

test("log lines", async () => {
  const container = await world.container();
  await container.scripts.storedProcedures.create({ id: "log", body: "function () { console.log('a line') }" });
  const answer = await container.scripts.storedProcedure("log").execute("a", [], { enableScriptLogging: true });
  assert.match(decodeURIComponent(answer.headers["x-ms-documentdb-script-log-results"]), /a line/);
});
