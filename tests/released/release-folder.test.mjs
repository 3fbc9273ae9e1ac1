/**
 * The release folder on a machine without Rust, with empty homes: one command, from `npm ci` to a
 * served queue page. How long that took is told, and nothing is decided by it.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { bareEnvironment, pathOf, programAt, testFolder } from "../harness/bare-machine.mjs";
import { freePort } from "../harness/free-port.mjs";
import { send } from "../harness/http.mjs";
import { OwnOrigin } from "../harness/own-server.mjs";

/** What the machine has: Node with npm, and what their scripts are started with. */
const PROGRAMS = ["node", "npm", "sh", "env"];
const HOST = "shop.example";
const LIMIT_MS = 900_000;
const POLL_MS = 50;
const QUEUE_PAGE = /<html lang="en-US"[^]*in line/i;

test("from npm ci to a queue page, without Rust", { timeout: LIMIT_MS }, async (t) => {
  const folder = testFolder(t);
  const release = path.join(folder, "release");
  const parameters = ["scripts/release.mjs", "--no-build", "--folder", release];
  const made = spawnSync(process.execPath, parameters, { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const environment = bareEnvironment(folder);
  const places = PROGRAMS.map((name) => [name, programAt(name, environment.PATH)]);
  environment.PATH = pathOf(path.join(folder, "bin"), Object.fromEntries(places));
  const [origin, port] = [await OwnOrigin.start(t), await freePort()];
  const site = ["--origin", origin.address, "--host", HOST, "--port", String(port)];
  const limits = ["--limit", "1", "--per-minute", "1"];

  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1_000).toFixed(1);
  const serve = begin(["run", "serve", "--", "--yes", ...site, ...limits], release, environment);
  t.after(() => serve.stop());
  await until(() => serve.ended || serve.said.includes("The room is live"));
  assert.match(serve.said, /The room is live/, serve.said);
  const live = seconds();
  const visit = () => send({ port, host: HOST, headers: { accept: "text/html" } });
  assert.equal((await visit()).headers["x-origin"], "1");
  assert.match((await visit()).body, QUEUE_PAGE);
  assert.equal(serve.said.split("Installing the JavaScript tools").length, 2, serve.said);
  assert.doesNotMatch(serve.said, /Rust|cargo/);
  t.diagnostic(`live after ${live} s, the queue page after ${seconds()} s`);
});

/** Starts npm; `said` grows, and `stop` ends it as Ctrl-C does. */
function begin(parameters, cwd, env) {
  const stdio = ["ignore", "pipe", "pipe"];
  const child = spawn("npm", parameters, { cwd, env, stdio, detached: true });
  const exit = new Promise((resolve) => child.on("close", resolve));
  const begun = { said: "", ended: false };
  exit.then(() => (begun.ended = true));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => (begun.said += text));
  }
  begun.stop = async () => {
    if (!begun.ended) process.kill(-child.pid, "SIGINT");
    await exit;
  };
  return begun;
}

async function until(isTrue) {
  while (!isTrue()) await sleep(POLL_MS);
}
