/** From what was used in a month to what it costs. Pure: it measures nothing. */

import { OBJECT_GB, PLAN_USD, PRICES } from "./prices.mjs";

/** The platform's own examples reckon with months of 30 days. */
export const MONTH_S = 30 * 24 * 3_600;
/**
 * CPU time of a request, in milliseconds: rounded up from what `npm run bench` prints, since an
 * isolate that starts takes more.
 */
const CPU_MS_PER_REQUEST = 1;

/**
 * @typedef {object} Used
 * @property {number} requests
 * @property {number} calls of all objects, the registry among them
 * @property {number} awakeS all seconds in which an object was awake
 * @property {number} rows
 */

/** What a month costs in which everything goes on as in the `seconds` in which this was used. */
export function monthOf(used, seconds) {
  return Object.fromEntries(
    Object.entries(used).map(([name, count]) => [name, (count * MONTH_S) / seconds]),
  );
}

/**
 * The bill of a month, in USD, part by part.
 *
 * @param {Used} used
 * @returns {{ time: number, calls: number, requests: number, total: number, logs: number }} what
 *   the time of objects costs, their calls and rows, the requests with their CPU time, and all of
 *   it with the plan; besides, what it would cost to log each request and call
 */
export function bill(used) {
  const parts = partsOf(used, beyond);
  const total = PLAN_USD + parts.time + parts.calls + parts.requests;
  return { ...parts, total, logs: beyond("logs", used.requests + used.calls) };
}

/**
 * What the same costs, part by part, where everything that the plan includes is used up already:
 * an hour of a month, for example.
 *
 * @param {Used} used
 * @returns {{ time: number, calls: number, requests: number, total: number }}
 */
export function priced(used) {
  const parts = partsOf(used, (what, count) => (count / 1e6) * PRICES[what].usdPerMillion);
  return { ...parts, total: parts.time + parts.calls + parts.requests };
}

function partsOf({ requests, calls, awakeS, rows }, price) {
  return {
    time: price("objectTime", awakeS * OBJECT_GB),
    calls: price("calls", calls) + price("rows", rows),
    requests: price("requests", requests) + price("cpuMs", requests * CPU_MS_PER_REQUEST),
  };
}

/** The bill for the time of so many objects that never sleep, as all did when first built. */
export function neverAsleep(objects) {
  return beyond("objectTime", objects * MONTH_S * OBJECT_GB);
}

function beyond(what, count) {
  const { included, usdPerMillion } = PRICES[what];
  return (Math.max(0, count - included) / 1e6) * usdPerMillion;
}
