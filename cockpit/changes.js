// Makes a change and reads it back, and finds in the audit log what can be undone.
import { disturbs } from "./actions.js";
import { CHANGED, pathOf } from "./api.js";
import { methodName, moment, number } from "./facts.js";
import { ofMethodBack } from "./rejected.js";
import { SHORTENED, areSame } from "./rule_changes.js";

/** Fields that one button changes, so that they are undone together. */
const KINDS = [
  ["queue_all"],
  ["maintenance"],
  ["suspended"],
  ["total_active_users", "new_users_per_minute"],
  ["event_start_time", "prequeue_start_time", "shuffle_at_event_start"],
  ["event_end_time"],
  ["page_message"],
  ["queueing_method"],
];
/** Fields of the settings of a room that an event has for itself, not instead of the room's. */
const FOR_ITSELF = ["name", "description"];
const HTTPS = {
  true: "always HTTPS",
  false: "not always HTTPS",
  null: "HTTPS as each request has it",
};
const MAINTENANCE = { off: "no maintenance", drain: "Drain", hold: "Maintenance" };

/** How often a document is read anew that others change in the same moment. */
const TURNS_MAX = 5;
const COUNTS = "Stored and read back; it counts everywhere within 5 s.";

/**
 * Makes a change, unless what it is about has changed since the owner saw it, and reads it back.
 * Returns the sentence that says so.
 *
 * @param {Function} ask makes a call of the API, as `session.ask`
 * @param {{ path: string, patch?: object, back?: Function, event?: object, until?: string }} change
 *   of fields, of a room also with its `event` in force, or with the sentence that says `until`
 *   when they count; or of a whole list, where `back` makes the next of the present one, or throws
 * @param {object} seen the room or event as the owner saw it
 */
export async function apply(ask, { path, patch, back, event, until }, seen) {
  if (back) return applyBack(ask, path, back);
  const fields = Object.keys(patch);
  const { messages } = await applyPatch(ask, path, patch, seen);
  const { result: after } = await ask("GET", path);
  if (fields.some((field) => !isSame(after[field], patch[field]))) {
    throw new Error(`It was changed again at once: now it is ${describe(pick(after, fields))}.`);
  }
  // Of an event's own fields the API says the same as the sentence here.
  const isTold = fields.some((field) => isOwn(event, field));
  const others = isTold ? [] : textsOf(messages);
  return [whatCounts(pick(after, fields), event), until, ...others].filter(Boolean).join(" ");
}

/** Says which of the fields that are stored count now, and which when the event in force ends. */
function whatCounts(stored, event) {
  const later = ownOf(event, stored);
  const now = Object.keys(stored).filter((field) => !later.includes(field));
  const told = now.length > 0 ? [`In force: ${describe(pick(stored, now))}. ${COUNTS}`] : [];
  if (later.length > 0) {
    told.push(`Stored and read back: ${describe(pick(stored, later))}; but ${ofEvent(event)}.`);
  }
  return told.join(" ");
}

/** The fields of a room of which its event in force has a value of its own. */
export const ownOf = (event, fields) => Object.keys(fields).filter((field) => isOwn(event, field));

/** Says until when an event has them. */
export function ofEvent({ name, event_end_time: ends }) {
  return `the event “${name}” has its own until it ends, ${moment(ends)}`;
}

/** Whether an event has a value of its own for a field of its room. */
function isOwn(event, field) {
  return !FOR_ITSELF.includes(field) && (event?.[field] ?? null) !== null;
}

/** The texts of what the API says beside an answer. */
export function textsOf(messages) {
  return messages.map(({ message }) => message);
}

/** Changes fields, unless somebody has since the owner saw them; returns the answer. */
export function applyPatch(ask, path, patch, seen) {
  return applyTo(ask, "PATCH", path, (present) => {
    unlessChanged(present, Object.keys(patch), seen);
    return patch;
  });
}

/**
 * Sends what `next` makes of the present document, and returns the answer. Where somebody changes
 * that between the two, however slow the network is, it is read again.
 */
async function applyTo(ask, method, path, next) {
  for (let turn = 1; ; turn += 1) {
    const { result: present, tag } = await ask("GET", path);
    const body = next(present);
    try {
      return await ask(method, path, body, tag);
    } catch (refusal) {
      if (refusal.status !== CHANGED || turn === TURNS_MAX) throw refusal;
    }
  }
}

/** Throws if of these fields somebody has changed one since the owner saw it. */
export function unlessChanged(document, fields, seen) {
  const other = fields.filter((field) => !isSame(document[field], seen[field]));
  if (other.length === 0) return;
  const now = describe(pick(document, other));
  throw new Error(`Nothing was changed: meanwhile somebody else has set ${now}. Look again.`);
}

async function applyBack(ask, path, back) {
  let next;
  await applyTo(ask, "PUT", path, (present) => (next = back(present)));
  const { result: after } = await ask("GET", path);
  if (!areSame(after, next)) throw new Error("It was changed again at once: look again.");
  return `Taken back. ${COUNTS}`;
}

/**
 * Lists what can be undone in a room, newest first: of each kind the last change that still counts,
 * as `{ version, label, now, sentence, by, path, patch, disturbs, seen }`, where the log has all
 * that was before.
 */
export function undoable({ room, event, log }) {
  const found = new Map();
  for (const [path, document] of documents(room, event)) {
    for (const kind of KINDS) {
      const entry = log.find((one) => one.target === path && touches(one, kind));
      const fields = kind.filter((field) => entry && field in (entry.after ?? {}));
      const counts = fields.every((field) => entry.after[field] === document[field]);
      if (fields.length === 0 || !counts || !entry.before) continue;
      if (fields.some((field) => SHORTENED.test(entry.before[field]))) continue;
      const undo = found.get(entry.version) ?? { entry, path, seen: document, fields: [] };
      undo.fields.push(...fields);
      found.set(entry.version, undo);
    }
  }
  const newestFirst = [...found.values()].sort((a, b) => b.entry.version - a.entry.version);
  return newestFirst.map((undo) => described(undo, room));
}

function described({ entry, path, seen, fields }, room) {
  const patch = pick(entry.before, fields);
  const now = describe(pick(entry.after, fields));
  const method = ofMethodBack(patch, seen, room);
  return {
    version: entry.version,
    label: `Undo: back to ${describe(patch)}`,
    now,
    sentence: `Now: ${now}. ${method.sentence}`.trim(),
    at: new Date(entry.at).getTime(),
    by: entry.actor,
    path,
    patch,
    seen,
    disturbs: disturbs(patch) || method.asks,
  };
}

/** The room and its event in force, by their paths. */
function documents(room, event) {
  const all = [[pathOf(room), room]];
  if (event) all.push([pathOf(room, event), event]);
  return all;
}

function touches({ before, after }, kind) {
  return kind.some((field) => field in (after ?? {}) || field in (before ?? {}));
}

function pick(document, fields) {
  return Object.fromEntries(fields.map((field) => [field, document[field] ?? null]));
}

/** Whether two values of a field are the same, in whatever order; a missing one is `null`. */
function isSame(one, other) {
  const text = (value) => JSON.stringify(value ?? null, inOrder);
  return text(one) === text(other);
}

/** For `JSON.stringify`: an object with its names in order. */
function inOrder(_, value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Says fields and their values in words. */
export function describe(fields) {
  const say = ([field, value]) => WORDS[field]?.(value) ?? `${field} ${JSON.stringify(value)}`;
  const words = Object.entries(fields).map(say);
  return [...new Set(words)].join(", ");
}

const at = (name) => (value) => (value === null ? `no ${name}` : `${name} ${moment(value)}`);
const limit = (name) => (value) =>
  value === null ? `${name} as in the room` : `${name} ${number(value)}`;
const WORDS = {
  queue_all: (value) => (value ? "Hold all" : "nobody held"),
  maintenance: (value) => MAINTENANCE[value] ?? value,
  suspended: (value) => (value ? "disabled" : "enabled"),
  queueing_method: (value) =>
    value === null ? "the room's queueing method" : `queueing method “${methodName(value)}”`,
  page_message: (value) => (value ? `the message “${value}”` : "no message"),
  total_active_users: limit("total active users"),
  new_users_per_minute: limit("new users per minute"),
  event_start_time: at("start"),
  event_end_time: at("end"),
  prequeue_start_time: at("prequeue"),
  shuffle_at_event_start: (value) => (value ? "a draw" : "no draw"),
  search_engine_crawler_bypass: (value) =>
    value ? "crawlers of search engines pass" : "crawlers wait like everybody",
  always_use_https: (value) => HTTPS[value],
};
