/** The part of `npm run bench` about money: what a room uses and costs in a month, case by case. */

import { clockMissing } from "../../tests/harness/clock.mjs";
import { keepBill } from "../../scripts/suite/figures.mjs";
import { priced } from "./formula.mjs";
import { money, monthRow } from "./month-row.mjs";
import { PLAN_USD, READ_AT } from "./prices.mjs";
import { halfFullIn30, saleOfAMillion } from "./simulated.mjs";
import { halfFull, longQueue, quietSite } from "./stories.mjs";
import { CALLS_GOAL, HALF_FULL_USD_GOAL, callsEach, hourUsd, objectsOf } from "./texts.mjs";

const HEAD = [
  ...["a month of", "requests", "calls", "registry", "a request", "awake s", "rows"],
  ...["time $", "calls $", "requests $", "all $", "logs $", "time at first $"],
];

/**
 * Measures the cases: all, which are kept for the documents, or what is quick and the same
 * everywhere.
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
    const [line, sale] = [await longQueue(), saleOfAMillion()];
    rows.push(["5,000 in line, 3 data centers", line]);
    keepBill({ nobody, one, shop: small, large: remembering, forgetting, line, sale });
    const unneeded = `half full in 3 data centers: ${queued} visitors had to wait (none should)`;
    verdicts.push({ text: unneeded, held: true });
    const [hour, all] = [hourUsd(line), priced(sale).total].map(money);
    const beyond = `an hour with 5,000 in line ${hour}, a sale of a million ${all} USD`;
    verdicts.push({ text: `beyond the plan: ${beyond}`, held: true });
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

/** The goals of a large room; one that is missed is a failure of the command. */
function halfFullVerdicts(where, measured) {
  const usd = objectsOf(measured);
  const { inside, all, registry } = callsEach(measured);
  const each = `${(all - registry).toFixed(2)}, and ${registry.toFixed(2)} of the registry`;
  const ofInside = `${inside.toFixed(3)} for one of somebody inside`;
  return [
    goal(`${where}: objects ${money(usd)} USD`, usd, HALF_FULL_USD_GOAL),
    goal(`${where}: calls for each page view ${each}; ${ofInside}`, inside, CALLS_GOAL),
  ];
}

function goal(text, found, most) {
  const held = found <= most;
  return { text: `${text}: goal at most ${most} ${held ? "reached" : "missed"}`, held };
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
  return monthRow(title, measured, { none: "-", logs: true });
}

function table(rows) {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  const line = (cells) =>
    cells.map((cell, at) => (at ? cell.padStart(widths[at]) : cell.padEnd(widths[at]))).join("  ");
  return rows.map(line).join("\n");
}
