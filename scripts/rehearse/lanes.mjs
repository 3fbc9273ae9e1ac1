// Plays plans side by side, each on a thread of its own. Pure: the command asks threads of Node,
// the cockpit those of a browser.
import { answerOf } from "./answer.mjs";
import { billOf } from "./bill.mjs";

/** What is wrong with a plan: a line for each field. */
export class PlanError extends Error {}

/**
 * Plays plans, as many at once as are allowed.
 *
 * @param {(question: object, onPart: (part: number) => void) => Promise<object>} ask a thread
 * @param {object[]} plans
 * @param {object} options
 * @param {number} options.threads
 * @param {(part: number) => void} [options.onProgress] hears which part of all is done, 0 to 1
 * @returns {Promise<object[]>} their outcomes, in the order of the plans
 * @throws {PlanError} if one is not understood
 */
export async function playBy(ask, plans, { threads, onProgress = () => {} }) {
  const parts = plans.map(() => 0);
  const outcomes = [];
  let next = 0;
  const lane = async () => {
    for (let at; (at = next) < plans.length;) {
      next += 1;
      outcomes[at] = await ask({ plan: plans[at] }, (part) => {
        parts[at] = part;
        onProgress(parts.reduce((sum, one) => sum + one, 0) / plans.length);
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, plans.length) }, lane));
  return outcomes;
}

/** Takes a message of a thread, as `answerTo` makes them. */
export function take({ part, expected, outcome, wrong }, { resolve, reject, onPart }) {
  if (part !== undefined) onPart?.(part);
  if (expected !== undefined) resolve(expected);
  if (outcome) resolve(JSON.parse(outcome));
  if (wrong) reject(new PlanError(wrong));
}

/** What came of a plan, with its answer in words and its bill. */
export function played(plan, outcome) {
  return { plan, outcome, answer: answerOf(plan, outcome), bill: billOf(outcome) };
}
