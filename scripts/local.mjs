// What the local deployment is: its address, its room, its token. Read from the checked-in files.
import fs from "node:fs";

import { PORT } from "./port.mjs";
import { stop } from "./stop.mjs";

/** The first room of rooms.json: the one that `npm start` shows; `undefined` if there is none. */
export function demoRoom() {
  try {
    return JSON.parse(fs.readFileSync("rooms.json", "utf8"))[0];
  } catch (error) {
    stop(`rooms.json cannot be read: ${error.message}`);
  }
}

/** The local Worker of itself: a `reason` if it can serve nobody. Throws while it is silent. */
export async function health() {
  const answer = await fetch(`http://localhost:${PORT}/_waiting-room/health`, {
    signal: AbortSignal.timeout(2_000),
  });
  return answer.json();
}

/** Every address under which a browser on this machine finds the room. */
export function addresses({ host, path = "/", additional_routes: routes = [] }) {
  return [{ host, path }, ...routes]
    .filter((route) => route.host === "localhost" || route.host.endsWith(".localhost"))
    .map((route) => `http://${route.host}:${PORT}${route.path ?? "/"}`);
}

/** A room as the API gives it now, with its status; `undefined` if it gives none. */
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

/** The token of local development, if there is one. */
export function apiToken() {
  if (!fs.existsSync(".dev.vars")) return undefined;
  return /^API_TOKEN="?([^"\n]*)/m.exec(fs.readFileSync(".dev.vars", "utf8"))?.[1];
}
