/**
 * The protocol: cycles in which every Worker, the pass-through among them, serves one short slice
 * of requests, in shuffled order, and the CPU time of the process is read around each slice.
 *
 * All have the same number of slices: whoever runs more often has warmer code and caches, and a
 * pass-through between any two others came out 15 % faster than a copy of itself.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { cpuNs } from "../tests/harness/workerd-process.mjs";
import { PASS_THROUGH } from "./variants.mjs";

/** Requests under way at the same time. */
export const CONNECTIONS = 16;
/** Requests of a slice: some 50 ms of CPU, shorter than most of what else happens on a machine. */
const REQUESTS = 250;
/** Slices of each before anything is measured. */
const WARM_CYCLES = 6;
/** In which workerd ends what is left to do after the last answer of a slice. */
const SETTLE_MS = 3;
/** Longer than a slice takes on a busy machine: within this time no ticket needs to be renewed. */
const SLICE_MAX_MS = 2_000;

/**
 * @param {object} bench what `main.mjs` started
 * @param {object[]} variants
 * @param {object} options
 * @param {number} options.seconds how long cycles are begun
 * @param {number} [options.count] requests of a slice
 * @param {(cycle: number) => void} options.progress
 * @returns {Promise<Map<string, object[]>>} by name: what each cycle measured, in the same order
 */
export async function playCycles(bench, variants, { seconds, progress, count = REQUESTS }) {
  const all = [PASS_THROUGH, ...variants];
  const samples = new Map(all.map(({ name }) => [name, []]));
  // Nobody is measured cold.
  for (let cycle = 0; cycle < WARM_CYCLES; cycle += 1) {
    for (const variant of all) await measure(bench, variant, count);
  }
  const end = performance.now() + seconds * 1_000;
  for (let cycle = 0; performance.now() < end; cycle += 1) {
    progress(cycle);
    for (const variant of shuffled(all)) {
      samples.get(variant.name).push(await measure(bench, variant, count));
    }
  }
  progress();
  return samples;
}

/** The samples of a play, and of a second one of some of its variants, as if they were one. */
export function joined(first, second) {
  const [[, one]] = second;
  const isWhole = (name) => second.has(name);
  return new Map(
    [...first].map(([name, samples]) => [
      name,
      // What was not measured again keeps its place in the cycles, with nothing in it.
      [...samples, ...(isWhole(name) ? second.get(name) : one.map(() => null))],
    ]),
  );
}

/** One slice of one variant, whose answers must be what they are said to be. */
async function measure({ visitors, origin, services, load }, variant, count) {
  const requests = await variant.requests(visitors, SLICE_MAX_MS, count);
  const arrivedBefore = (await origin.ask({})).count;
  const { service, connections = CONNECTIONS, from } = variant;
  const job = { port: services.ports[service], from, requests, connections, count, timed: true };
  const pids = services.pidsOf?.(service) ?? [services.pid];
  const usedBefore = pids.map(cpuNs);
  const answers = await load.ask(job);
  await sleep(SETTLE_MS);
  const usedUs = pids.map((pid, at) => (cpuNs(pid) - usedBefore[at]) / 1_000);
  const cpuUs = usedUs.reduce((sum, one) => sum + one, 0);
  const arrived = (await origin.ask({})).count - arrivedBefore;
  check(variant, answers, arrived);
  return {
    perSecond: (answers.requests / answers.elapsedMs) * 1_000,
    cpuUs: cpuUs / answers.requests,
    busiestShare: Math.max(...usedUs) / cpuUs,
    tookMs: answers.tookMs,
  };
}

function check({ title, answer, cookie }, answers, arrived) {
  const { requests, statuses, setCookies } = answers;
  const problems = [];
  if (statuses["200"] !== requests) problems.push(`statuses ${JSON.stringify(statuses)}`);
  const wantedCookies = cookie ? requests : 0;
  if (setCookies !== wantedCookies) problems.push(`${setCookies} cookies, not ${wantedCookies}`);
  const wantedArrivals = answer === "origin" ? requests : 0;
  if (arrived !== wantedArrivals) problems.push(`${arrived} at the origin, not ${wantedArrivals}`);
  if (problems.length === 0) return;
  throw new Error(`${title}, ${requests} requests: ${problems.join(", ")}`);
}

/** Fisher and Yates. */
export function shuffled(list) {
  const all = [...list];
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = Math.floor(Math.random() * (at + 1));
    [all[at], all[other]] = [all[other], all[at]];
  }
  return all;
}
