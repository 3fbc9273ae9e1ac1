// A room's history as the API tells it: asked for by range, and as points of a chart.

import uPlot from "uplot";

import { pathOf } from "./api.js";
import { moment } from "./facts.js";

const MINUTE_MS = 60_000;
/** The ranges that can be chosen: their name, minutes, and the resolution that is asked for. */
export const RANGES = [
  { name: "30 minutes", minutes: 30, resolution: "minute" },
  { name: "6 hours", minutes: 360, resolution: "minute" },
  { name: "24 hours", minutes: 1_440, resolution: "minute" },
  { name: "7 days", minutes: 10_080, resolution: "quarter" },
  { name: "30 days", minutes: 43_200, resolution: "hour" },
];
/** What is shown where nothing says otherwise. */
export const USUAL = RANGES[2];
const SPAN_MINUTES = { minute: 1, quarter: 15, hour: 60 };

const line = (name, label) => ({ name, label, kind: "line" });
const promised = (name, label) => ({ name, label, kind: "promised" });
const limit = (name) => ({ name, label: "limit", kind: "limit" });
/** The charts of a room: their title, in short too, and what each draws. */
export const CHARTS = [
  {
    title: "Inside, against the limit",
    short: "Inside",
    lines: [line("active_max", "inside, most at one time"), limit("active_limit_max")],
  },
  { title: "Waiting", short: "Waiting", lines: [line("waiting_max", "waiting, most at one time")] },
  {
    title: "Entered, against new users per minute",
    short: "Entered a minute",
    lines: [line("entered_per_minute", "entered a minute"), limit("new_users_limit_max")],
  },
  {
    title: "Shown and waited, in minutes",
    lines: [
      line("waited_minutes", "waited by those who entered, slowest 5 %"),
      promised("told_minutes", "longest wait shown to newcomers"),
    ],
  },
  {
    title: "Gone, a minute",
    lines: [
      line("left_per_minute", "left the line without entering"),
      promised("revoked_per_minute", "sessions that the site ended"),
    ],
  },
];
/** Only where somebody was challenged. */
const CHALLENGES = {
  title: "Challenges, a minute",
  lines: [
    line("challenged_per_minute", "challenges shown"),
    promised("infinite_per_minute", "pages for those who failed one"),
  ],
};

/** The charts of what was measured. */
export function chartsOf({ rows, other }) {
  const isChallenged = rows.some((row) => row.challenges_shown + row.infinite_queue_refreshes > 0);
  const all = isChallenged ? [...CHARTS, CHALLENGES] : CHARTS;
  if (!other) return all;
  const label = `in grey: from ${moment(other.from)} on`;
  return all.map((chart) => ({ ...chart, lines: [...chart.lines, { label, kind: "before" }] }));
}

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

/**
 * Reads what is shown first: the shortest of the usual ranges from `USUAL` on in which anybody was
 * there, or one that is shorter still and holds all of it. Where nobody ever was, it is `USUAL`.
 */
export async function readFirst(ask, room, daysBefore) {
  let usual;
  for (const range of RANGES.slice(RANGES.indexOf(USUAL))) {
    const found = await readHistory(ask, room, range, daysBefore);
    usual ??= found;
    if (found.rows.length === 0) continue;
    const fitting = fittingRange(found, range);
    const isFound = fitting === range;
    const history = isFound ? found : await readHistory(ask, room, fitting, daysBefore);
    return { ...history, range: fitting };
  }
  return usual;
}

/** The shortest of the usual ranges that holds all that was found in a longer one. */
function fittingRange({ rows, until }, longer) {
  const all = (until - rows[0].at) / MINUTE_MS;
  return RANGES.find(({ minutes }) => minutes >= all) ?? longer;
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
function daysEarlier(at, days) {
  const date = new Date(at);
  date.setDate(date.getDate() - days);
  return date.getTime();
}

/** The part of a range between two of its moments, as long as charts can show. */
export function part({ from, until }, one, other) {
  const within = (at) => Math.min(until, Math.max(from, at));
  const [first, last] = [within(one), within(other)].sort((a, b) => a - b);
  return longEnough({ from: first, until: last });
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
    minutes,
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

/**
 * The points of a chart in the form of uPlot: moments, and for each line of it the values, with a
 * gap where nothing was measured; another day under it comes last.
 */
export function dataOf({ other, from, ...history }, { lines }) {
  const names = lines.filter(({ kind }) => kind !== "before").map(({ name }) => name);
  const own = pointsOf(history, names, 0);
  if (!other) return own;
  const under = pointsOf(other, names.slice(0, 1), from - other.from);
  return uPlot.join([own, under]);
}

/** Each row lasts for its span; after the last one before a gap there is nothing. */
function pointsOf({ rows, spanMs }, names, laterMs) {
  const points = [[], ...names.map(() => [])];
  const put = (at, row) => {
    points[0].push(at + laterMs);
    names.forEach((name, index) => points[index + 1].push(row?.[name] ?? null));
  };
  rows.forEach((row, index) => {
    put(row.at, row);
    put(row.at + spanMs - 1, row);
    if (!(rows[index + 1]?.at - row.at <= 2 * spanMs)) put(row.at + spanMs);
  });
  return points;
}

/** The mean of a percentile, weighted by how many visitors each row measured; null of nobody. */
function weighed(rows, name) {
  const measured = rows.filter((row) => row[name] !== null);
  const count = measured.reduce((total, row) => total + row.told_errors_measured, 0);
  const total = measured.reduce((so, row) => so + row[name] * row.told_errors_measured, 0);
  return count === 0 ? null : Math.round(total / count);
}

/** For how many minutes nobody new entered, of those in which anybody was there. */
function heldMinutes(rows) {
  const minutes = ({ held_percent: percent, minutes: of }) => ((percent ?? 0) * of) / 100;
  return Math.round(rows.reduce((total, row) => total + minutes(row), 0));
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
    longestTold: Math.max(0, ...rows.map((row) => row.told_wait_seconds_max ?? 0)),
    isTold: rows.some((row) => row.told_wait_seconds_max !== null),
    heldMinutes: heldMinutes(rows),
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
