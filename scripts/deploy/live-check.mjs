// Asks what is deployed whether it works: health, the API with and without its token, and the site
// itself. A new host gets its address and certificate within minutes, so it asks with patience.
import { setTimeout as sleep } from "node:timers/promises";

import { askHost, parsed } from "../ask-host.mjs";
import { accessHeaders } from "../token.mjs";

const API = "/_waiting-room/client/v4";
const PAUSE_MS = 3_000;
const COOKIE = "__cfwaitingroom";

/**
 * Checks until all is well or `patience` (seconds) is over. Returns "" or what is wrong.
 *
 * @param {object} deployed
 * @param {object} deployed.settings the answers of the owner
 * @param {string} deployed.token the API token
 * @param {string} [deployed.liveAddress] where to connect instead of the hosts themselves
 */
export function liveCheck(deployed, patience) {
  return patiently(() => attempt(deployed), patience);
}

/**
 * Tries until nothing is wrong or `patience` (seconds) is over. Returns "" or what is wrong.
 *
 * @param {() => Promise<string>} attempt
 */
export async function patiently(attempt, patience) {
  const deadline = Date.now() + patience * 1_000;
  let told = "";
  for (;;) {
    const problem = await attempt().catch((error) => error.message);
    if (!problem || Date.now() > deadline) return problem;
    if (problem !== told) console.log(`  Not yet: ${problem}`);
    told = problem;
    await sleep(Math.min(PAUSE_MS, Math.max(deadline - Date.now(), 0) + 1));
  }
}

async function attempt({ settings: { host, adminHost, zone }, token, liveAddress }) {
  const ask = (name, path, headers) => {
    const ofAccess = name === adminHost ? accessHeaders({ protocol: "https:" }) : {};
    return answerOf(liveAddress, name, path, { ...ofAccess, ...headers });
  };
  const { problem, rooms } = await managedRooms(ask, { adminHost, zone }, token);
  if (problem) return problem;
  const room = roomOf(host, rooms);
  if (!room) return "";
  const site = await ask(host, room.path);
  const cookies = site.headers["set-cookie"] ?? [];
  if (cookies.some((cookie) => cookie.startsWith(COOKIE))) return "";
  return (
    `https://${host}${room.path} answers ${site.status} without the room's cookie: is its DNS ` +
    "record proxied (orange cloud), and does no rule or other Worker answer before?"
  );
}

/** The room that visitors of a host meet first; `undefined` if there is none. */
export function roomOf(host, rooms) {
  return rooms.find((one) => one.host === host && !one.suspended);
}

/**
 * Asks health, and the API with and without its token: `rooms`, or the `problem`.
 *
 * @param {(host: string, path: string, headers?: object) => Promise<object>} ask
 */
export async function managedRooms(ask, { adminHost, zone }, token) {
  const ill = illness(await ask(adminHost, "/_waiting-room/health"), adminHost);
  if (ill) return { problem: ill };
  const path = `${API}/zones/${zone.id}/waiting_rooms`;
  // With no token rather than none at all: else somebody whom Cloudflare Access signs in may ask.
  const { status } = await ask(adminHost, path, { authorization: "Bearer" });
  if (status !== 403) return { problem: `the API answers ${status} without a token, not 403` };
  const owner = await ask(adminHost, path, { authorization: `Bearer ${token}` });
  if (owner.status !== 200) return { problem: `the API answers ${owner.status} with the token` };
  return { rooms: parsed(owner.body)?.result ?? [] };
}

/** What health says is wrong, "" for nothing. */
function illness({ status, body }, adminHost) {
  const told = parsed(body);
  if (told?.reason) {
    const isServed = told.status === "last_good";
    return `${isServed ? "the last good deployment serves" : "nobody is served"}: ${told.reason}`;
  }
  if (status !== 200 || told?.status !== "ok") {
    return `${adminHost} answers ${status}, not the waiting room`;
  }
  for (const note of told.notes ?? []) console.log(`  Note: ${note}`);
  return "";
}

function answerOf(liveAddress, host, path, headers = {}) {
  return askHost(new URL(`https://${host}${path}`), { headers, liveAddress });
}
