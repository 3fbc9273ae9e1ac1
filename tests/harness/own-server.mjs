/**
 * A site on its owner's machine as `npm run serve` serves it: the real command, workerd and disk,
 * in real time, in front of an origin of the test that writes down who arrives.
 */

import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { TERMINAL } from "./deployer.mjs";
import { checkDescribed } from "./described.mjs";
import { freePort } from "./free-port.mjs";
import { closeConnections, send } from "./http.mjs";
import { ROOT } from "./worker-modules.mjs";

const LIVE = "The room is live";
/** How long it may take to be live, and then to end, on a slow machine. */
const LIVE_WITHIN_MS = 60_000;
const END_WITHIN_MS = 30_000;
const POLL_MS = 20;
/** The site of a test that has no room of its own: its host and limits, as flags. */
const SHOP = { host: "shop.example", limit: "2", "per-minute": "2" };

/** Whether a process runs; one that has ended is none, even if nobody has looked at its end. */
export function isRunning(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

/** Waits until `isSo()` is true, or its promise. Fails with `complaint` after a minute. */
export async function until(isSo, complaint) {
  const end = Date.now() + LIVE_WITHIN_MS;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(complaint);
    await sleep(POLL_MS);
  }
}

/** A page of which the origin says that caches keep it, in each of these headers. */
export const KEPT = "/kept";
export const KEEPS = ["cdn-cache-control", "surrogate-control", "x-accel-expires"];

/** The origin: answers everything, and keeps what arrives. */
export class OwnOrigin {
  /** What arrived: `{ at, visitor, url, headers }`, `at` in milliseconds since the epoch. */
  arrivals = [];

  static async start(context) {
    const origin = new OwnOrigin();
    origin.server = http.createServer((request, response) => {
      request.resume().on("end", () => origin.#answer(request, response));
    });
    await new Promise((ready) => origin.server.listen(0, "127.0.0.1", ready));
    origin.address = `http://127.0.0.1:${origin.server.address().port}`;
    context.after(() => {
      origin.server.closeAllConnections();
      origin.server.close();
    });
    return origin;
  }

  /** The times at which each visitor has arrived, by name. */
  visits() {
    const named = this.arrivals.filter(({ visitor }) => visitor);
    return Map.groupBy(named, ({ visitor }) => visitor);
  }

  #answer({ headers, url }, response) {
    this.arrivals.push({ at: Date.now(), visitor: headers["x-visitor"], url, headers });
    response.setHeader("x-origin", "1");
    if (url === KEPT) for (const name of KEEPS) response.setHeader(name, "600");
    const { searchParams } = new URL(url, this.address);
    const pauseMs = Number(searchParams.get("delay-ms"));
    setTimeout(() => response.end(JSON.stringify({ url, headers })), pauseMs);
  }
}

/** One served folder; `start` and `stop` as often as a test likes. */
export class OwnServer {
  isolates = [{ name: "own", colo: "OWN" }];
  clock = { now: () => Date.now() };
  said = "";

  /**
   * Makes a folder, with these rooms if there are any, and an origin. `root` is where the command
   * is: this checkout, or a release folder.
   */
  static async make(context, { rooms, root = ROOT } = {}) {
    const server = new OwnServer();
    server.root = root;
    server.first = rooms ? { host: rooms[0].host } : SHOP;
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "own-machine-"));
    Object.assign(server, { folder, port: await freePort() });
    server.origin = await OwnOrigin.start(context);
    context.after(async () => {
      closeConnections();
      await server.stop();
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    if (rooms) fs.writeFileSync(path.join(folder, "rooms.json"), JSON.stringify(rooms));
    return server;
  }

  /** Makes another machine of the same site: a folder with the same settings, secrets and rooms. */
  async another(context) {
    const other = new OwnServer();
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "own-machine-"));
    const { root, first, origin } = this;
    Object.assign(other, { root, first, origin, folder, port: await freePort() });
    for (const name of ["settings.json", "secrets.json", "rooms.json"]) {
      fs.copyFileSync(path.join(this.folder, name), path.join(folder, name));
    }
    context.after(async () => {
      await other.stop();
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    return other;
  }

  /** Sends a signal to all its processes, as if it were to the machine. */
  signalAll(signal) {
    const { command, workerds } = this.json("running.json");
    for (const pid of [this.child.pid, command, ...workerds]) process.kill(pid, signal);
  }

  /** Starts it with these flags, at first with all that it needs; resolves once it is live. */
  async start(flags = {}, variables = {}) {
    const { folder, first, port, origin } = this;
    const isKept = fs.existsSync(path.join(folder, "settings.json"));
    const needed = isKept ? {} : { ...first, port: String(port), origin: origin.address };
    const environment = { ...process.env, ...variables };
    this.child = this.run({ folder, ...needed, ...flags }, { environment });
    const end = Date.now() + LIVE_WITHIN_MS;
    while (!this.said.includes(LIVE)) {
      if (this.child.exitCode !== null || Date.now() > end) {
        throw new Error(`npm run serve failed:\n${this.said}`);
      }
      await sleep(POLL_MS);
    }
  }

  /**
   * Runs the command with these flags; what it says is added to `said`. `answer` is typed at a
   * terminal when it asks; without it nothing is asked.
   */
  run(flags, { environment = process.env, answer } = {}) {
    this.said = "";
    const given = Object.entries(flags).flatMap(([name, value]) =>
      value === true ? [`--${name}`] : [`--${name}`, value],
    );
    const [before, after] = answer ? [["--import", TERMINAL], []] : [[], ["--yes"]];
    const parameters = [...before, "scripts/serve.mjs", ...after, "--no-build", ...given];
    const child = spawn(process.execPath, parameters, {
      cwd: this.root,
      env: { ...environment, NODE_OPTIONS: "" },
      stdio: [answer ? "pipe" : "ignore", "pipe", "pipe"],
    });
    if (answer) child.stdout.once("data", () => child.stdin.write(`${answer}\n`));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (this.said += text));
    }
    // What a killed command leaves behind may hold its output open.
    child.ended = new Promise((resolve) => child.on("close", resolve));
    child.exited = new Promise((resolve) => child.on("exit", resolve));
    return child;
  }

  /** Ends it by a signal. Returns its status, or "late". */
  async stop(signal = "SIGTERM") {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode;
    child.kill(signal);
    const late = sleep(END_WITHIN_MS, "late", { ref: false });
    const status = await Promise.race([child.ended, late]);
    if (status === "late") child.kill("SIGKILL");
    return status;
  }

  /** The process id of the workerd that serves the folder now. */
  workerd() {
    return this.workerds()[0];
  }

  /** The process ids of all instances of workerd that serve the folder now. */
  workerds() {
    return this.json("running.json").workerds;
  }

  /** Kills workerd as an accident would, and resolves once another one serves. */
  async killWorkerd() {
    const killed = this.workerd();
    process.kill(killed, "SIGKILL");
    await until(() => this.workerd() !== killed, "workerd does not come back");
  }

  /** Reads a file of the folder. */
  json(name) {
    return JSON.parse(fs.readFileSync(path.join(this.folder, name), "utf8"));
  }

  isolateNear() {
    return "own";
  }

  /** Sends a request straight to it, or to the `port` of a proxy. */
  async send(_, request) {
    const answer = await send({ port: this.port, ...request });
    checkDescribed(request, answer);
    return answer;
  }

  /** Asks the API with the token of the folder. */
  async api(method, below, body) {
    const { API_TOKEN } = this.json("secrets.json");
    const { zone } = this.json("settings.json");
    const answer = await this.send(undefined, {
      host: "localhost",
      method,
      path: `/_waiting-room/client/v4/zones/${zone.id}/${below}`,
      headers: { authorization: `Bearer ${API_TOKEN}` },
      body: body && JSON.stringify(body),
    });
    return { status: answer.status, ...JSON.parse(answer.body) };
  }
}
