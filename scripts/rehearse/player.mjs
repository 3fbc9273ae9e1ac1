// Plays plans in the simulator's module, each on a thread of its own, and tells how far they are.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";

import { ROOT } from "../modules.mjs";

const MODULE = path.join(ROOT, "build", "rehearsal", "rehearsal_bg.wasm");
const THREAD = path.join(import.meta.dirname, "thread.mjs");

/** True if the simulator is built. */
export const isBuilt = () => fs.existsSync(MODULE);

/**
 * Plays plans side by side, as many at once as are allowed.
 *
 * @param {object[]} plans
 * @param {object} [options]
 * @param {number} [options.threads]
 * @param {(part: number) => void} [options.onProgress] hears which part of all is done, 0 to 1
 * @returns {Promise<object[]>} their outcomes, in the order of the plans
 * @throws {PlanError} if one is not understood
 */
export async function play(plans, options = {}) {
  const { threads = os.availableParallelism(), onProgress = () => {} } = options;
  const parts = plans.map(() => 0);
  const outcomes = [];
  let next = 0;
  const lane = async () => {
    for (let at; (at = next) < plans.length;) {
      next += 1;
      outcomes[at] = await askThread({ plan: plans[at] }, (part) => {
        parts[at] = part;
        onProgress(parts.reduce((sum, one) => sum + one, 0) / plans.length);
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, plans.length) }, lane));
  return outcomes;
}

/** What is wrong with a plan: a line for each field. */
export class PlanError extends Error {}

/** Asks a thread; resolves with what it answers. */
function askThread({ plan, onlyCheck = false }, onProgress) {
  const bytes = fs.readFileSync(MODULE);
  return new Promise((resolve, reject) => {
    const workerData = { bytes, onlyCheck, plan: JSON.stringify(plan) };
    const thread = new Worker(THREAD, { workerData });
    thread.on("error", reject);
    thread.on("message", ({ part, expected, outcome, wrong }) => {
      if (part !== undefined) onProgress(part);
      if (expected !== undefined) resolve(expected);
      if (outcome) resolve(JSON.parse(outcome));
      if (wrong) reject(new PlanError(wrong));
    });
    thread.on("exit", (code) => reject(new Error(`the simulator ended with ${code}`)));
  });
}

/** How many visitors a plan expects. Throws `PlanError` as `play` does. */
export async function expectedBy(plan) {
  return askThread({ plan, onlyCheck: true }, () => {});
}
