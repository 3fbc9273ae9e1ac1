// What was done to a room and when, for the marks in its charts: its events, and changes by owners.
import { pathOf } from "./api.js";
import { describe } from "./changes.js";

/** The fields whose change can be seen in the numbers of a room. */
const SEEN = [
  "queue_all",
  "maintenance",
  "suspended",
  "queueing_method",
  "total_active_users",
  "new_users_per_minute",
  "session_duration",
];

/** Lists `{ at, text }` of what happened from `from` until `until`, in the order of time. */
export function marksOf({ room, log, events = [], from, until }) {
  const all = [...log.flatMap((entry) => ofChange(entry, room)), ...events.flatMap(ofEvent)];
  return all.filter(({ at }) => from <= at && at <= until).sort((one, other) => one.at - other.at);
}

function ofChange({ target, before, after, at, actor }, room) {
  if (target !== pathOf(room) || !before || !after) return [];
  const changed = Object.entries(after).filter(([name]) => SEEN.includes(name));
  if (changed.length === 0) return [];
  const text = `${describe(Object.fromEntries(changed))}, by ${actor}`;
  return [{ at: new Date(at).getTime(), text }];
}

function ofEvent(event) {
  if (event.suspended) return [];
  const moments = [
    ["the prequeue of", event.prequeue_start_time],
    ["the start of", event.event_start_time],
    ["the end of", event.event_end_time],
  ];
  const known = moments.filter(([, text]) => text);
  return known.map(([what, text]) => ({
    at: new Date(text).getTime(),
    text: `${what} ${event.name}`,
  }));
}
