// Local development: the waiting room by `wrangler dev` before a small demo shop, the addresses to
// open, and a line that says who waits. Ctrl-C ends everything that it started. What owners have
// made is there again at the next start, unless `--fresh` is said.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { LiveLine } from "./live-line.mjs";
import { addresses, demoRoom, health, localSecrets, roomNow } from "./local.mjs";
import { PORT } from "./port.mjs";
import { HELP, readFlags } from "./usage.mjs";

/** wrangler.toml with the shop as ORIGIN and the demo room's zone, which no deployment may have. */
const LOCAL_CONFIG = "wrangler.local.toml";
const ORIGIN_BINDING = `
[[services]]
binding = "ORIGIN"
service = "demo-shop"
`;
const NO_ZONES = 'ZONES = ""';
const DEMO_ZONES = 'ZONES = "0123456789abcdef0123456789abcdef=localhost"';
/**
 * The folder of what objects and caches store, for each port its own, so that two starts do not
 * disturb each other; `--fresh` removes it.
 */
const STATE_FOLDER = `build/local-state-${PORT}`;
const FLAGS = [["fresh", false, "", "Begin with an empty room, as `rooms.json` has it."], HELP];
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 5_000;
const POLL_MS = 1_000;

const line = new LiveLine();
const page = "docs/operations.md";
const { fresh } = readFlags("start", FLAGS, process.argv.slice(2), { page }).values;

build();
const room = demoRoom();
prepareFiles();
const wrangler = startWrangler();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop(0));
await ready();
welcome();
for (let told; ; await sleep(POLL_MS)) {
  const { reason } = await health().catch(() => ({}));
  if (reason && reason !== told) line.print(`  Nobody is served: ${reason}`);
  told = reason;
  line.show(reason || !room ? "" : statusText(await roomNow(room)));
}

function build() {
  console.log("Building the Worker (the first time takes a few minutes) ...");
  const { status } = spawnSync("node", ["scripts/build.mjs"], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

function prepareFiles() {
  if (!fs.existsSync(".dev.vars")) fs.writeFileSync(".dev.vars", localSecrets());
  if (fresh) fs.rmSync(STATE_FOLDER, { recursive: true, force: true });
  const deployed = fs.readFileSync("wrangler.toml", "utf8");
  fs.writeFileSync(LOCAL_CONFIG, deployed.replace(NO_ZONES, DEMO_ZONES) + ORIGIN_BINDING);
}

function startWrangler() {
  const configs = ["--config", LOCAL_CONFIG, "--config", "scripts/demo-shop/wrangler.toml"];
  const quiet = ["--show-interactive-dev-session=false", "--log-level=error"];
  // A process group of its own, so that stop() reaches workerd and builds in progress as well.
  const place = ["--port", String(PORT), "--persist-to", STATE_FOLDER];
  const child = spawn("wrangler", ["dev", ...configs, ...place, ...quiet], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    shell: process.platform === "win32",
    env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => line.print(text));
  }
  child.on("exit", () => {
    if (child.stopping) return;
    line.print("wrangler ended by itself: see its message above");
    process.exit(1);
  });
  return child;
}

async function ready() {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const { status, reason, notes = [] } = await health().catch(() => ({}));
    if (reason) {
      line.print(`  Nobody can be served: ${reason}`);
      await stop(1);
    }
    if (status) return notes.forEach((note) => line.print(`  ${note}`));
    if (Date.now() > deadline) {
      line.print(`wrangler did not answer on port ${PORT} within ${READY_WITHIN_MS / 1_000} s`);
      await stop(1);
    }
    await sleep(200);
  }
}

function welcome() {
  if (!room) {
    console.log(`
  The Worker runs on http://localhost:${PORT}, and rooms.json has no room: everybody passes.
  Write one into it and start again, or make one with the API (docs/api.md).
  Ctrl-C ends everything.
`);
    return;
  }
  const [first = "on none of this machine: give it a route with the host localhost", ...others] =
    addresses(room);
  console.log(`
  The shop is open:  ${first}
  More visitors:     ${others.join("\n                     ")}
  The cockpit:       http://localhost:${PORT}/_waiting-room/
                     (the token is that of .dev.vars: local-development-only, unless you changed it)

  Room "${room.name}" (rooms.json): ${room.total_active_users} visitors at a time,
  ${room.new_users_per_minute} new ones a minute, a session of ${room.session_duration} min.

  Try this: open the addresses one after the other. The first two visitors enter; the others wait in
  line and enter by themselves. (Windows of one browser at one address are one visitor.)
  Twenty visitors at once: npm run visitors -- 20      Is all well? npm run doctor
  What you make is kept for the next start; npm start -- --fresh begins anew.
  Ctrl-C ends everything.
`);
}

/** Writes the room's state, for example `active 2/2 · waiting 3 · next in about 20 s`. */
function statusText(now) {
  if (!now) return "";
  const { estimated_total_active_users: active, estimated_queued_users: waiting } = now;
  const parts = [`active ${active}/${now.total_active_users}`, `waiting ${waiting}`];
  if (now.held_by) parts.push("nobody enters");
  const next = now.next_admission_seconds;
  if (waiting > 0 && typeof next === "number") {
    parts.push(next > 0 ? `next in about ${Math.ceil(next)} s` : "next enters now");
  }
  return `  ${parts.join(" · ")}`;
}

async function stop(code) {
  if (wrangler.stopping) return;
  wrangler.stopping = true;
  line.end();
  endGroup("SIGTERM");
  const ended = wrangler.exitCode === null && new Promise((done) => wrangler.on("exit", done));
  await Promise.race([ended, sleep(STOP_WITHIN_MS)]);
  endGroup("SIGKILL");
  process.exit(code);
}

function endGroup(signal) {
  try {
    if (process.platform === "win32") wrangler.kill(signal);
    else process.kill(-wrangler.pid, signal);
  } catch {
    // The group has ended already.
  }
}
