// What a room's object keeps for a time is deleted within an hour after it, also while nobody
// comes; and all of it once the room was deleted.
import { wakeBy } from "./alarm.js";

/** A clock that is wrongly ahead for a while must void no use of a code that goes on. */
const KEPT_MS = 48 * 60 * 60_000;
/** The tables, the column with a moment of each row, and how long after it the row is kept. */
const TABLES = [
  { name: "journal", column: "at", keptMs: KEPT_MS },
  { name: "invitations", column: "ends_at", keptMs: KEPT_MS },
  { name: "turns_told", column: "until", keptMs: 0 },
  { name: "turn_shares", column: "until", keptMs: 0 },
];
const PRESENT = "SELECT name FROM sqlite_master WHERE type = 'table'";
/** How long after one deletion the next one follows at the earliest, in milliseconds. */
const APART_MS = 60 * 60_000;
/**
 * How long the object of a deleted room answers nothing, in milliseconds: then no isolate takes the
 * room for one that exists.
 */
const DROPPED_MS = 10_000;

/** By when each object forgets something, as far as it has set its alarm. */
const forgetting = new WeakMap();
/** The objects whose rooms were deleted just now. */
const dropped = new WeakSet();

/** Deletes the rows whose time is over, and sees to the next ones. */
export function forget(context) {
  const now = Date.now();
  forgetting.delete(context);
  try {
    const { sql } = context.storage;
    const present = new Set(sql.exec(PRESENT).toArray().map(({ name }) => name));
    const due = TABLES.filter(({ name }) => present.has(name)).map(({ name, column, keptMs }) => {
      sql.exec(`DELETE FROM ${name} WHERE ${column} <= ?`, now - keptMs);
      const { oldest } = sql.exec(`SELECT min(${column}) AS oldest FROM ${name}`).one();
      return oldest === null ? Infinity : oldest + keptMs;
    });
    willForget(context, Math.max(Math.min(...due), now + APART_MS));
  } catch (error) {
    console.error(`what is over cannot be deleted: ${error}`);
    willForget(context, now + APART_MS);
  }
}

/** Sees to it that what was stored just now is deleted soon after `due`, in milliseconds. */
export function willForget(context, due) {
  if (due >= (forgetting.get(context) ?? Infinity)) return;
  forgetting.set(context, due);
  wakeBy(context, due);
}

/**
 * Deletes all that an object keeps: its room was deleted. What still runs there ends some seconds
 * later, with all that it has stored meanwhile.
 */
export async function drop(context) {
  dropped.add(context);
  await context.storage.deleteAll();
  context.waitUntil(end(context));
  return true;
}

async function end(context) {
  await new Promise((wake) => setTimeout(wake, DROPPED_MS));
  await context.storage.deleteAll();
  context.abort("its room was deleted");
}

/** Whether the object's room was deleted just now. */
export const isDropped = (context) => dropped.has(context);
