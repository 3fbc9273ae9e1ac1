// Plays plans in the simulator's module, each on a thread of its own, and tells how far they are.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";

import { ROOT } from "../modules.mjs";
import { playBy, take } from "./lanes.mjs";

const MODULE = path.join(ROOT, "build", "rehearsal", "rehearsal_bg.wasm");
const THREAD = path.join(import.meta.dirname, "thread.mjs");

/** True if the simulator is built. */
export const isBuilt = () => fs.existsSync(MODULE);

/** Plays plans as `playBy` does, on as many threads as there are processors unless told. */
export async function play(plans, options = {}) {
  return playBy(askThread, plans, { threads: os.availableParallelism(), ...options });
}

/** How many `visitors` a plan expects, and how many are `played`. Throws as `play` does. */
export async function expectedBy(plan) {
  return askThread({ plan, onlyCheck: true });
}

/** Asks a thread; resolves with what it answers. */
function askThread(question, onPart) {
  const bytes = fs.readFileSync(MODULE);
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, { workerData: { bytes, ...question } });
    thread.on("error", reject);
    thread.on("message", (message) => take(message, { resolve, reject, onPart }));
    thread.on("exit", (code) => reject(new Error(`the simulator ended with ${code}`)));
  });
}
