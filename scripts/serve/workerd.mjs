// Runs one workerd: starts it, starts it again whenever it ends by itself, and ends it well. The
// socket is held by this process, so that visitors wait while there is no workerd.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { CONFIGURATION, CONSTANT } from "./configuration.mjs";

/** How long workerd may take to finish the requests that it has, in milliseconds. */
export const END_WITHIN_MS = 8_000;
/** The pauses before one is started again that did not serve: the first, and the longest, in ms. */
const [PAUSE_MS, PAUSE_MAX_MS] = [500, 5_000];
/** What this process holds the socket as, and what workerd gets: the way to tell us, the socket. */
export const HELD_FD = 3;
const [CONTROL_FD, SOCKET_FD] = [3, 4];

export class Workerd {
  /** The port at which the others of its cluster reach it; `undefined` while it does not listen. */
  clusterPort;
  #started;
  #child;
  #hasListened = false;
  #isEnding = false;
  #pauseMs = PAUSE_MS;

  /**
   * @param {object} started
   * @param {string} started.folder where its configuration is
   * @param {string[]} started.parameters what it gets besides
   * @param {Record<string, string>} started.environment its variables
   * @param {string} started.name what it is called where it is told of
   * @param {() => void} started.onStart is called when one begins
   */
  constructor(started) {
    this.#started = started;
  }

  /** The process that runs now, or ran last. */
  get pid() {
    return this.#child?.pid;
  }

  get name() {
    return this.#started.name;
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

  /** Lets it finish its requests, and ends it after so many milliseconds in any case. */
  async end(withinMs) {
    this.#isEnding = true;
    await endProcess(this.#child, withinMs);
  }

  /** Lets another one follow, which reads the configuration and its files anew. */
  async follow(withinMs) {
    await endProcess(this.#child, withinMs);
  }

  /** Ends one that does not answer; another one follows. */
  kill() {
    this.#child?.kill("SIGKILL");
  }

  #begin(onListen, onEnd) {
    const { folder, environment, name, onStart } = this.#started;
    const child = spawn(program(), this.#parameters(), {
      cwd: folder,
      env: environment,
      stdio: ["ignore", "inherit", "inherit", "pipe", HELD_FD],
      // Ctrl-C of a terminal is for the command, which ends workerd in its own way.
      detached: true,
    });
    this.#child = child;
    if (child.pid !== undefined) onStart();
    child.on("error", onEnd);
    let listens = false;
    child.stdio[CONTROL_FD].setEncoding("utf8").on("data", (text) => {
      const port = /"listen-cluster","port":(\d+)/.exec(text)?.[1];
      if (port && this.#child === child) this.clusterPort = Number(port);
      if (!text.includes('"listen"')) return;
      listens = true;
      onListen();
    });
    child.on("exit", (code, signal) => {
      this.clusterPort = undefined;
      if (this.#isEnding) return;
      const why = signal ? `by ${signal}` : `with status ${code}`;
      onEnd(new Error(`${name} ended ${why}: its message stands above`));
      if (this.#hasListened) this.#again(why, listens);
    });
  }

  async #again(why, hasServed) {
    console.error(`${this.name} ended ${why} and is started again`);
    if (hasServed) this.#pauseMs = PAUSE_MS;
    else {
      await sleep(this.#pauseMs);
      this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MAX_MS);
    }
    const ignored = () => {};
    if (!this.#isEnding) this.#begin(ignored, ignored);
  }

  #parameters() {
    const { folder, parameters } = this.#started;
    const fds = [`--control-fd=${CONTROL_FD}`, `--socket-fd=http=${SOCKET_FD}`];
    const configuration = [path.join(folder, CONFIGURATION), CONSTANT];
    return ["serve", "--experimental", ...fds, ...parameters, ...configuration];
  }
}

/** Whether a command line, as the system tells it, is that of a workerd of a folder. */
export function isOfFolder(commandLine, folder) {
  const configuration = ` ${path.join(folder, CONFIGURATION)} ${CONSTANT}`;
  return commandLine.startsWith(program()) && commandLine.includes(configuration);
}

function program() {
  return createRequire(import.meta.url)("workerd").default;
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
