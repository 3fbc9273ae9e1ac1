/**
 * Chance in the tests of faults: when each happens follows from one seed, which is printed, so that
 * `FAULT_SEED=<seed>` plays the same again.
 */

import { stream } from "./population.mjs";

const SEEDS = 1_000_000;
const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * SEEDS));
console.log(`FAULT_SEED=${seed}`);

/**
 * Makes a function that draws whether a fault happens now.
 *
 * @param {number} share how often it happens, from 0 to 1
 */
export function chance(share) {
  const draw = stream(seed);
  return () => draw() < share;
}
