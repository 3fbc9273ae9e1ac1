/**
 * One scenario that many tests disturb: a small room, a line of visitors who come seconds apart,
 * and sessions that end one after the other. Whatever happens, the limits hold and nobody loses the
 * place.
 */

import assert from "node:assert/strict";

import { Crowd } from "./crowd.mjs";
import { mostEnteredInAMinute, mostInside, orderOfEntry } from "./measure.mjs";
import { room } from "./rooms.mjs";

/** Most visitors inside at the same time. */
export const PLACES = 3;
const SESSION_MS = 60_000;
/**
 * When each visitor comes, in seconds. The first three enter at once, so far apart that their
 * places come free one at a time; the others make a line before the first session ends.
 */
const ARRIVALS_S = [0, 20, 40, 43, 46, 49, 52, 55, 58];
/** The time between two disturbances, in milliseconds. */
const ROUND_MS = 12_000;
/**
 * How long everybody may take to enter, in milliseconds: three rounds of sessions, and as much
 * again for places that are held until they are written off.
 */
const PATIENCE_MS = 480_000;

/**
 * Stories about something else than the order let one visitor enter before another: an isolate or
 * object that dies takes a check-in with it, and a version before counted a slot twice that was
 * granted just after the middle of a census (`queue/served.rs`). `order.test.mjs` fails by that.
 */
const SELDOM = 1;

/** The room of the scenario. */
export const lineRoom = room({ name: "line", total_active_users: PLACES });

/**
 * Plays the scenario and checks the limits and the order of entry.
 *
 * @param {object} cluster
 * @param {object} [options]
 * @param {(round: number) => Promise<void>} [options.disturb] called every 12 s, with 0, 1, 2, ...
 * @param {number} [options.overtaking] how many later visitors may enter before somebody: 0, or one
 *   less than the places that a disturbance makes free at once
 */
export async function playLine(cluster, { disturb = async () => {}, overtaking = SELDOM } = {}) {
  const crowd = new Crowd(cluster, { count: ARRIVALS_S.length, host: lineRoom.host });
  const start = cluster.clock.now();
  const coming = crowd.visitors.map((visitor, at) => ({
    visitor,
    at: start + ARRIVALS_S[at] * 1_000,
  }));
  const everybodyEntered = () => crowd.inside.length === crowd.visitors.length;
  const waitUntil = (moment) => crowd.wait(moment - cluster.clock.now(), everybodyEntered);
  for (let round = 0; round * ROUND_MS < PATIENCE_MS && !everybodyEntered(); round += 1) {
    const end = start + (round + 1) * ROUND_MS;
    while (coming[0]?.at < end) {
      const { visitor, at } = coming.shift();
      await waitUntil(at);
      await crowd.arriveOne(visitor);
    }
    await waitUntil(end);
    await disturb(round);
  }

  const arrivals = await cluster.arrivals();
  const names = crowd.visitors.map(({ name }) => name);
  const order = orderOfEntry(arrivals);
  assert.deepEqual([...order].sort(), names, "somebody never entered");
  assert.ok(mostInside(arrivals, SESSION_MS) <= PLACES, "too many inside");
  assert.ok(mostEnteredInAMinute(arrivals, SESSION_MS) <= PLACES, "too many in one minute");
  assert.ok(mostOvertaken(names, order) <= overtaking, `entered in the order ${order}`);
}

/** Returns the largest number of visitors who joined later than somebody and entered before. */
function mostOvertaken(joined, entered) {
  const placeOf = new Map(entered.map((name, at) => [name, at]));
  const overtaken = joined.map(
    (name, at) =>
      joined.slice(at + 1).filter((later) => placeOf.get(later) < placeOf.get(name)).length,
  );
  return Math.max(...overtaken);
}
