/**
 * The platform of an owner's machine in the workerd of the tests: with `TEST_PLATFORM=own` each
 * isolate has the entry of own machines behind a proxy that it trusts, the site is a binding, and
 * Cloudflare's properties of a request tell nothing. The configuration and the processes of
 * `npm run serve` are tested in `tests/own`.
 */

import path from "node:path";

import { ROOT } from "./worker-modules.mjs";

/** Whether the tests run on it. */
export const IS_OWN = process.env.TEST_PLATFORM === "own";
/** The peer of every connection: a proxy that tells the address where Cloudflare would. */
const PROXY = "127.0.0.1";
const VARS = { TRUSTED_PROXIES: PROXY, CLIENT_ADDRESS_HEADER: "cf-connecting-ip" };

/** What workerd tells of a connection there besides the data center; nothing on Cloudflare. */
export const CONNECTION = IS_OWN ? { clientIp: `${PROXY}:1` } : {};

/**
 * The options of a service there; none on Cloudflare, or if the test brings an entry of its own.
 *
 * @param {{ entry?: string }} worker
 * @param {string} origin the service that is the site
 * @param {string} [colo] the data center of an isolate
 * @returns {{ entry?: string, vars?: Record<string, string>, bound?: object }}
 */
export function ownPlatform({ entry }, origin, colo) {
  if (!IS_OWN || entry) return {};
  return {
    entry: path.join(ROOT, "src", "own_machines.js"),
    vars: { ...VARS, ...(colo && { DATA_CENTER: colo }) },
    bound: { serviceBindings: { ORIGIN: origin } },
  };
}
