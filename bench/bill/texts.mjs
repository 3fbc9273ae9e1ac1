/**
 * What the documents tell of the bill, from what was measured: `docs/figures.json` keeps that, and
 * `node scripts/figures.mjs --write` writes it into README.md and docs/costs.md. Pure.
 */

import { MONTH_S, bill, monthOf, neverAsleep, priced } from "./formula.mjs";
import { money, monthRow } from "./month-row.mjs";

/** What the objects of a room may cost in a month that is half full in 30 data centers. */
export const HALF_FULL_USD_GOAL = 30;
/** Calls of objects for each page view of somebody inside there, those of the registry too. */
export const CALLS_GOAL = 0.2;

/** The cases in the order of the table: their names in the figures, and their titles. */
const CASES = {
  nobody: "nobody",
  one: "one visitor a minute, 1 data center",
  shop: "400 places, 3 data centers, half full",
  large: "10,000 places, 30 data centers, half full",
  forgetting: "the same, and sleeping objects forget",
  line: "5,000 in line, 3 data centers",
};
const HOUR_S = 3_600;
const HOURS_OF_MONTH = MONTH_S / HOUR_S;
/** For so many data centers with visitors the documents tell what grows with them. */
const DATA_CENTERS = [1, 3, 30, 100];
/** A data center with visitors asks the registry once in so many seconds. */
const REGISTRY_ASKED_S = 4;
const COLUMNS = [
  ...["a month of", "requests", "object calls", "of the registry", "calls a request"],
  ...["seconds awake", "rows", "time, USD", "calls, USD", "requests, USD", "all, USD"],
  "time at first, USD",
];

/** The texts by the names of their places in the documents. */
export const BILL_TEXTS = {
  "bill-sale": (cases) => sale(cases),
  "bill-short": (cases) => short(cases),
  "bill-months": (cases) => months(cases),
  "bill-goals": (cases) => goals(cases),
  "bill-data-centers": () => dataCenters(),
};

/** What an hour of a case costs where the month's included share is used up. */
export function hourUsd({ seconds, objects: _, ...used }) {
  const share = HOUR_S / seconds;
  const hour = Object.entries(used).map(([name, count]) => [name, count * share]);
  return priced(Object.fromEntries(hour)).total;
}

/** How many calls of objects each page view of somebody inside causes, and all of them. */
export function callsEach({ requests, calls, registryCalls, entries, entryCalls }) {
  // What takes slots is caused by those who enter, with a page view of their own.
  return {
    inside: (calls - entryCalls) / (requests - entries),
    all: calls / requests,
    registry: registryCalls / requests,
  };
}

/** Whether a figure reaches its goal, in a word. */
export const met = (found, most) => (found <= most ? "met" : "**missed**");

function sale({ shop, line, sale: all }) {
  const rows = [
    ["a month without visitors, or with one a minute", "0"],
    ["a month of a shop with 400 places, always half full", beyond(shop)],
    ["an hour with 5,000 in line", money(hourUsd(line))],
    [
      `a sale of a million: ${minutesOf(all)} minutes in which all of them check in`,
      money(priced(all).total),
    ],
  ];
  return table(["", "USD"], rows);
}

function short({ one, shop, line, sale: all, large }) {
  const [each, ofLine, ofLarge] = [one, line, large].map((use) => monthOf(use, use.seconds));
  const hour = monthOf(line, line.seconds * HOURS_OF_MONTH);
  const [time, calls, requests] = ["time", "calls", "requests"].map((part) =>
    money(priced(all)[part]),
  );
  return [
    "- **Nobody there**: nothing beyond the 5 USD of the plan. In ten minutes without a visitor no",
    "  object is called, none is awake and no row is written; CI holds that.",
    "- **One visitor a minute**: nothing beyond the plan.",
    `  ${million(each.requests)} of the 10 million requests that it includes,`,
    `  ${million(each.calls)} of the 1 million object calls.`,
    "- **A small shop**, 400 places, always half full:",
    `  ${beyond(shop)} USD beyond the plan; the sum differs from run to run.`,
    `- **An hour with 5,000 in line**: ${million(hour.requests)} million requests,`,
    `  ${million(hour.calls)} million object calls and ${thousands(hour.awakeS)} seconds awake:`,
    `  ${money(hourUsd(line))} USD, and nothing while the month's included share lasts.`,
    `  A month of such hours are ${million(ofLine.requests)} million requests.`,
    `- **A sale of a million**: ${minutesOf(all)} minutes in which a million`,
    "  visitors check in (`sale` in 30 data centers, seed 201) are",
    `  ${million(all.requests)} million requests, ${million(all.calls)} million object calls and`,
    `  ${thousands(all.awakeS)} seconds awake: ${requests}, ${calls} and ${time} USD.`,
    "  Nearly all of it are check-ins: a longer `refresh_interval_seconds` makes it cheaper.",
    "- **A large room**, 10,000 places always half full in 30 data centers:",
    `  ${money(objectsOf(large))} USD for its objects`,
    `  (${money(neverAsleep(large.objects))} if none ever slept), and`,
    `  ${money(monthly(large).requests)} USD for its`,
    `  ${million(ofLarge.requests)} million page views, which any Worker in front of a site costs.`,
    "  If each request and call is written to the log, it pays",
    `  ${money(monthly(large).logs)} USD more: keep \`invocation_logs\` off in \`wrangler.toml\`.`,
  ].join("\n");
}

function months(cases) {
  return table(
    COLUMNS,
    Object.entries(CASES).map(([name, title]) => monthRow(title, cases[name])),
  );
}

function goals({ nobody, large, forgetting }) {
  const nothing = nobody.calls + nobody.rows + nobody.awakeS;
  const both = [large, forgetting];
  const usd = both.map(objectsOf);
  const each = both.map(callsEach);
  const judged = (figures, most, digits) =>
    figures.map((one) => `${one.toFixed(digits)}: ${met(one, most)}`);
  const [kept, lost] = judged(usd, HALF_FULL_USD_GOAL, 2);
  const [keptCalls, lostCalls] = judged(each.map(({ inside }) => inside), CALLS_GOAL, 3);
  const all = each.map((one) => one.all.toFixed(2)).join(" and ");
  const registry = each[0].registry.toFixed(2);
  return table(
    ["goal", "figure"],
    [
      ["without visitors, nothing", met(nothing, 0)],
      [
        `objects below ${HALF_FULL_USD_GOAL} USD, half full in 30 data centers`,
        `${kept}; where objects forget whenever they have slept for 10 s ${lost}`,
      ],
      [
        `${CALLS_GOAL} object calls for a page view of somebody inside there`,
        `${keptCalls}, and ${lostCalls}, with those of the registry. With the calls that ` +
          `newcomers cause for slots each page view costs ${all},` +
          ` ${registry} of them of the registry`,
      ],
    ],
  );
}

/** What grows with the data centers, at most: none of their objects sleeps all month. */
function dataCenters() {
  const head = [
    ...["data centers with visitors", "objects", "their time, USD"],
    ...["calls of the registry", "these calls, USD"],
  ];
  const row = (count) => {
    const objects = 1 + 2 * count;
    const calls = (count * MONTH_S) / REGISTRY_ASKED_S;
    const usd = bill({ ...NOTHING, calls }).calls;
    return [count, objects, money(neverAsleep(objects)), `${million(calls)} M`, money(usd)];
  };
  return table(head, DATA_CENTERS.map(row));
}

const monthly = (measured) => bill(monthOf(measured, measured.seconds));

/** What the objects of a case cost in a month. */
export function objectsOf(measured) {
  const { time, calls } = monthly(measured);
  return time + calls;
}

const beyond = (measured) => money(monthly(measured).total - bill(NOTHING).total);
const NOTHING = { requests: 0, calls: 0, awakeS: 0, rows: 0 };
const minutesOf = ({ seconds }) => Math.round(seconds / 60);
const million = (count) => {
  const millions = count / 1e6;
  return millions >= 10 ? millions.toFixed(0) : millions.toPrecision(2);
};
const thousands = (count) => (Math.round(count / 1_000) * 1_000).toLocaleString("en-US");

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}
