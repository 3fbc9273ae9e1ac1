/**
 * What the platform asks for, and the one place that says so. Paid plan of Workers, United States
 * dollars, without tax.
 */

/** When the pages were read last. */
export const READ_AT = "November 2026";

const WORKERS = "https://developers.cloudflare.com/workers/platform/pricing/";
const OBJECTS = "https://developers.cloudflare.com/durable-objects/platform/pricing/";

/** The plan itself, for a month. */
export const PLAN_USD = 5;

/** An object that is awake is billed for so much memory, in GB, however much it uses. */
export const OBJECT_GB = 0.128;

/**
 * What is counted, each with what a month of the plan includes, and the price of a million beyond
 * that.
 */
export const PRICES = {
  /** Requests that reach the Worker. */
  requests: { included: 10e6, usdPerMillion: 0.3, source: WORKERS },
  cpuMs: { included: 30e6, usdPerMillion: 0.02, source: WORKERS },
  /** Calls of objects, those of the registry too. */
  calls: { included: 1e6, usdPerMillion: 0.15, source: OBJECTS },
  /** GB-seconds in which objects are awake. */
  objectTime: { included: 0.4e6, usdPerMillion: 12.5, source: OBJECTS },
  /** Rows that objects write: each value of theirs is one. */
  rows: { included: 50e6, usdPerMillion: 1, source: OBJECTS },
  /** Events in the log. */
  logs: { included: 20e6, usdPerMillion: 0.6, source: WORKERS },
};
