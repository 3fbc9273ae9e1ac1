// What a thread of the simulator does: plays one plan, or only checks it, and tells how far it is.
// Pure: threads of Node and of browsers do the same.

import { splitStock } from "./stock.mjs";

/** How often it tells how far it is, in milliseconds at least. */
const TELL_EVERY_MS = 100;

/**
 * Answers a question with a message for `take` (lanes.mjs).
 *
 * @param {object} question
 * @param {object} question.plan
 * @param {boolean} [question.onlyCheck]
 * @param {object} simulator the functions `check` and `rehearse` of its module
 * @param {(message: { part: number }) => void} tell is told which part is done, 0 to 1
 */
export function answerTo({ plan, onlyCheck }, { check, rehearse }, tell) {
  const { simulated, wrong } = splitStock(plan);
  const text = JSON.stringify(simulated);
  let expected;
  try {
    const [visitors, played] = check(text);
    expected = { visitors, played };
  } catch (error) {
    return { wrong: wrong ? `${error.message}\n${wrong}` : error.message };
  }
  if (wrong) return { wrong };
  return onlyCheck ? { expected } : { outcome: rehearse(text, progressTo(tell)) };
}

function progressTo(tell) {
  let toldAt = 0;
  return {
    tell(part) {
      const now = Date.now();
      if (now - toldAt < TELL_EVERY_MS && part < 1) return;
      toldAt = now;
      tell({ part });
    },
  };
}
