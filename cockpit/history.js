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

/** Reads the rows of a range that ends now: `{ rows, from, until, spanMs }`. */
export async function readHistory(ask, room, range) {
  const answer = await ask("GET", `${pathOf(room)}/history?${query(range)}`);
  const named = (row) => Object.fromEntries(answer.columns.map((name, at) => [name, row[at]]));
  const rows = answer.rows.map(named);
  for (const row of rows) row.at = Date.parse(row.datetime);
  return {
    rows,
    from: Date.parse(answer.from),
    until: Date.parse(answer.until),
    spanMs: SPAN_MINUTES[answer.resolution] * MINUTE_MS,
  };
}

function query({ minutes, resolution }) {
  const from = new Date(Date.now() - minutes * MINUTE_MS);
  return `from=${from.toISOString()}&resolution=${resolution}`;
}

/** Writes rows as CSV, with the names of their columns. */
export function csvOf(rows) {
  const { at: _, ...first } = rows[0];
  const names = Object.keys(first);
  const lines = rows.map((row) => names.map((name) => row[name] ?? "").join(","));
  return [names.join(","), ...lines, ""].join("\r\n");
}

/** The highest value of some columns, and at least 1. */
export function highest(rows, names) {
  return Math.max(1, ...rows.flatMap((row) => names.map((name) => row[name] ?? 0)));
}

/**
 * The points of a line in a chart of this size, as texts of polylines: one for each stretch without
 * a gap, since what was not measured is not drawn.
 */
export function lines({ rows, from, until, spanMs }, name, top, { width, height }) {
  const found = [];
  let before;
  for (const row of rows) {
    const value = row[name];
    if (value === null) continue;
    const x = ((row.at + spanMs / 2 - from) / (until - from)) * width;
    const point = `${x.toFixed(1)},${(height - (value / top) * height).toFixed(1)}`;
    if (before !== undefined && row.at - before <= 2 * spanMs) found.at(-1).push(point);
    else found.push([point]);
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
