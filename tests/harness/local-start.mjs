/**
 * The product as `npm start` runs it, at a port of its own and in real time, with as much of a
 * cluster as visitors and browsers need.
 */

import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import util from "node:util";

import { checkDescribed } from "./described.mjs";
import { freePort } from "./free-port.mjs";
import { closeConnections, send } from "./http.mjs";
import { QUEUE_MARK } from "./visitor.mjs";
import { ROOT } from "./worker-modules.mjs";

const READY = "Ctrl-C ends everything.";
/** How long it may take to be ready, and then to end, on a slow machine. */
const READY_WITHIN_MS = 240_000;
const END_WITHIN_MS = 20_000;
/** After that the body hangs: a story of minutes takes longer on a slow machine. */
const BODY_WITHIN_MS = 600_000;
const POLL_MS = 200;

/** Runs `npm start`, hands it to `body`, and ends it whatever happens, also if `body` hangs. */
export async function withLocalStart(body) {
  const start = new LocalStart(await freePort());
  try {
    await start.ready();
    const late = sleep(BODY_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error("the story does not end");
    });
    await Promise.race([body(start), late]);
  } catch (error) {
    console.error(start.said);
    throw error;
  } finally {
    await start.stop();
  }
}

class LocalStart {
  /** One isolate, in whatever data center `wrangler dev` claims to be. */
  isolates = [{ name: "local", colo: "local" }];
  clock = { now: () => Date.now() };
  said = "";
  #state;

  constructor(port) {
    this.port = port;
    this.#state = path.join(ROOT, "build", `local-state-${port}`);
    this.leftBehind = path.join(this.#state, "of-an-earlier-start");
    fs.mkdirSync(this.#state, { recursive: true });
    fs.writeFileSync(this.leftBehind, "");
    this.#begin("--fresh");
  }

  #begin(...flags) {
    this.child = spawn("npm", ["start", "--", ...flags], {
      cwd: ROOT,
      env: { ...process.env, PORT: String(this.port) },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (this.said += text));
    }
    this.ended = new Promise((resolve) => this.child.on("close", resolve));
  }

  async ready() {
    const end = Date.now() + READY_WITHIN_MS;
    while (!this.said.includes(READY)) {
      if (this.child.exitCode !== null || Date.now() > end) throw new Error("npm start failed");
      await sleep(POLL_MS);
    }
  }

  /** Ends it as Ctrl-C does, and starts it again. */
  async again() {
    await this.#end();
    this.said = "";
    this.#begin();
    await this.ready();
  }

  async #end() {
    closeConnections();
    this.#signal("SIGTERM");
    const late = sleep(END_WITHIN_MS, "late", { ref: false });
    if ((await Promise.race([this.ended, late])) === "late") this.#signal("SIGKILL");
    await this.ended;
  }

  /** Ends it as Ctrl-C does, and removes what it stored. */
  async stop() {
    await this.#end();
    fs.rmSync(this.#state, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The token that `npm start` has written down for its owner. */
  get token() {
    return util.parseEnv(fs.readFileSync(path.join(ROOT, ".dev.vars"), "utf8")).API_TOKEN;
  }

  isolateNear() {
    return "local";
  }

  address(_, { host, path: below }) {
    return `http://${host}:${this.port}${below}`;
  }

  /** Sends a request. What is no page of the waiting room comes from the shop: it is marked so. */
  async send(_, request) {
    const { port } = this;
    const answer = await send({ ...request, port, host: `${request.host}:${port}` });
    checkDescribed(request, answer);
    if (answer.status !== 200 || answer.body.includes(QUEUE_MARK)) return answer;
    return { ...answer, headers: { ...answer.headers, "x-origin": "shop" } };
  }

  /** Lets time pass: here it passes by itself. */
  advance(ms) {
    return sleep(ms);
  }

  #signal(signal) {
    try {
      process.kill(-this.child.pid, signal);
    } catch {
      // It has ended already.
    }
  }
}
