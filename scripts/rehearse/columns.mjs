// The table of limits beside each other: what each column says. Pure: the report and the cockpit
// show the same.
import { count, moment, waitText } from "./answer.mjs";

/** Each column: its head, and its cell for a play of a plan. */
export const COLUMNS = [
  ["line gone", ({ outcome }, plan) => bare(moment(plan, outcome.line_over_at_s))],
  ["half wait over", ({ outcome }) => waitText(outcome, "median")],
  ["5 of 100 over", ({ outcome }) => waitText(outcome, "p95")],
  ["longest wait", ({ outcome }) => waitText(outcome, "longest")],
  ["longest line", ({ outcome }) => count(outcome.longest_line)],
  ["give up", ({ outcome }) => count(outcome.visitors.gave_up)],
  [
    "most inside",
    ({ outcome }) => `${count(outcome.most_inside)} of ${count(outcome.limits.total_active_users)}`,
  ],
  ["USD", ({ bill }) => bill.usd.toFixed(2)],
];

/** What is to be known about the table. */
export const ABOUT_WAITS =
  "Waits are those of people who had to wait and entered, from their arrival, or from the start " +
  "where they came before it.";

/** A moment as it stands in a cell. */
export function bare(text) {
  return text.replace(/^(at|in) /, "");
}
