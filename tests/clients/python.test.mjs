/**
 * The official Python client, in a virtual environment that this test makes once, under `build`,
 * from the pinned requirements. What the client must get back stands in python_client.py.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { apiAddress } from "../harness/api.mjs";
import { clockMissing } from "../harness/clock.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const run = promisify(execFile);
const REQUIREMENTS = path.join(import.meta.dirname, "requirements.txt");
const PROGRAM = path.join(import.meta.dirname, "python_client.py");
const ENVIRONMENT = path.join(ROOT, "build", "python");
const PYTHON = path.join(ENVIRONMENT, "bin", "python");
/** A copy of the requirements in the environment that was made from them. */
const STAMP = path.join(ENVIRONMENT, "requirements.txt");
/** The oldest Python that all pinned packages support. */
const IS_NEW_ENOUGH = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

const missing = clockMissing() ?? (await environmentMissing());
// A client of its own, by the clock of the machine.
const options = { rooms: [room({ name: "shop" })], colos: { AMS: 1 }, stopped: false };

clusterTest("rooms, events, rules, settings, preview", options, check, () => missing);

async function check(cluster) {
  let isOver = false;
  const program = run(PYTHON, [PROGRAM, apiAddress(cluster)]).finally(() => (isOver = true));
  // Time goes on: what the API changes counts everywhere within 5 s, and not at once.
  while (!isOver) await cluster.advance(500);
  const { stdout } = await program;
  assert.match(stdout, /^list afterwards: as wanted$/m);
}

/** Makes the environment unless it is there already; why it cannot be had, if so. */
async function environmentMissing() {
  const wanted = fs.readFileSync(REQUIREMENTS, "utf8");
  if (fs.existsSync(STAMP) && fs.readFileSync(STAMP, "utf8") === wanted) return undefined;
  try {
    await run("python3", ["-c", IS_NEW_ENOUGH]);
  } catch {
    return "Python 3.10 or newer with venv is missing (Debian: python3-venv)";
  }
  fs.rmSync(ENVIRONMENT, { recursive: true, force: true });
  await run("python3", ["-m", "venv", ENVIRONMENT]);
  const install = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", REQUIREMENTS];
  await run(PYTHON, install);
  fs.writeFileSync(STAMP, wanted);
  return undefined;
}
