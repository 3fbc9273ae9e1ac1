// The search for limits with which nearly everybody enters within so many minutes, and what is
// said of it. Pure, but for the plays that it asks for: the command and the cockpit say the same.
import { gaveUpText, limitsText } from "./answer.mjs";
import { played } from "./lanes.mjs";
import { LARGEST, find } from "./variants.mjs";

/**
 * Searches, and says what was found.
 *
 * @param {object} plan
 * @param {number} minutes within how long 95 of 100 are to enter
 * @param {(plans: object[]) => Promise<object[]>} play
 * @param {(tried: number) => void} onTried hears how many limits are tried with the next ones
 * @returns {Promise<{ says: string, play?: object }>} no `play` if no limits were found
 */
export async function searched(plan, minutes, play, onTried) {
  let tried = 0;
  const { isEnough, ...best } = await find(plan, minutes * 60, (plans) => {
    tried += plans.length;
    onTried(tried);
    return play(plans);
  });
  const { limits, opens_at_s: opensAtS } = best.outcome;
  const from = opensAtS > 0 ? " from the start" : "";
  const aim = `of those who do not leave at once, 95 of 100 enter within ${minutes} min${from}`;
  const limitsAre = limitsText(limits);
  const gaveUp = gaveUpText(best.outcome);
  if (isEnough) {
    const says = `So that, ${aim}: ${limitsAre}. With these ${gaveUp}.`;
    return { says, play: played(best.plan, best.outcome) };
  }
  const none = `No limits up to ${LARGEST} times the plan's do it: ${aim}.`;
  return { says: `${none} With ${limitsAre} ${gaveUp}.` };
}
