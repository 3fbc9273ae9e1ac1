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

/** Reads the rows of a range that ends now: `{ columns, rows, from, until, spanMs }`. */
export async function readHistory(ask, room, range) {
  const answer = await ask("GET", `${pathOf(room)}/history?${query(range)}`);
  const { columns, resolution } = answer;
  const named = (row) => Object.fromEntries(columns.map((name, at) => [name, row[at]]));
  return {
    columns,
    rows: answer.rows.map((row) => charted(named(row), SPAN_MINUTES[resolution])),
    from: Date.parse(answer.from),
    until: Date.parse(answer.until),
    spanMs: SPAN_MINUTES[resolution] * MINUTE_MS,
  };
}

/** Adds to a row what charts draw and no column says. */
function charted(row, minutes) {
  const { told_wait_seconds_max: told, waited_seconds_p95: waited } = row;
  return {
    ...row,
    at: Date.parse(row.datetime),
    entered_per_minute: row.entered / minutes,
    told_minutes: told === null ? null : told / 60,
    waited_minutes: waited === null ? null : waited / 60,
  };
}

function query({ minutes, resolution }) {
  const from = new Date(Date.now() - minutes * MINUTE_MS);
  return `from=${from.toISOString()}&resolution=${resolution}`;
}

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
    longestWaited: Math.max(0, ...rows.map((row) => row.waited_seconds_p95 ?? 0)),
  };
}
