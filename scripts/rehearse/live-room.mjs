// The room of a rehearsal against a running Worker: it is made, opened and removed again, and named
// if it could not be removed.
import { randomBytes } from "node:crypto";

/** The name of each room that is made begins so. */
const NAME = "rehearsal_";
/** How often a change of the room is tried, and how long after each other, in milliseconds. */
const TRIES = 3;
const AGAIN_MS = 5_000;

/**
 * Makes a room with a path of its own at this site.
 *
 * @param {object} options those of `playLive`
 * @returns {Promise<{ path: string, open: () => Promise<string | undefined>,
 *   remove: () => Promise<object | undefined> }>} `open` resolves with why it could not be done,
 *   `remove` then with what `leftText` takes
 */
export async function roomFor({ api, site, plan, opensAtS }, sleep) {
  const zone = await zoneOf(site, api);
  // Its visitors click on nothing.
  const { confirm_turn_minutes: _, ...planned } = plan.room;
  const room = await api("POST", `zones/${zone}/waiting_rooms`, {
    ...planned,
    name: `${NAME}${randomBytes(6).toString("hex")}`,
    description: "Made by a rehearsal, and removed at its end",
    host: new URL(site).hostname,
    path: `/waiting-room-rehearsal-${randomBytes(6).toString("hex")}`,
    json_response_enabled: true,
    queue_all: opensAtS > 0,
  });
  const place = `zones/${zone}/waiting_rooms/${room.id}`;
  const remove = () => api("DELETE", place).catch(unlessGone);
  return {
    path: room.path,
    open: () => insisted(() => api("PATCH", place, { queue_all: false }), sleep),
    remove: async () => {
      const why = await insisted(remove, sleep);
      return why && { name: room.name, path: room.path, address: `${api.addressOf(place)}`, why };
    },
  };
}

/** Says which room is left, and how to remove it. */
export function leftText({ name, path, address, why }) {
  return (
    `the room ${name} could not be removed, and still covers ${path}: ${why}\n` +
    "  Remove it as soon as the Worker answers: in the cockpit with *Delete room*, or with\n" +
    `  curl -X DELETE -H "Authorization: Bearer $API_TOKEN" ${address}`
  );
}

/** The zone of the rooms of this host: a token that can list them may use this host. */
async function zoneOf(site, api) {
  const { hostname } = new URL(site);
  const rooms = await api("GET", "waiting_rooms/file");
  const own = rooms.find(({ host, additional_routes: more = [] }) =>
    [host, ...more.map((route) => route.host)].includes(hostname),
  );
  if (own) return own.zone_id;
  throw new Error(`no room of this Worker covers ${hostname}: it rehearses no site but its own`);
}

/** A request whose answer was lost may have removed it. */
function unlessGone(error) {
  if (error.status !== 404) throw error;
}

/** Asks some times; resolves with what was wrong the last time if none succeeded. */
async function insisted(ask, sleep) {
  for (let tried = 1; ; tried += 1) {
    try {
      await ask();
      return;
    } catch (error) {
      if (tried === TRIES) return error.message;
    }
    await sleep(AGAIN_MS);
  }
}
