// The search for limits with which hardly anybody waits longer than so many minutes, and what is
// said of it. Pure, but for the plays that it asks for: the command and the cockpit say the same.
import { limitsText } from "./answer.mjs";
import { played } from "./lanes.mjs";
import { find } from "./variants.mjs";

/**
 * Searches, and says what was found.
 *
 * @param {object} plan
 * @param {number} minutes how long 95 of 100 may wait at most
 * @param {(plans: object[]) => Promise<object[]>} play
 * @param {(tried: number) => void} onTried hears how many limits are tried with the next ones
 * @returns {Promise<{ says: string, play?: object }>} no `play` if no limits were found
 */
export async function searched(plan, minutes, play, onTried) {
  let tried = 0;
  const best = await find(plan, minutes * 60, (plans) => {
    tried += plans.length;
    onTried(tried);
    return play(plans);
  });
  const aim = `95 of 100 wait at most ${minutes} min`;
  if (!best) return { says: `No limits up to 64 times the plan's do it: ${aim}.` };
  const found = played(best.plan, best.outcome);
  return { says: `For ${aim}: ${limitsText(found.outcome.limits)}.`, play: found };
}
