// The admissions of a data center for its room's transparency log, in the SQLite storage of its
// aggregator: a row for those of a sync under the same limits, until the log has taken it over.
import { logOf } from "./objects.js";

const TABLE =
  "CREATE TABLE IF NOT EXISTS admissions (at INTEGER PRIMARY KEY, count INTEGER NOT NULL, " +
  "rows TEXT NOT NULL)";
/** Each row has a moment of its own, later than that of the row before. */
const WRITE =
  "INSERT INTO admissions SELECT max(?, coalesce((SELECT max(at) + 1 FROM admissions), 0)), ?, ?";
/** How many were left out, in a row of its own. */
const LEAVE_OUT =
  "INSERT INTO admissions VALUES (-1, ?, '') " +
  "ON CONFLICT (at) DO UPDATE SET count = count + excluded.count";
const READ = "SELECT at, count, rows FROM admissions WHERE at > ? ORDER BY at LIMIT ?";
const DROP = "DELETE FROM admissions WHERE at = ?";
const DROP_ALL = "DELETE FROM admissions";
const SUM = "SELECT coalesce(sum(count), 0) AS kept FROM admissions WHERE at >= 0";
/** The most admissions that wait for the log here: 200 MB. More are left out, which is counted. */
const KEPT_MAX = 4_000_000;
/** The most rows in one answer, and the most admissions in a row: each about 1 MB at most. */
const ROWS_MAX = 20;
const ROW_MAX = 20_000;
/** After how many milliseconds the log is told again that there is something. */
const AGAIN_MS = 2_000;
const TELL_MAX = 5;
/** How long nothing is stored for a deleted room, in milliseconds: late syncs still count some. */
const DELETED_MS = 60_000;

/** What is known of each object: how many it keeps, and whether its room's log knows of it. */
const known = new WeakMap();
const unknown = () => ({ kept: undefined, waiting: [], isTold: false, deletedUntil: 0 });

/**
 * Stores admissions, of the object `name`, before it returns: the first line has the limits. What
 * cannot be stored waits for the next time.
 */
export function keep(context, env, name, text) {
  const { sql } = context.storage;
  const state = known.get(context) ?? unknown();
  known.set(context, state);
  if (Date.now() < state.deletedUntil) return;
  const [rules, ...admissions] = text.trimEnd().split("\n");
  for (let at = 0; at < admissions.length; at += ROW_MAX) {
    state.waiting.push([rules, ...admissions.slice(at, at + ROW_MAX)]);
  }
  try {
    sql.exec(TABLE);
    state.kept ??= sql.exec(SUM).one().kept;
    while (state.waiting.length > 0) {
      const [row] = state.waiting;
      const count = row.length - 1;
      if (state.kept + count > KEPT_MAX) sql.exec(LEAVE_OUT, count);
      else sql.exec(WRITE, Date.now(), count, row.join("\n"));
      state.kept += count;
      state.waiting.shift();
    }
  } catch (error) {
    console.error(`admissions cannot be stored for the log: ${error}`);
  }
  if (!state.isTold) context.waitUntil(tell(env, name, state));
}

/** Tells the room's log that this data center keeps admissions. */
async function tell(env, name, state) {
  state.isTold = true;
  for (let tried = 0; tried < TELL_MAX; tried += 1) {
    try {
      await logOf(env, name.split("/")[0]).log({ ask: "announce", name });
      return;
    } catch (error) {
      console.warn(`the transparency log was not reached: ${error}`);
      await new Promise((wake) => setTimeout(wake, AGAIN_MS));
    }
  }
  // With the next admissions again.
  state.isTold = false;
}

/** Answers for what a data center keeps, and for the log of a room. */
export async function logged(context, env, question) {
  if (question.ask === "kept") return kept(context, question);
  if (question.ask === "drop") return drop(context);
  // A module of its own: visits never run it.
  const { answer } = await import("../transparency/log.js");
  return answer(context, env, question);
}

/** Reads the oldest rows behind a moment, after dropping those that the log has stored. */
function kept(context, { after = -2, drop = [] }) {
  const { sql } = context.storage;
  sql.exec(TABLE);
  for (const at of drop) sql.exec(DROP, at);
  const state = known.get(context);
  if (state && drop.length > 0) state.kept = sql.exec(SUM).one().kept;
  return sql.exec(READ, after, ROWS_MAX).toArray();
}

/** Deletes all that a data center keeps: its room was deleted. */
function drop(context) {
  const { sql } = context.storage;
  sql.exec(TABLE);
  sql.exec(DROP_ALL);
  known.set(context, { ...unknown(), deletedUntil: Date.now() + DELETED_MS });
  return true;
}
