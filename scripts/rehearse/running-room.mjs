// A plan from a running Worker: a room, an event of it, and what the room has recorded.
import { apiOf } from "./api.mjs";
import { planOfRoom } from "./of-room.mjs";
import { pastOf } from "./past.mjs";

/**
 * The part of a plan that a running Worker knows: title, room, prequeue, shuffle, and with
 * `from-history` what the room has recorded.
 *
 * @param {object} options the flags
 */
export async function planOfRunning(options) {
  const api = apiOf(options.url);
  const rooms = await api("GET", "waiting_rooms/file");
  const room = oneOf(rooms, options.room, "room");
  const event = options.event && oneOf(room.events ?? [], options.event, "event");
  const plan = planOfRoom(room, event);
  if (!options["from-history"]) return plan;
  const range = ["from", "until"].filter((name) => options[name] !== undefined);
  const query = new URLSearchParams(range.map((name) => [name, options[name]]));
  query.set("resolution", "minute");
  const path = `zones/${room.zone_id}/waiting_rooms/${room.id}/history?${query}`;
  const past = pastOf(await api("GET", path));
  if (!past) {
    throw new Error(`${room.name} has recorded nothing then: choose it with --from and --until`);
  }
  return { ...plan, ...past };
}

function oneOf(all, wanted, kind) {
  const found = all.find(({ id, name }) => name === wanted || id === wanted);
  const names = all.map(({ name }) => name).join(", ") || "none";
  if (found) return found;
  throw new Error(`there is no ${kind} ${wanted}, but ${names}`);
}
