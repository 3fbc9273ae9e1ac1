/**
 * What the benchmark tells beside its ratios, each figure as { text, held }. Times of one request
 * differ by half from run to run; they are printed and guard nothing.
 */

import { wasmWeights } from "../scripts/budget.mjs";
import { CONNECTIONS } from "./rounds.mjs";

const CAPACITY_MS = 500;
/**
 * Visits of each kind whose object calls are counted: so many that a slow machine too is done with
 * them before a full room asks for its next view, which it does every 2 s.
 */
const QUIET_VISITS = 500;
/** Longer than the visits of one count take, and so short that a bucket has several counts. */
const VISITS_MS = 2_000;
/** Longer than any visit's report takes to be sent. */
const REPORTS_MS = 35_000;

/** What load generator and origin can do without a Worker between them. */
export async function capacity({ load, visitors, originPort: port }) {
  const job = { port, requests: visitors.newcomer(), connections: CONNECTIONS };
  const { requests, elapsedMs } = await load.ask({ ...job, durationMs: CAPACITY_MS });
  const perSecond = Math.round((requests / elapsedMs) * 1_000);
  return { text: `load generator straight to the origin: ${perSecond} req/s`, held: true };
}

/**
 * Calls that reach the objects of rooms during visits that need none. A calm room reports a visit
 * up to half a minute later, so what earlier visits have left may fall into one count or two of
 * them, and so does the next view of a full room; a call for one of these visits falls into every
 * one. The registry is asked by the clock, not by visits, and is left out.
 */
export async function objectCalls({ load, visitors, services, roomCalls }) {
  const counts = [];
  // Once: whoever joins the line is reported.
  const waiting = await visitors.early();
  for (const began = Date.now(); Date.now() - began < REPORTS_MS && !counts.includes(0); ) {
    const kinds = [await visitors.unchanged(VISITS_MS), waiting];
    const before = await roomCalls();
    for (const requests of kinds) {
      const job = { port: services.ports["waiting-room"], requests, connections: CONNECTIONS };
      await load.ask({ ...job, count: QUIET_VISITS });
    }
    counts.push((await roomCalls()) - before);
  }
  const calls = Math.min(...counts);
  const visits = 2 * QUIET_VISITS;
  const earlier = `; in ${counts.length - 1} counts before, reports of earlier visits: `;
  const rest = counts.length > 1 ? earlier + counts.slice(0, -1).join(", ") : "";
  const what = `object calls in ${visits} visits, unchanged ticket or not due`;
  return {
    text: `${what}: ${calls} (must be 0)${rest}`,
    held: calls === 0,
  };
}

/** The sizes of what every fresh isolate has to load, and of what is loaded when it is needed. */
export function wasmSize() {
  const { lines, held } = wasmWeights();
  return { text: lines.join("; "), held };
}
