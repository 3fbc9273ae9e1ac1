// A plan from a running Worker: a room, an event of it, and what the room has recorded.
import { apiOf } from "./api.mjs";
import { pastOf } from "./past.mjs";

const MINUTE_MS = 60_000;
/** What a rehearsal needs of a room, as the API calls it. */
const ROOM_FIELDS = [
  "total_active_users",
  "new_users_per_minute",
  "session_duration",
  "disable_session_renewal",
  "queueing_method",
  "refresh_interval_seconds",
  "near_head_refresh_interval_seconds",
  "turn_kept_minutes",
  "turnstile_mode",
  "turnstile_action",
  "event_stream_enabled",
];
/** What an event sets anew of them. */
const EVENT_FIELDS = [
  "total_active_users",
  "new_users_per_minute",
  "session_duration",
  "disable_session_renewal",
  "queueing_method",
];

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
  const ofRoom = { title: room.name, room: picked(room, ROOM_FIELDS) };
  const plan = options.event
    ? withEvent(ofRoom, oneOf(room.events ?? [], options.event, "event"))
    : ofRoom;
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

function withEvent(plan, event) {
  const begins = Date.parse(event.prequeue_start_time ?? event.event_start_time);
  const prequeueMs = Date.parse(event.event_start_time) - begins;
  return {
    ...plan,
    title: `${event.name} of ${plan.title}`,
    begins_at: clockOf(begins),
    room: { ...plan.room, ...picked(event, EVENT_FIELDS) },
    prequeue_minutes: Math.round(prequeueMs / MINUTE_MS),
    shuffle_at_event_start: event.shuffle_at_event_start === true,
  };
}

function picked(from, names) {
  const known = names.filter((name) => from[name] !== undefined && from[name] !== null);
  return Object.fromEntries(known.map((name) => [name, from[name]]));
}

function clockOf(ms) {
  const at = new Date(ms);
  return [at.getHours(), at.getMinutes()].map((part) => `${part}`.padStart(2, "0")).join(":");
}
