// What was done to a room and when, for the marks in its charts: its events, and changes by owners
// of it and of them.
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
/** Those of an event: also when it is. */
const SEEN_OF_EVENT = [...SEEN, "prequeue_start_time", "event_start_time", "event_end_time"];

/** Lists `{ at, text }` of what happened from `from` until `until`, in the order of time. */
export function marksOf({ room, log, events = [], from, until }) {
  const below = `${pathOf(room)}/events/`;
  const nameOf = namesOf(log, events, below);
  const marks = log.flatMap((entry) => {
    if (entry.target === pathOf(room)) return ofChange(entry, SEEN);
    if (!entry.target.startsWith(below)) return [];
    return ofEventChange(entry, `${nameOf(entry.target.slice(below.length))}: `);
  });
  const all = [...marks, ...events.flatMap(ofEvent)];
  return all.filter(({ at }) => from <= at && at <= until).sort((one, other) => one.at - other.at);
}

/** Returns what says the name of an event of this id; of one that is gone the log has it. */
function namesOf(log, events, below) {
  const logged = log.map(({ target, before, after }) => [target, after?.name ?? before?.name]);
  const named = logged.filter(([target, name]) => target.startsWith(below) && name);
  const ofLog = named.map(([target, name]) => [target.slice(below.length), name]).reverse();
  const names = new Map([...ofLog, ...events.map(({ id, name }) => [id, name])]);
  return (id) => names.get(id) ?? "an event";
}

function ofChange({ before, after, at, actor }, seen, whose = "") {
  if (!before || !after) return [];
  const changed = Object.entries(after).filter(([name]) => seen.includes(name));
  if (changed.length === 0) return [];
  const text = `${whose}${describe(Object.fromEntries(changed))}, by ${actor}`;
  return [{ at: new Date(at).getTime(), text }];
}

/** Changes of an event, and its end where somebody deletes it, with what it was until then. */
function ofEventChange(entry, whose) {
  if (!entry.before || entry.after) return ofChange(entry, SEEN_OF_EVENT, whose);
  const deleted = new Date(entry.at).getTime();
  const was = ofEvent(entry.before).filter(({ at }) => at <= deleted);
  return [...was, { at: deleted, text: `${whose}deleted, by ${entry.actor}` }];
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
