/** The part of `npm run bench` about money: what a room uses and costs in a month, case by case. */

import { clockMissing } from "../../tests/harness/clock.mjs";
import { bill, monthOf, neverAsleep } from "./formula.mjs";
import { PLAN_USD, READ_AT } from "./prices.mjs";
import { halfFullIn30 } from "./simulated.mjs";
import { halfFull, longQueue, quietSite } from "./stories.mjs";

const HEAD = [
  ...["a month of", "requests", "calls", "registry", "a request", "awake s", "rows"],
  ...["time $", "calls $", "requests $", "all $", "logs $", "time at first $"],
];
/** What the objects of a room may cost in a month that is half full in 30 data centers. */
const HALF_FULL_USD_GOAL = 30;
/** Calls of objects for each page view of somebody inside there, those of the registry too. */
const CALLS_GOAL = 0.2;

/**
 * Measures the cases: all, or what is quick and the same everywhere.
 *
 * @param {{ gate: boolean }} options
 * @returns {Promise<{ text: string, verdicts: { text: string, held: boolean }[] }>}
 */
export async function monthlyBill({ gate }) {
  const missing = clockMissing();
  if (missing) {
    return { text: "", verdicts: [{ text: `the bill is not measured: ${missing}`, held: true }] };
  }
  const { nobody, one } = await quietSite();
  const rows = [
    ["nobody", nobody],
    ["one visitor a minute, 1 data center", one],
  ];
  const verdicts = [asleep(nobody)];
  if (!gate) {
    const { remembering, forgetting } = halfFullIn30();
    const { queued, ...small } = await halfFull();
    rows.push(["400 places, 3 data centers, half full", small]);
    rows.push(["10,000 places, 30 data centers, half full", remembering]);
    rows.push(["the same, and sleeping objects forget", forgetting]);
    rows.push(["5,000 in line, 3 data centers", await longQueue()]);
    const unneeded = `half full in 3 data centers: ${queued} visitors had to wait (none should)`;
    verdicts.push({ text: unneeded, held: true });
    verdicts.push(...halfFullVerdicts("half full in 30 data centers", remembering));
    verdicts.push(...halfFullVerdicts("the same, and sleeping objects forget", forgetting));
  }
  return { text: `${preface()}\n${table([HEAD, ...rows.map(row)])}`, verdicts };
}

/** Whether a room without visitors uses nothing. */
function asleep({ calls, rows, awakeS, seconds }) {
  const used = `${calls} object calls, ${rows} rows, ${awakeS.toFixed(1)} s awake`;
  const held = calls === 0 && rows === 0 && awakeS === 0;
  const minutes = (seconds / 60).toFixed(0);
  return { text: `${minutes} minutes without a visitor: ${used} (must be 0)`, held };
}

/** Goals that are printed. Other tests hold what is held (room-sim/tests/targets.rs). */
function halfFullVerdicts(where, measured) {
  const { time, calls } = bill(monthOf(measured, measured.seconds));
  const { requests, registryCalls, entries, entryCalls } = measured;
  const ofRoom = (measured.calls - registryCalls) / requests;
  const each = `${ofRoom.toFixed(2)}, and ${(registryCalls / requests).toFixed(2)} of the registry`;
  // What takes slots is caused by those who enter, with a page view of their own.
  const ofInside = (measured.calls - entryCalls) / (requests - entries);
  const inside = `${ofInside.toFixed(3)} for one of somebody inside`;
  return [
    `${where}: objects ${money(time + calls)} USD: ${goal(time + calls, HALF_FULL_USD_GOAL)}`,
    `${where}: calls for each page view ${each}; ${inside}: ${goal(ofInside, CALLS_GOAL)}`,
  ].map((text) => ({ text, held: true }));
}

function goal(found, most) {
  return `goal at most ${most} ${found <= most ? "reached" : "missed"}`;
}

function preface() {
  return `
What a month costs, in USD, if it goes on like that for 30 days: prices of ${READ_AT}
(bench/bill/prices.mjs); what the plan of ${PLAN_USD} USD includes is taken off each line.
"a request": calls of objects for each. "logs": if each request and call is logged, which is not in
"all". "time at first": of as many objects that never sleep.
`;
}

function row([title, measured]) {
  const { seconds, objects, ...used } = measured;
  const month = monthOf(used, seconds);
  const usd = bill(month);
  const isUsed = used.requests > 0;
  return [
    title,
    ...[month.requests, month.calls, month.registryCalls].map(short),
    isUsed ? (used.calls / used.requests).toFixed(2) : "-",
    ...[month.awakeS, month.rows].map(short),
    ...[usd.time, usd.calls, usd.requests, usd.total, usd.logs].map(money),
    // How long objects without visitors stayed awake at first is not known.
    isUsed ? money(neverAsleep(objects)) : "-",
  ];
}

function table(rows) {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  const line = (cells) =>
    cells.map((cell, at) => (at ? cell.padStart(widths[at]) : cell.padEnd(widths[at]))).join("  ");
  return rows.map(line).join("\n");
}

/** 1234567 as "1.2 M". */
function short(count) {
  if (count >= 999_500) return `${(count / 1e6).toFixed(1)} M`;
  return count >= 1_000 ? `${(count / 1_000).toFixed(0)} k` : count.toFixed(0);
}

function money(usd) {
  return usd.toFixed(2);
}
