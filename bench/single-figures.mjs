/**
 * What the benchmark tells beside its ratios, each figure as { text, held }. Times of one request
 * differ by half from run to run; they are printed and guard nothing.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { WASM_GZIP_KB_MAX, wasmWeight } from "../scripts/budget.mjs";
import { CONNECTIONS } from "./rounds.mjs";

const CAPACITY_MS = 500;
/** Visits of each kind whose object calls are counted. */
const QUIET_VISITS = 2_000;
/** Longer than the pauses between two reports. */
const QUIET_MS = 3_000;
/** So many times they are counted, unless there is none. */
const QUIET_REPEATS = 3;
/** Whoever still asks after as many waits counts as asking without need. */
const QUIET_TRIES = 8;

/** What load generator and origin can do without a Worker between them. */
export async function capacity({ load, visitors, originPort: port }) {
  const job = { port, requests: visitors.newcomer(), connections: CONNECTIONS };
  const { requests, elapsedMs } = await load.ask({ ...job, durationMs: CAPACITY_MS });
  const perSecond = Math.round((requests / elapsedMs) * 1_000);
  return { text: `load generator straight to the origin: ${perSecond} req/s`, held: true };
}

/** Object calls of the visitors' isolate during visits that need none. */
export async function objectCalls({ load, visitors, services, asked }) {
  const kinds = [await visitors.unchanged(5 * QUIET_MS), await visitors.early()];
  await quiet(asked);
  const duringVisits = async () => {
    const before = await asked();
    for (const requests of kinds) {
      const job = { port: services.ports["waiting-room"], requests, connections: CONNECTIONS };
      await load.ask({ ...job, count: QUIET_VISITS });
    }
    return (await asked()) - before;
  };
  // A calm room reports up to half a minute after a visit: what the visits themselves call for
  // would be called for each time.
  let calls = await duringVisits();
  for (let more = 1; calls > 0 && more < QUIET_REPEATS; more += 1) {
    calls = Math.min(calls, await duringVisits());
  }
  const visits = kinds.length * QUIET_VISITS;
  return {
    text: `object calls in ${visits} visits, unchanged ticket or not due: ${calls} (must be 0)`,
    held: calls === 0,
  };
}

/** The size that every fresh isolate has to load. */
export function wasmSize() {
  const { gzipKb } = wasmWeight();
  const held = gzipKb <= WASM_GZIP_KB_MAX;
  return { text: `wasm: ${gzipKb} KB gzip (at most ${WASM_GZIP_KB_MAX})`, held };
}

/** Waits until the reports of those who arrived are all sent. */
async function quiet(asked) {
  for (let last = -1, tries = 0; tries < QUIET_TRIES; tries += 1) {
    const now = await asked();
    if (now === last) return;
    last = now;
    await sleep(QUIET_MS);
  }
}
