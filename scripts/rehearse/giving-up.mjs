// Who gives up in a rehearsal: as the plan says it, and as it came. Pure.

/** The shares of the visitors of which the simulator tells the longest wait, with its names. */
const WAITS = [
  [1, "longest"],
  [0.99, "p99"],
  [0.95, "p95"],
  [0.9, "p90"],
  [0.75, "p75"],
  [0.5, "median"],
];
/** Of so many visitors, as a part of them, a search asks that they enter in time. */
const ENOUGH = 0.95;

/** How many of 100 leave at once, and after how many minutes the others do; `null` for never. */
export function givingUpOf({ giving_up: said = {} }) {
  const { at_once_percent: atOncePercent = 5, after_minutes: afterMinutes = 120 } = said;
  return { atOncePercent, afterMinutes };
}

/**
 * Whether 95 of 100 entered within so many seconds, and nobody still waits. Whoever saw the queue
 * page and left at once is not counted; whoever gave up later was not served in time.
 *
 * @param {object} plan
 * @param {object} outcome
 * @param {number} waitS
 */
export function areServed(plan, { visitors, wait_s: waits }, waitS) {
  const { atOncePercent, afterMinutes } = givingUpOf(plan);
  const left = visitors.gave_up - (visitors.queued * atOncePercent) / 100;
  const gaveUp = afterMinutes === null ? 0 : Math.max(0, left);
  // The simulator tells no share between these: the next lower one is certain.
  const [share] = WAITS.find(([, name]) => waits[name] <= waitS) ?? [0];
  const isEnough = share * visitors.entered >= ENOUGH * (visitors.entered + gaveUp);
  return visitors.entered > 0 && visitors.waiting === 0 && isEnough;
}
