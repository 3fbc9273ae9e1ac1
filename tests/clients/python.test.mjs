/**
 * The official Python client, in a virtual environment that this test makes once, under `build`,
 * from the pinned requirements. What the client must get back stands in python_client.py.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { apiAddress } from "../harness/api.mjs";
import { clockMissing } from "../harness/clock.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { environmentMissing, programOf } from "../harness/python.mjs";
import { room } from "../harness/rooms.mjs";

const run = promisify(execFile);
const REQUIREMENTS = path.join(import.meta.dirname, "requirements.txt");
const PROGRAM = path.join(import.meta.dirname, "python_client.py");
const ENVIRONMENT = "python";
const PAUSE_MS = 50;
/** The program takes less, on a slow machine too. */
const PROGRAM_MS = 300_000;

const missing = clockMissing() ?? (await environmentMissing(ENVIRONMENT, REQUIREMENTS));
// A client of its own, by the clock of the machine.
const options = { rooms: [room({ name: "shop" })], colos: { AMS: 1 }, stopped: false };

clusterTest("rooms, events, rules, settings, preview", options, check, () => missing);

async function check(cluster) {
  let isOver = false;
  const limits = { timeout: PROGRAM_MS };
  const command = [programOf(ENVIRONMENT), [PROGRAM, apiAddress(cluster)], limits];
  const program = run(...command).finally(() => (isOver = true));
  // Time goes on: what the API changes counts everywhere within 5 s, and not at once. It goes on
  // slowly: workerd closes a connection that is idle for 5 s.
  while (!isOver) {
    await cluster.advance(500);
    await sleep(PAUSE_MS);
  }
  const { stdout } = await program;
  assert.match(stdout, /^list afterwards: as wanted$/m);
}
