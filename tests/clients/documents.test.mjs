/** Runs what the documents tell readers to type at a product that runs on their machine. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { apiAddress } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import {
  runAgainstProduct,
  verificationMissing,
  verifyDraw,
} from "../harness/documented-commands.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const rooms = JSON.parse(fs.readFileSync(path.join(ROOT, "rooms.json"), "utf8"));
// Commands of their own, by the clock of the machine.
const options = { rooms, vars: { API_TOKEN: "local-development-only" }, stopped: false };

clusterTest("calls of the API in the documents succeed", options, async (cluster) => {
  await runAgainstProduct(new URL(apiAddress(cluster)).origin);
});

clusterTest("visitors come, enter and leave", options, async (cluster) => {
  const { port: PORT } = new URL(apiAddress(cluster));
  const surroundings = { cwd: ROOT, env: { ...process.env, PORT } };
  const parameters = ["scripts/visitors.mjs", "2", "0.05"];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, surroundings);
  assert.match(stdout, /2 entered/);
});

test("a draw is verified by the commands of the documents", (context) => {
  const missing = verificationMissing();
  if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
  if (missing) return context.skip(`SKIPPED: ${missing}`);
  verifyDraw();
});
