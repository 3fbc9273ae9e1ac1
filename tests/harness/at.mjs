/**
 * Runs test files as if it were another time of the day: `node tests/harness/at.mjs 23:58:30
 * tests/workerd/history.test.mjs`. Node, browsers and workerd all see that time, in UTC.
 */

import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { Clock } from "./clock.mjs";

const DAY_MS = 86_400_000;

const [time, ...files] = process.argv.slice(2);
const wanted = Date.parse(`1970-01-01T${time}Z`);
if (!Number.isFinite(wanted) || files.length === 0) {
  console.error("usage: node tests/harness/at.mjs <hh:mm[:ss], UTC> <test file> ...");
  process.exit(2);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-at-"));
const clock = new Clock(folder);
clock.jump((wanted - (clock.now() % DAY_MS) + DAY_MS) % DAY_MS);
const options = ["--test", "--test-concurrency=1", "--test-reporter=spec", ...files];
const env = { ...process.env, ...clock.environment, TEST_CLOCK_DATE_ONLY: "1" };
const tests = spawn(process.execPath, options, { stdio: "inherit", env });
tests.on("exit", (code) => {
  clock.close();
  fs.rmSync(folder, { recursive: true, force: true });
  process.exit(code ?? 1);
});
