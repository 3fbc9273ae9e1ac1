// What the local deployment is: its address, its room, its token. Read from the checked-in files.
import fs from "node:fs";

export const PORT = Number(process.env.PORT ?? 8787);

/** The first room of rooms.json: the one that `npm start` shows. */
export function demoRoom() {
  const [room] = JSON.parse(fs.readFileSync("rooms.json", "utf8"));
  return room;
}

/** Every address under which a browser on this machine finds the room. */
export function addresses({ host, path = "/", additional_routes: routes = [] }) {
  return [{ host, path }, ...routes]
    .filter((route) => route.host === "localhost" || route.host.endsWith(".localhost"))
    .map((route) => `http://${route.host}:${PORT}${route.path ?? "/"}`);
}

/** The room's status as the management surface gives it, or `undefined` if it gives none now. */
export async function roomStatus({ id, zone_id: zone }) {
  const path = `/_waiting-room/client/v4/zones/${zone}/waiting_rooms/${id}/status`;
  try {
    const response = await fetch(`http://localhost:${PORT}${path}`, {
      headers: { authorization: `Bearer ${apiToken()}` },
      signal: AbortSignal.timeout(2_000),
    });
    return response.ok ? (await response.json()).result : undefined;
  } catch {
    return undefined;
  }
}

function apiToken() {
  return /^API_TOKEN="?([^"\n]*)/m.exec(fs.readFileSync(".dev.vars", "utf8"))?.[1];
}
