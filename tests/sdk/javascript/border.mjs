// Where the server is, and databases of one's own on it.
//
// A test file asks for one database with a name nobody else has; it is deleted when the file ends.

import { CosmosClient } from "@azure/cosmos";
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after } from "node:test";

export function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests with \`cargo xtask sdk\``);
  return value;
}

export const endpoint = required("TESELA_ENDPOINT");
export const key = required("TESELA_KEY");
export const client = new CosmosClient({ endpoint, key });

export const unique = (prefix) => `${prefix}-${randomUUID().slice(0, 12)}`;

/// A database for the tests of one file: `const world = await ownDatabase("items")`.
export async function ownDatabase(area) {
  const { database } = await client.databases.create({ id: unique(`js-${area}`) });
  after(() => database.delete());
  return {
    database,
    /// An empty container; key path `/pk` unless told otherwise.
    async container(definition = {}, options = {}) {
      const body = { id: unique("c"), partitionKey: { paths: ["/pk"], version: 2 }, ...definition };
      const { container } = await database.containers.create(body, options);
      return container;
    },
  };
}

/// Asserts that `promise` is refused with `code` (and `substatus`, when given).
export async function refused(promise, code, substatus) {
  const error = await promise.then(
    (value) => assert.fail(`expected ${code}, got ${value?.statusCode ?? typeof value}`),
    (reason) => reason,
  );
  assert.equal(error.code, code, error.message);
  if (substatus !== undefined) assert.equal(error.substatus, substatus);
  return error;
}

/// An item without the properties the server adds.
export function own(item) {
  const system = ["_rid", "_self", "_etag", "_ts", "_attachments", "_lsn"];
  return Object.fromEntries(Object.entries(item).filter(([name]) => !system.includes(name)));
}
