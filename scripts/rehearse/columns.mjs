// The table of limits beside each other: what each column says. Pure: the report and the cockpit
// show the same.
import { count, duration, moment } from "./answer.mjs";

/** Each column: its head, and its cell for a play of a plan. */
export const COLUMNS = [
  ["line gone", ({ outcome }, plan) => bare(moment(plan, outcome.line_over_at_s))],
  ["half wait over", ({ outcome }) => duration(outcome.queued_wait_s.median)],
  ["5 of 100 over", ({ outcome }) => duration(outcome.queued_wait_s.p95)],
  ["longest wait", ({ outcome }) => duration(outcome.queued_wait_s.longest)],
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
  "Waits are those of people who had to wait, from their arrival or from the start.";

/** A moment as it stands in a cell. */
export function bare(text) {
  return text.replace(/^(at|in) /, "");
}
