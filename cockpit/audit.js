// What the audit log says in words, and how one of its changes is taken back.
import { disturbs } from "./actions.js";
import { pathOf } from "./api.js";
import { describe } from "./changes.js";
import { ofMethodBack } from "./rejected.js";
import { SHORTENED, wayBack, whatWasDone } from "./rule_changes.js";

/** What stands in the place of a room's id where the settings of a zone are meant. */
const SETTINGS = "settings";
/** Fields that say when, and follow by themselves. */
const STAMPS = ["created_on", "modified_on", "last_updated"];
/** How the path of a named token begins. */
const TOKENS = "user/tokens/";
const DONE = { POST: "made", PUT: "replaced", PATCH: "changed", DELETE: "deleted" };
/** How many changes of rules stand beside them with Undo; the log has all. */
const RULE_CHANGES = 3;
/** The parts of a room, by how they stand in a path. */
const PARTS = { events: "Event", rules: "Rules", webhooks: "Webhook" };
const TARGET = /^zones\/\w+\/waiting_rooms\/(\w+)(?:\/(events|rules|webhooks)(?:\/(\w+))?)?$/;

/** Says an entry of the log: `{ what, from, to }`, the latter two only for a change of fields. */
export function told(entry, rooms) {
  const { method, target, before, after } = entry;
  const name = nameOf(target, rooms, before, after);
  if (target.endsWith("/rules")) return { what: `${name}: ${whatWasDone(entry)}` };
  const what = `${name} ${DONE[kindOf(method, before, after)]}`;
  if (!before || !after) return { what };
  return { what, from: describe(without(before)), to: describe(without(after)) };
}

function kindOf(method, before, after) {
  if (!before) return "POST";
  return after ? "PATCH" : "DELETE";
}

function nameOf(target, rooms, before, after) {
  const own = after?.name ?? before?.name;
  if (target.startsWith(TOKENS)) return `Token ${own ?? target.slice(TOKENS.length)}`;
  return nameInZone(target, rooms, own);
}

function nameInZone(target, rooms, own) {
  const [, id, part] = TARGET.exec(target) ?? [];
  const room = rooms.find((one) => one.id === id)?.name;
  if (!id) return target.startsWith("zones/") ? "Settings of a zone" : target;
  if (id === SETTINGS) return "Settings of a zone";
  const of = room ? ` of room ${room}` : "";
  if (!part) return `Room ${room ?? own ?? id}`;
  return (own ? `${PARTS[part]} ${own}` : PARTS[part]) + of;
}

/**
 * The change that takes an entry back: `{ label, sentence, path, patch, seen, disturbs, room }`,
 * for rules with `back` instead of `patch`; nothing where the log does not have all of what was
 * before.
 */
export function undoOf(entry, rooms) {
  const { target, before, after } = entry;
  const [, id, part, of] = TARGET.exec(target) ?? [];
  const room = rooms.find((one) => one.id === id);
  if (room && part === "rules") return undoOfRules(entry, room);
  // Of a webhook the log has only what is no secret.
  if (part === "webhooks") return undefined;
  const isThere = room || id === SETTINGS;
  if (!isThere || !before || !after || (part && !of)) return undefined;
  const patch = without({ ...nothing(after), ...before });
  const seen = without({ ...nothing(before), ...after });
  const values = [...Object.values(patch), ...Object.values(seen)];
  if (values.length === 0 || values.some((value) => SHORTENED.test(value))) return undefined;
  const label = `Undo: back to ${describe(patch)}`;
  const method = ofMethodBack(patch, seen, room);
  return {
    label,
    sentence: `It was changed to ${describe(seen)}. ${method.sentence}`.trim(),
    path: target,
    patch,
    seen,
    disturbs: disturbs(patch) || method.asks,
    room,
  };
}

function undoOfRules(entry, room) {
  const back = wayBack(entry);
  const sentence = `What was done: ${whatWasDone(entry)}.`;
  return back && { label: `Undo: ${whatWasDone(entry)}`, sentence, path: entry.target, back, room };
}

/** The newest changes of a room's rules that can be taken back, as `undoable` lists a room's. */
export function undoableRules(room, log) {
  const target = `${pathOf(room)}/rules`;
  const entries = log.filter((one) => one.target === target).slice(0, RULE_CHANGES);
  const undos = entries.map((entry) => ({ ...undoOf(entry, [room]), ...stampOf(entry) }));
  return undos.filter(({ back }) => back);
}

function stampOf(entry) {
  const at = new Date(entry.at).getTime();
  return { version: entry.version, now: whatWasDone(entry), at, by: entry.actor };
}

const nothing = (fields) =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, null]));

function without(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !STAMPS.includes(field)));
}
