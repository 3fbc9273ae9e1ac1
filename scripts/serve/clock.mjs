// Watches the clock of the machine while a folder is served. Once it is set back, what workerd has
// in memory waits for moments that are far ahead: it must be started again.
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

/** A clock that goes back by more is set back; workerd gets over less. */
const SET_BACK_MS = 5_000;
const EVERY_MS = 1_000;
/** So much from one look to the next is no step: on some systems the two clocks drift apart. */
const DRIFT_MS = 1;

/**
 * How far the date is ahead of a clock that nobody sets, and by how much it was set back since it
 * was ahead most. A date that is set forward needs nothing, and one that goes back again does.
 *
 * @param {number | undefined} before the `leadMs` of the look before; `undefined` at the first
 * @param {object} now
 * @param {number} now.dateMs the date, in milliseconds
 * @param {number} now.steadyMs what the other clock tells, in milliseconds
 * @returns {{ leadMs: number, setBackMs: number }} `setBackMs` is 0 if nothing is to be done
 */
export function clockNews(before, { dateMs, steadyMs }) {
  const leadMs = dateMs - steadyMs;
  const setBackMs = before === undefined ? 0 : before - leadMs;
  if (setBackMs > SET_BACK_MS) return { leadMs, setBackMs };
  return { leadMs: Math.max(leadMs, (before ?? leadMs) - DRIFT_MS), setBackMs: 0 };
}

/**
 * Calls `onSetBack` with the milliseconds each time that the clock was set back, as long as this
 * process lives.
 */
export async function watchClock(onSetBack) {
  let lead;
  for (;;) {
    const news = clockNews(lead, { dateMs: Date.now(), steadyMs: performance.now() });
    lead = news.leadMs;
    if (news.setBackMs > 0) onSetBack(news.setBackMs);
    await sleep(EVERY_MS, undefined, { ref: false });
  }
}
