/**
 * The two commands that owners use without npm: `wrangler deploy` and `wrangler dev` build the
 * Worker by themselves. Nothing is deployed, and nothing of the Worker's behaviour is looked at.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "../harness/free-port.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const WRANGLER = path.join(ROOT, "node_modules", ".bin", "wrangler");
const BUILT = path.join(ROOT, "build", "worker");
/** The Worker's own modules of wasm: where each is built, and its name. */
const MODULES = [
  ["gen", "waiting_room_bg.wasm"],
  ["central", "central_bg.wasm"],
];
const TIMEOUT_MS = 600_000;
const env = { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true" };

test("wrangler deploy --dry-run builds and bundles", { timeout: TIMEOUT_MS }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-deploy-"));
  fs.rmSync(BUILT, { recursive: true, force: true });
  const parameters = ["deploy", "--dry-run", "--outdir", folder];
  const { status, stdout, stderr } = spawnSync(WRANGLER, parameters, { cwd: ROOT, env });
  assert.equal(status, 0, `${stdout}${stderr}`);
  for (const [of, name] of MODULES) {
    // wrangler puts a hash before the name of each module.
    const bundled = fs.readdirSync(folder).find((one) => one.endsWith(`-${name}`));
    const bytes = fs.readFileSync(path.join(folder, bundled));
    const built = fs.readFileSync(path.join(BUILT, of, name));
    assert.ok(bytes.equals(built), `another ${name} was bundled`);
  }
  fs.rmSync(folder, { recursive: true });
});

test("wrangler dev builds and answers", { timeout: TIMEOUT_MS }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-dev-"));
  fs.rmSync(BUILT, { recursive: true, force: true });
  const port = await freePort();
  const parameters = ["dev", "--port", String(port), "--persist-to", folder];
  const wrangler = spawn(WRANGLER, parameters, { cwd: ROOT, env, detached: true, stdio: "pipe" });
  let output = "";
  for (const stream of [wrangler.stdout, wrangler.stderr])
    stream.on("data", (text) => (output += text));
  const ended = new Promise((resolve) => wrangler.on("exit", resolve));
  try {
    const answer = await firstAnswer(`http://localhost:${port}/_waiting-room/health`, wrangler);
    assert.ok(answer, `no answer: ${output}`);
    for (const [of, name] of MODULES) assert.ok(fs.existsSync(path.join(BUILT, of, name)));
  } finally {
    if (wrangler.exitCode === null) process.kill(-wrangler.pid, "SIGTERM");
    await ended;
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

async function firstAnswer(url, wrangler) {
  while (wrangler.exitCode === null) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer) return answer;
    await sleep(200);
  }
}
