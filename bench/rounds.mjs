/**
 * The protocol: rounds in which every variant runs once, in shuffled order, with the reference
 * before and after each. Machines drift; a ratio to both neighbours drifts less.
 */

import { mean } from "../tests/harness/statistics.mjs";
import { cpuMs } from "../tests/harness/workerd-process.mjs";
import { PASS_THROUGH, REFERENCE } from "./variants.mjs";

/** Requests under way at the same time. */
export const CONNECTIONS = 16;

/**
 * @param {object} bench what `main.mjs` started
 * @param {object[]} variants
 * @param {object} options
 * @param {number} options.rounds
 * @param {number} options.runMs
 * @param {(round: number) => void} options.progress
 * @returns {Promise<Map<string, object[]>>} by name: what each round measured, and the ratios
 */
export async function playRounds(bench, variants, { rounds, runMs, progress }) {
  const samples = new Map([[REFERENCE, []], ...variants.map(({ name }) => [name, []])]);
  // Nobody is measured cold.
  for (const variant of [PASS_THROUGH, ...variants]) await measure(bench, variant, runMs);
  let before = await measure(bench, PASS_THROUGH, runMs);
  samples.get(REFERENCE).push(before);
  for (let round = 0; round < rounds; round += 1) {
    progress(round);
    for (const variant of shuffled(variants)) {
      const sample = await measure(bench, variant, runMs);
      const after = await measure(bench, PASS_THROUGH, runMs);
      samples.get(REFERENCE).push(after);
      samples.get(variant.name).push({
        ...sample,
        throughput: sample.perSecond / mean([before.perSecond, after.perSecond]),
        cpu: sample.cpuUs / mean([before.cpuUs, after.cpuUs]),
      });
      before = after;
    }
  }
  progress(rounds);
  return samples;
}

/** The samples of a play, and of a second one of some of its variants, as if they were one. */
export function joined(first, second) {
  return new Map(
    [...first].map(([name, samples]) => [name, [...samples, ...(second.get(name) ?? [])]]),
  );
}

/** One run of one variant, whose answers must be what they are said to be. */
async function measure(bench, variant, runMs) {
  const requests = await variant.requests(bench.visitors, 2 * runMs);
  const arrivedBefore = (await bench.origin.ask({})).count;
  const cpuBefore = cpuMs(bench.services.pid);
  const port = bench.services.ports[variant.service];
  const job = { port, requests, connections: CONNECTIONS, durationMs: runMs };
  const answers = await bench.load.ask(job);
  const cpu = cpuMs(bench.services.pid) - cpuBefore;
  const arrived = (await bench.origin.ask({})).count - arrivedBefore;
  check(variant, answers, arrived);
  return {
    perSecond: (answers.requests / answers.elapsedMs) * 1_000,
    cpuUs: (cpu / answers.requests) * 1_000,
    bodyBytes: answers.bodyBytes / answers.requests,
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
