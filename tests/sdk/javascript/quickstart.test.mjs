// The quick-start program runs as it stands, over HTTP and over TLS.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { endpoint, key, required } from "./border.mjs";

const run = promisify(execFile);
const program = join(import.meta.dirname, "quickstart.mjs");
const printed = [
  "upserted aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb",
  "read Yamba Surfboard 850",
  "found Yamba Surfboard",
  "done",
  "",
].join("\n");

test("over HTTP", async () => {
  assert.equal((await run("node", [program, endpoint, key])).stdout, printed);
});

test("over TLS, trusting the certificate the server hands out", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tesela-"));
  try {
    const pem = await (await fetch(`${endpoint}/_explorer/emulator.pem`)).text();
    const certificate = join(folder, "emulator.pem");
    await writeFile(certificate, pem);
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificate };
    assert.equal((await run("node", [program, required("TESELA_HTTPS_ENDPOINT"), key], { env })).stdout, printed);
  } finally {
    await rm(folder, { recursive: true });
  }
});
