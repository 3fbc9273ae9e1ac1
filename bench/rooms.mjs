/**
 * The rooms of the benchmark: twenty on one host, of which three are visited. Every request goes to
 * the origin's own address, so the Workers need nothing in between to find it.
 */

import { RARE_CHECK_INS, room } from "../tests/harness/rooms.mjs";

/** The host of all rooms; the port of the origin is no part of it. */
export const HOST = "127.0.0.1";
/** Rooms on the host, and the peers' integrations: as many as a large shop may have. */
export const COUNT = 20;
/** Where in the list the room stands whose admitted visitors are compared, counted from 0. */
export const OPEN_AT = 13;

/** The longest session there is, for the widest activity bucket. */
const SESSION_MINUTES = 30;
/** The width of that bucket, a 300th: a ticket stays the same until it is over. */
export const BUCKET_MS = 6_000;

/** Everybody enters. */
export const OPEN = named("open", { total_active_users: 100_000 });
/** One visitor enters; those who wait may come back after 54 s at the earliest. */
export const SLOW = named("slow", { total_active_users: 1, ...RARE_CHECK_INS });
/** One visitor enters; those who wait may come back after 4 to 6 s. */
export const QUICK = named("quick", {
  total_active_users: 1,
  refresh_interval_seconds: 5,
  near_head_refresh_interval_seconds: 5,
});

/** What `rooms.json` holds. */
export const ROOMS = Array.from({ length: COUNT }, (_, at) => {
  if (at === OPEN_AT) return OPEN;
  if (at === OPEN_AT + 1) return SLOW;
  if (at === OPEN_AT + 2) return QUICK;
  return named(`room-${at}`, {});
});

/** As many rooms, those above among them; the others on hosts that nobody visits. */
export function many(count) {
  const more = Array.from({ length: Math.max(0, count - COUNT) }, (_, at) =>
    room({ name: `more-${at}` }),
  );
  return [...ROOMS, ...more];
}

function named(name, fields) {
  const place = { name, host: HOST, path: `/${name}` };
  return room({ ...place, session_duration: SESSION_MINUTES, ...fields });
}
