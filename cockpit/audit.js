// What the audit log says in words, and how one of its changes is taken back.
import { disturbs } from "./actions.js";
import { describe } from "./changes.js";

/** Fields that say when, and follow by themselves. */
const STAMPS = ["created_on", "modified_on", "last_updated"];
const DONE = { POST: "made", PUT: "replaced", PATCH: "changed", DELETE: "deleted" };
/** How the log writes a value that is too long for it. */
const SHORTENED = /^\d+ bytes, SHA-256 /;
const TARGET = /^zones\/\w+\/waiting_rooms\/(\w+)(?:\/(events|rules)(?:\/(\w+))?)?$/;

/** Says an entry of the log: `{ what, from, to }`, the latter two only for a change of fields. */
export function told({ method, target, before, after }, rooms) {
  const what = `${nameOf(target, rooms, before, after)} ${DONE[kindOf(method, before, after)]}`;
  if (!before || !after || target.endsWith("/rules")) return { what };
  return { what, from: describe(without(before)), to: describe(without(after)) };
}

function kindOf(method, before, after) {
  if (!before) return "POST";
  return after ? "PATCH" : "DELETE";
}

function nameOf(target, rooms, before, after) {
  const [, id, part] = TARGET.exec(target) ?? [];
  const own = after?.name ?? before?.name;
  const room = rooms.find((one) => one.id === id)?.name;
  if (!id) return target.startsWith("zones/") ? "Settings of a zone" : target;
  if (id === "settings") return "Settings of a zone";
  const of = room ? ` of room ${room}` : "";
  if (part === "events") return own ? `Event ${own}${of}` : `Event${of}`;
  if (part === "rules") return `Rules${of}`;
  return `Room ${room ?? own ?? id}`;
}

/**
 * The change that takes an entry back: `{ label, sentence, path, patch, seen, disturbs, room }`;
 * nothing where the log does not have all of what was before.
 */
export function undoOf(entry, rooms) {
  const { target, before, after } = entry;
  const [, id, part, of] = TARGET.exec(target) ?? [];
  const room = rooms.find((one) => one.id === id);
  if (!room || !before || !after || part === "rules" || (part && !of)) return undefined;
  const patch = without({ ...nothing(after), ...before });
  const seen = without({ ...nothing(before), ...after });
  const values = [...Object.values(patch), ...Object.values(seen)];
  if (values.length === 0 || values.some((value) => SHORTENED.test(value))) return undefined;
  const label = `Undo: back to ${describe(patch)}`;
  const sentence = `It was changed to ${describe(seen)}.`;
  return { label, sentence, path: target, patch, seen, disturbs: disturbs(patch), room };
}

const nothing = (fields) =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, null]));

function without(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !STAMPS.includes(field)));
}
