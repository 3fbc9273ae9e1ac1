// Runs workerd: starts it, starts it again whenever it ends by itself, and ends it well. The socket
// is held by this process, so that visitors wait while there is no workerd.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { CONFIGURATION, CONSTANT } from "./configuration.mjs";

/** How long workerd may take to finish the requests that it has, in milliseconds. */
export const END_WITHIN_MS = 8_000;
/** The same where another one follows: until then newcomers wait. */
const FOLLOWED_WITHIN_MS = 2_000;
/** The pause before one is started again that never listened, in milliseconds. */
const PAUSE_MS = 1_000;
/** What this process holds the socket as, and what workerd gets: the way to tell us, the socket. */
export const HELD_FD = 3;
const [CONTROL_FD, SOCKET_FD] = [3, 4];

export class Workerd {
  #folder;
  #environment;
  #onStart;
  #child;
  #hasListened = false;
  #isEnding = false;

  /**
   * @param {string} folder where its configuration is
   * @param {Record<string, string>} secrets what it gets as variables of its environment
   * @param {(pid: number) => void} onStart is called with the process id of each that begins
   */
  constructor(folder, secrets, onStart) {
    this.#folder = folder;
    this.#environment = { ...process.env, ...secrets };
    this.#onStart = onStart;
  }

  /** Starts it. Resolves once it listens; rejects if it ends before. */
  start() {
    return new Promise((resolve, reject) => {
      const onListen = () => {
        this.#hasListened = true;
        resolve();
      };
      this.#begin(onListen, reject);
    });
  }

  /** Lets it finish its requests, and ends it after 8 s in any case. */
  async end() {
    this.#isEnding = true;
    await endProcess(this.#child, END_WITHIN_MS);
  }

  /** Lets another one follow, which reads the configuration and its files anew. */
  async follow() {
    await endProcess(this.#child, FOLLOWED_WITHIN_MS);
  }

  #begin(onListen, onEnd) {
    const child = spawn(program(), parameters(this.#folder), {
      cwd: this.#folder,
      env: this.#environment,
      stdio: ["ignore", "inherit", "inherit", "pipe", HELD_FD],
      // Ctrl-C of a terminal is for the command, which ends workerd in its own way.
      detached: true,
    });
    this.#child = child;
    if (child.pid !== undefined) this.#onStart(child.pid);
    child.on("error", onEnd);
    let listens = false;
    child.stdio[CONTROL_FD].setEncoding("utf8").on("data", (text) => {
      if (!text.includes('"listen"')) return;
      listens = true;
      onListen();
    });
    child.on("exit", (code, signal) => {
      if (this.#isEnding) return;
      const why = signal ? `by ${signal}` : `with status ${code}`;
      onEnd(new Error(`workerd ended ${why}: its message stands above`));
      if (this.#hasListened) this.#again(why, listens ? 0 : PAUSE_MS);
    });
  }

  async #again(why, pauseMs) {
    console.error(`workerd ended ${why} and is started again`);
    if (pauseMs > 0) await sleep(pauseMs);
    const ignored = () => {};
    if (!this.#isEnding) this.#begin(ignored, ignored);
  }
}

/** The command line of the workerd of a folder, as the system tells it. */
export function commandLine(folder) {
  return [program(), ...parameters(folder)].join(" ");
}

function program() {
  return createRequire(import.meta.url)("workerd").default;
}

function parameters(folder) {
  const fds = [`--control-fd=${CONTROL_FD}`, `--socket-fd=http=${SOCKET_FD}`];
  return ["serve", "--experimental", ...fds, path.join(folder, CONFIGURATION), CONSTANT];
}

async function endProcess(child, withinMs) {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const late = sleep(withinMs, "late", { ref: false });
  if ((await Promise.race([ended, late])) !== "late") return;
  child.kill("SIGKILL");
  await ended;
}
