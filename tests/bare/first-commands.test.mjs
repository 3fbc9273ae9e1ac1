/**
 * The README's commands on a machine that nobody prepared: no toolchain, no library, no JavaScript
 * tool, an empty home, and a rustup that installs nothing by itself (RUSTUP_AUTO_INSTALL=0, as in
 * build images). It takes minutes and the network: `npm run nightly` runs it, and
 * `npm test -- --only bare`.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { bareEnvironment, copyCheckout } from "../harness/bare-machine.mjs";
import { runAgainstProduct } from "../harness/documented-commands.mjs";
import { freePort } from "../harness/free-port.mjs";
import { send } from "../harness/http.mjs";

const TARGET = "wasm32-unknown-unknown";
const QUEUE_PAGE = /<html lang="en-US"[^]*in line/i;
/** The longest of the commands: all that is installed and built for the first `npm start`. */
const COMMAND_LIMIT_MS = 15 * 60_000;
const POLL_MS = 500;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bare-machine-"));
let checkout;
let env;
before(() => {
  checkout = copyCheckout(path.join(folder, "checkout"));
  env = bareEnvironment(folder);
});
after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

check("npm start leads to a served queue page", async () => {
  const port = await freePort();
  const start = begin("npm", ["start"], { PORT: String(port) });
  try {
    await Promise.race([until(() => start.said().includes("The shop is open")), start.ended]);
    assert.match(start.said(), /The shop is open/, start.said());
    const visit = (number) =>
      send({ port, host: `visitor-${number}.localhost:${port}`, headers: { accept: "text/html" } });
    assert.match((await visit(1)).body, /You are in/);
    assert.match((await visit(2)).body, /You are in/);
    assert.match((await visit(3)).body, QUEUE_PAGE);
    await runAgainstProduct(`http://localhost:${port}`);
    for (const what of ["Installing Rust 1.", "Fetching the Rust libraries", "JavaScript tools"]) {
      assert.equal(start.said().split(what).length, 2, `once: ${what}\n${start.said()}`);
    }
  } finally {
    start.stop();
    await start.ended;
  }
});

check("npm test brings the components that are missing", async () => {
  await run("rustup", ["component", "remove", "rustfmt", "clippy", ...ofToolchain()]);
  const said = await run("npm", ["test", "--", "--only", "format"]);
  assert.match(said, /^Installing clippy, rustfmt with rustup/m);
  assert.match(said, /^format +passed/m);
  assert.doesNotMatch(await run("npm", ["test", "--", "--only", "format"]), /Installing|Fetching/);
});

check("wrangler deploy brings the target that is missing", async () => {
  await run("rustup", ["target", "remove", TARGET, ...ofToolchain()]);
  fs.rmSync(path.join(checkout, "target", TARGET), { recursive: true });
  const said = await run("npx", ["wrangler", "deploy", "--dry-run", "--outdir", "bundle"]);
  assert.match(said, new RegExp(`Installing ${TARGET} with rustup`));
  assert.match(said, /rooms:import/);
  assert.ok(fs.readdirSync(path.join(checkout, "bundle")).some((name) => name.endsWith(".wasm")));
});

check("wrangler deploy refuses a wrong rooms.json", async () => {
  const file = path.join(checkout, "rooms.json");
  const right = fs.readFileSync(file, "utf8");
  fs.writeFileSync(file, right.replace('"total_active_users": 2', '"total_active_users": 0'));
  const deploy = begin("npx", ["wrangler", "deploy", "--dry-run", "--outdir", "wrong"]);
  assert.notEqual(await deploy.ended, 0, deploy.said());
  assert.match(deploy.said(), /\/0\/total_active_users: must be a whole number from 1/);
  assert.ok(!fs.existsSync(path.join(checkout, "wrong")), "a bundle was made");
  fs.writeFileSync(file, right);
});

function check(name, body) {
  test(name, { timeout: 2 * COMMAND_LIMIT_MS }, body);
}

/** What a command says that succeeds. */
async function run(command, parameters) {
  const done = begin(command, parameters);
  assert.equal(await done.ended, 0, `${command} ${parameters.join(" ")}\n${done.said()}`);
  return done.said();
}

/** Starts a command in the copy; `ended` becomes its exit code. */
function begin(command, parameters, vars = {}) {
  const child = spawn(command, parameters, {
    cwd: checkout,
    env: { ...env, ...vars },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  }
  const stop = (signal = "SIGTERM") => {
    if (child.exitCode === null) process.kill(-child.pid, signal);
  };
  const limit = setTimeout(stop, COMMAND_LIMIT_MS, "SIGKILL");
  const ended = new Promise((resolve) => child.on("close", resolve));
  ended.then(() => clearTimeout(limit));
  return { said: () => text, stop, ended };
}

async function until(isTrue) {
  while (!isTrue()) await sleep(POLL_MS);
}

function ofToolchain() {
  const text = fs.readFileSync(path.join(checkout, "rust-toolchain.toml"), "utf8");
  return ["--toolchain", /^channel = "(.+)"$/m.exec(text)[1]];
}
