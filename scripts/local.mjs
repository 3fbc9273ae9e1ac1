// Facts about the local deployment: its addresses, its room, its token, and what its API says now.
import fs from "node:fs";
import util from "node:util";

import { PORT } from "./port.mjs";
import { stop } from "./stop.mjs";

/** Reads the first room of rooms.json, which `npm start` shows; `undefined` if there is none. */
export function demoRoom() {
  try {
    return JSON.parse(fs.readFileSync("rooms.json", "utf8"))[0];
  } catch (error) {
    stop(`rooms.json cannot be read: ${error.message}`);
  }
}

/**
 * Asks the local Worker for its health: `{ status, reason, notes }`, with a `reason` if it can
 * serve nobody. Throws while it does not answer.
 */
export async function health() {
  const answer = await fetch(`http://localhost:${PORT}/_waiting-room/health`, {
    signal: AbortSignal.timeout(2_000),
  });
  return answer.json();
}

/** Lists every address under which a browser on this machine finds the room. */
export function addresses({ host, path = "/", additional_routes: routes = [] }) {
  return [{ host, path }, ...routes]
    .filter((route) => route.host === "localhost" || route.host.endsWith(".localhost"))
    .map((route) => `http://${route.host}:${PORT}${route.path ?? "/"}`);
}

/** Asks the API for a room and its status, in one object; `undefined` if either call fails. */
export async function roomNow({ id, zone_id: zone }) {
  const path = `zones/${zone}/waiting_rooms/${id}`;
  try {
    const [room, status] = await Promise.all([result(path), result(`${path}/status`)]);
    return { ...room, ...status };
  } catch {
    return undefined;
  }
}

async function result(path) {
  const response = await fetch(`http://localhost:${PORT}/_waiting-room/client/v4/${path}`, {
    headers: { authorization: `Bearer ${apiToken()}` },
    signal: AbortSignal.timeout(2_000),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()).result;
}

/** Returns the text of .dev.vars: the secrets of .dev.vars.example that local development needs. */
export function localSecrets() {
  const example = fs.readFileSync(".dev.vars.example", "utf8");
  return example.replaceAll(/^# (?=(?:API_TOKEN|TICKET_KEYS)=)/gm, "");
}

/** Reads the API token of local development from .dev.vars; `undefined` if there is none. */
export function apiToken() {
  if (!fs.existsSync(".dev.vars")) return undefined;
  return util.parseEnv(fs.readFileSync(".dev.vars", "utf8")).API_TOKEN;
}
