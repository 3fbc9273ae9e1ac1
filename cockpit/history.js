// A room's history as the API tells it: asked for by range, and as points of a chart.

import { pathOf } from "./api.js";

const MINUTE_MS = 60_000;
/** The ranges that can be chosen: their name, minutes, and the resolution that is asked for. */
export const RANGES = [
  { name: "30 minutes", minutes: 30, resolution: "minute" },
  { name: "6 hours", minutes: 360, resolution: "minute" },
  { name: "24 hours", minutes: 1_440, resolution: "minute" },
  { name: "7 days", minutes: 10_080, resolution: "quarter" },
  { name: "30 days", minutes: 43_200, resolution: "hour" },
];
const SPAN_MINUTES = { minute: 1, quarter: 15, hour: 60 };

/** The shortest time that charts are drawn to, in milliseconds. */
const SHORTEST_MS = 10 * MINUTE_MS;

/**
 * Reads the rows of a range: one of `RANGES`, which ends now, or `{ from, until }` in milliseconds.
 * Returns `{ columns, rows, from, until, spanMs }`; `other` is the same of as long a time so many
 * days before, if any.
 */
export async function readHistory(ask, room, range, daysBefore) {
  const now = Date.now();
  const { from = now - range.minutes * MINUTE_MS, until, resolution } = range;
  const history = await readRows(ask, room, { from, until, resolution });
  if (daysBefore === 0) return history;
  const before = {
    from: daysEarlier(history.from, daysBefore),
    until: daysEarlier(history.until, daysBefore),
  };
  const other = await readRows(ask, room, { ...before, resolution: history.resolution });
  return { ...history, other: { ...other, ...before } };
}

async function readRows(ask, room, range) {
  const answer = await ask("GET", `${pathOf(room)}/history?${query(range)}`);
  const { columns, resolution } = answer;
  const named = (row) => Object.fromEntries(columns.map((name, at) => [name, row[at]]));
  return {
    columns,
    resolution,
    rows: answer.rows.map((row) => charted(named(row), SPAN_MINUTES[resolution])),
    from: Date.parse(answer.from),
    until: Date.parse(answer.until),
    spanMs: SPAN_MINUTES[resolution] * MINUTE_MS,
  };
}

/** The same time of day so many days before, across a change of the clocks as well. */
export function daysEarlier(at, days) {
  const date = new Date(at);
  date.setDate(date.getDate() - days);
  return date.getTime();
}

/** The part of a range between two shares of it, as long as charts can show. */
export function part({ from, until }, one, other) {
  const at = (share) => from + Math.min(1, Math.max(0, share)) * (until - from);
  return longEnough({ from: at(Math.min(one, other)), until: at(Math.max(one, other)) });
}

/** A range that is so many times as long around a moment, and does not end later than now. */
export function scaled({ from, until }, times, around) {
  const half = ((until - from) * times) / 2;
  const latest = Math.max(until, Date.now());
  return longEnough({ from: around - half, until: Math.min(around + half, latest) });
}

/** A range moved by half its length, and not beyond now. */
export function moved({ from, until }, direction) {
  const by = Math.min((direction * (until - from)) / 2, Math.max(0, Date.now() - until));
  return { from: from + by, until: until + by };
}

function longEnough({ from, until }) {
  const missing = Math.max(0, SHORTEST_MS - (until - from)) / 2;
  return { from: from - missing, until: until + missing };
}

/** The row of a moment; nothing where nothing was measured. */
export function rowAt({ rows, spanMs }, at) {
  return rows.findLast((row) => row.at <= at && at < row.at + spanMs);
}

/** Adds to a row what charts draw and no column says. */
function charted(row, minutes) {
  const { told_wait_seconds_max: told, waited_seconds_p95: waited } = row;
  return {
    ...row,
    at: Date.parse(row.datetime),
    entered_per_minute: row.entered / minutes,
    left_per_minute: row.left_line / minutes,
    revoked_per_minute: row.sessions_revoked / minutes,
    challenged_per_minute: row.challenges_shown / minutes,
    infinite_per_minute: row.infinite_queue_refreshes / minutes,
    told_minutes: told === null ? null : told / 60,
    waited_minutes: waited === null ? null : waited / 60,
  };
}

function query({ from, until, resolution }) {
  const asked = [`from=${iso(from)}`];
  if (until !== undefined) asked.push(`until=${iso(until)}`);
  if (resolution !== undefined) asked.push(`resolution=${resolution}`);
  return asked.join("&");
}

const iso = (ms) => new Date(ms).toISOString();

/** Writes the rows as CSV, as the API does. */
export function csvOf({ columns, rows }) {
  const lines = rows.map((row) => columns.map((name) => row[name] ?? "").join(","));
  return [columns.join(","), ...lines, ""].join("\r\n");
}

/** The highest value of some columns, and at least 1. */
export function highest(rows, names) {
  return Math.max(1, ...rows.flatMap((row) => names.map((name) => row[name] ?? 0)));
}

/**
 * The steps of a line in a chart of this size, as texts of polylines: one for each stretch without
 * a gap, since what was not measured is not drawn.
 */
export function lines({ rows, from, until, spanMs }, name, top, { width, height }) {
  const found = [];
  let before;
  for (const row of rows) {
    const value = row[name];
    if (value === null) continue;
    const x = (at) => (((at - from) / (until - from)) * width).toFixed(1);
    const y = (height - (value / top) * height).toFixed(1);
    const step = [`${x(row.at)},${y}`, `${x(row.at + spanMs)},${y}`];
    if (before !== undefined && row.at - before <= 2 * spanMs) found.at(-1).push(...step);
    else found.push(step);
    before = row.at;
  }
  return found.map((points) => points.join(" "));
}

/** The mean of a percentile, weighted by how many visitors each row measured; null of nobody. */
function weighed(rows, name) {
  const measured = rows.filter((row) => row[name] !== null);
  const count = measured.reduce((total, row) => total + row.told_errors_measured, 0);
  const total = measured.reduce((so, row) => so + row[name] * row.told_errors_measured, 0);
  return count === 0 ? null : Math.round(total / count);
}

/** What happened in a range as a whole. */
export function sums(rows) {
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  return {
    entered: sum("entered"),
    joined: sum("joined_line"),
    left: sum("left_line"),
    revoked: sum("sessions_revoked"),
    mostInside: Math.max(0, ...rows.map((row) => row.active_max)),
    mostWaiting: Math.max(0, ...rows.map((row) => row.waiting_max)),
    longestTold: Math.max(0, ...rows.map((row) => row.told_wait_seconds_max)),
    challenged: sum("challenges_shown"),
    solved: sum("challenges_solved"),
    failed: sum("challenges_failed"),
    turnsKept: sum("turns_kept"),
    unanswered: sum("calls_unanswered"),
    savesFailed: sum("saves_failed"),
    wrongHalf: weighed(rows, "told_error_percent_p50"),
    wrongMost: weighed(rows, "told_error_percent_p90"),
    longestWaited: Math.max(0, ...rows.map((row) => row.waited_seconds_p95 ?? 0)),
  };
}
