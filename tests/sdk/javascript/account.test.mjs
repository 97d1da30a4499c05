// The account read, and the first calls of a client.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CosmosClient } from "@azure/cosmos";
import { client, endpoint, refused } from "./border.mjs";

test("account read", async () => {
  const { resource: account, statusCode } = await client.getDatabaseAccount();
  assert.equal(statusCode, 200);
  assert.equal(account.consistencyPolicy, "Session");
  assert.equal(account.writableLocations.length, 1);
  const told = new URL(account.writableLocations[0].databaseAccountEndpoint);
  assert.equal(told.port, new URL(endpoint).port);
  assert.equal(told.protocol, "http:");
});

test("endpoints of the account are used and reachable", async () => {
  assert.ok((await client.getReadEndpoint()).startsWith("http://"));
  assert.ok((await client.getWriteEndpoint()).startsWith("http://"));
});

test("a wrong key is refused", async () => {
  const wrong = new CosmosClient({ endpoint, key: Buffer.alloc(64, 7).toString("base64") });
  await refused(wrong.databases.readAll().fetchAll(), 401);
});
