/**
 * Runs the doctor against a cluster: its questions reach one isolate after the other, as those of
 * an owner do who asks often enough.
 */

import { Admin } from "../../scripts/doctor/admin.mjs";
import { measured } from "../../scripts/doctor/measure.mjs";
import { isThisMachine } from "../../scripts/doctor/options.mjs";
import { judged } from "../../scripts/doctor/verdicts.mjs";
import { SECRETS } from "./deployment.mjs";

/**
 * Asks the Worker on `host` and returns what was measured, and the lines about it.
 *
 * @param {object} cluster
 * @param {object} [given] options of `doctorOptions`, and the `host`
 */
export async function examine(cluster, { host = "localhost", ...given } = {}) {
  const options = {
    address: new URL(`https://${host}`),
    isLocal: isThisMachine(host),
    liveAddress: "the cluster",
    token: SECRETS.API_TOKEN,
    requests: 2 * cluster.isolates.length,
    rooms: 5,
    ...given,
  };
  let turn = 0;
  const ask = (url, { method, headers } = {}) => {
    const { name } = cluster.isolates[turn++ % cluster.isolates.length];
    const path = url.pathname + url.search;
    return cluster.send(name, { host: url.host, path, method, headers });
  };
  const admin = new Admin(options, ask, () => cluster.clock.now());
  const facts = await measured({ admin, ask, options });
  return { facts, lines: judged(facts) };
}

/** The line about something; fails if there is none. */
export function lineAbout(lines, what) {
  const found = lines.find((line) => line.what.startsWith(what));
  if (!found) throw new Error(`no line about ${what} in ${lines.map((line) => line.what)}`);
  return found;
}
