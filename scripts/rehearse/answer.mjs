// The answer of a rehearsal in words: how long people wait, when the last one enters, what holds
// them up. Pure: the command and the report say the same.

import { leftOutTexts } from "./left-out.mjs";
import { onSiteOf } from "./on-site.mjs";
import { soldOutOf } from "./stock.mjs";

const DAY_MINUTES = 24 * 60;
/** A minute in which so much of a limit was used was one in which it was used up. */
const USED_UP = 0.97;
const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
const ENDINGS = { one: "st", two: "nd", few: "rd", other: "th" };

/**
 * What owners ask, answered.
 *
 * @param {object} plan
 * @param {object} outcome as the simulator tells it
 * @returns {string[]} sentences
 */
export function answerOf(plan, outcome) {
  const { visitors, limits } = outcome;
  const among = `${limitsText(limits)}`;
  const soldOut = soldOutTexts(plan, outcome);
  const leftOut = [...leftOutTexts(plan), ...sampleTexts(outcome)];
  if (visitors.queued === 0) {
    const calm = `With ${among} nobody waits: ${count(visitors.entered)} enter at once.`;
    return [calm, ...soldOut, ...leftOut];
  }
  const share = Math.round((100 * visitors.queued) / Math.max(1, visitors.arrived));
  const sentences = [
    `With ${among} the line is gone ${moment(plan, outcome.line_over_at_s)}.`,
    `${share} of 100 have to wait${waitsText(outcome)}.`,
    ...(visitors.gave_up > 0 ? [`${gaveUpText(outcome)}.`] : []),
    `The line is longest ${moment(plan, outcome.longest_line_at_s)}, with ` +
      `${count(outcome.longest_line)} people.`,
  ];
  if (visitors.waiting > 0) {
    sentences.push(`${count(visitors.waiting)} still wait a day after the last has come.`);
  }
  const told = hasNoneServed(outcome) ? [] : [toldText(outcome)];
  const held = [...limitTexts(limits, outcome), ...onSiteTexts(plan, outcome)];
  return [...sentences, ...soldOut, heldUpBy(outcome), ...told, ...held, ...leftOut];
}

/** When it is sold out, and how many are to be told so; nothing for a plan without a stock. */
function soldOutTexts(plan, outcome) {
  const soldOut = soldOutOf(plan, outcome);
  if (!soldOut) return [];
  const { stock, atS, waiting } = soldOut;
  if (atS === undefined) {
    const { entered } = outcome.visitors;
    return [`Sold out is never reached: ${count(entered)} enter, and ${count(stock)} may.`];
  }
  const last = `The ${ordinal(stock)} enters ${moment(plan, atS)}`;
  if (waiting === 0) return [`${last}: then nobody waits.`];
  const wait = `at most ${count(waiting)} still ${waiting === 1 ? "waits" : "wait"}`;
  return [`${last}: then ${wait}. Tell them that it is sold out.`];
}

/** Whether only some of the visitors were played. */
function sampleTexts({ one_in: oneIn }) {
  if (!(oneIn > 1)) return [];
  return [`One of ${count(oneIn)} visitors was played, in a room as much smaller.`];
}

/** What became of those who had to wait: how long those of them wait who enter. */
function waitsText(outcome) {
  if (hasNoneServed(outcome)) return ", and none of them enters";
  const { queued_wait_s: wait, opens_at_s: opensAtS } = outcome;
  const from = opensAtS > 0 ? " from the start" : "";
  const [most, longest] = [wait.p95, wait.longest].map(duration);
  // Rounded, both may be the same.
  const slowest = most === longest ? "" : `5 of 100 more than ${most}, `;
  return (
    `. Of those who enter, half wait more than ${duration(wait.median)}${from}, ` +
    `${slowest}and nobody more than ${longest}`
  );
}

/** Whether people had to wait of whom nobody entered: there is no wait to tell then. */
function hasNoneServed({ visitors, queued_wait_s: wait }) {
  return visitors.queued > 0 && wait.longest === 0;
}

/** How many gave up, without a full stop. */
export function gaveUpText({ visitors: { arrived, gave_up: gaveUp } }) {
  if (gaveUp === 0) return "nobody gives up";
  const share = ((100 * gaveUp) / arrived).toFixed(1);
  return `${count(gaveUp)} ${gaveUp === 1 ? "gives" : "give"} up, ${share} of 100`;
}

/** A wait of those who had to wait and entered, for a table: `name` is `median` or another. */
export function waitText(outcome, name) {
  return hasNoneServed(outcome) ? "none enters" : duration(outcome.queued_wait_s[name]);
}

/** Whether the limits held. */
function limitTexts({ total_active_users: places }, { over_limit: inside, over_rate: entered }) {
  const why = "(docs/algorithm.md, known limits)";
  const held = `Never are more than ${count(places)} inside.`;
  const broken = `At one moment ${count(places + inside)} are inside, ${count(inside)} too many`;
  return [
    inside === 0 ? held : `${broken} ${why}.`,
    ...(entered === 0 ? [] : [`Within a minute ${count(entered)} too many enter ${why}.`]),
  ];
}

/** How many of those inside are on the site, in two digits; nothing where it is not known. */
function onSiteTexts(plan, outcome) {
  const there = onSiteOf(plan, outcome);
  if (there === undefined) return [];
  const about = count(Number(there.toPrecision(2)));
  const counted = `Of the ${count(outcome.most_inside)} counted as inside`;
  return [`${counted} about ${about} are on the site at one time: a session counts until its end.`];
}

/**
 * What was simulated beside what a running Worker did, a line for each figure.
 *
 * @param {object} simulated an outcome
 * @param {object} measured what `playLive` resolves with
 */
export function besideText(simulated, measured) {
  const rows = [
    ["", "simulated", "live"],
    ...[
      ["came", ({ visitors }) => count(visitors.arrived)],
      ["entered", ({ visitors }) => count(visitors.entered)],
      ["gave up", ({ visitors }) => count(visitors.gave_up)],
      ["still waiting", ({ visitors }) => count(visitors.waiting)],
      ["most inside by their visits", ({ most_inside }) => count(most_inside)],
      ["half waited over", (of) => waitText(of, "median")],
      ["5 of 100 over", (of) => waitText(of, "p95")],
      ["longest", (of) => waitText(of, "longest")],
      ["first shown wait off by, %", toldCell],
    ].map(([name, cell]) => [name, cell(simulated), cell(measured)]),
    ["answers that did not come", "", count(measured.errors)],
  ];
  return rows
    .map(([name, ...cells]) => name.padEnd(28) + cells.map((cell) => cell.padStart(14)).join(""))
    .join("\n");
}

function toldCell(outcome) {
  if (hasNoneServed(outcome)) return "";
  return count((outcome.told ?? outcome).told_error_p50_percent);
}

/** What the room recorded, beside which a rehearsal from its history stands. */
export function pastText({ waited_s, told_error_percent, gave_up_percent }) {
  const waited =
    waited_s === undefined ? "nobody waited" : `half waited over ${duration(waited_s)}`;
  const error =
    told_error_percent === undefined
      ? "no shown wait was measured"
      : `the first shown wait was off by at most ${Math.round(told_error_percent)} % for half`;
  return `As recorded: ${waited}, ${gave_up_percent.toFixed(1)} of 100 gave up, ${error}.`;
}

/** The limits as an owner says them. */
export function limitsText({ total_active_users, new_users_per_minute }) {
  return `${count(new_users_per_minute)} a minute and ${count(total_active_users)} inside`;
}

/** Which limit made people wait, and so what to change. */
function heldUpBy({ limits, minutes }) {
  const full = minutes.filter(({ waiting }) => waiting > 0);
  const part = (is) => full.filter(is).length / Math.max(1, full.length);
  const byPlaces = part(({ inside }) => inside >= USED_UP * limits.total_active_users);
  const byRate = part(({ entered }) => entered >= USED_UP * limits.new_users_per_minute);
  if (byPlaces < 0.1 && byRate < 0.1) return "Most wait for the doors to open, not for a place.";
  return byRate >= byPlaces
    ? "What holds them up is how many may enter in a minute."
    : "What holds them up is how many may be inside: shorter visits or sessions help as well.";
}

function toldText({ told }) {
  const error = Math.round(told.told_error_p50_percent);
  const most = Math.round(told.told_error_p90_percent);
  return (
    `The first shown wait is off by at most ${error} % for half of them, ` +
    `and by at most ${most} % for 90 of 100.`
  );
}

/**
 * A moment of the rehearsal: the time of day where the plan says when it begins.
 *
 * @param {object} plan
 * @param {number} atS seconds from the beginning
 */
export function moment({ begins_at }, atS) {
  const minute = Math.floor(atS / 60);
  if (!begins_at) return `in minute ${minute + 1}`;
  const [hours, minutes] = begins_at.split(":").map(Number);
  const all = hours * 60 + minutes + minute;
  const days = Math.floor(all / DAY_MINUTES);
  const text = [Math.floor(all / 60) % 24, all % 60]
    .map((part) => `${part}`.padStart(2, "0"))
    .join(":");
  return `at ${text}${days > 0 ? `, ${days} ${days === 1 ? "day" : "days"} later` : ""}`;
}

/** A duration in the words of people. */
export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} minutes`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function ordinal(number) {
  return `${count(number)}${ENDINGS[ORDINALS.select(number)]}`;
}

/** A count with separators, always those of English: the whole report is. */
export function count(number) {
  return Math.round(number).toLocaleString("en");
}
