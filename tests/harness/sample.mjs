/**
 * Which of very many like cases a run takes: those that a seed draws, which is printed, so that
 * `TEST_SAMPLE=<seed>` takes the same again; with `TEST_SAMPLE=all` (`npm run nightly`) every one.
 */

import { createHash } from "node:crypto";

const SEEDS = 1_000_000;
const ALL = "all";
const seed = process.env.TEST_SAMPLE ?? String(Math.floor(Math.random() * SEEDS));
let isTold = false;

/**
 * True if the sample of this run has the case of this name.
 *
 * @param {string} name
 * @param {number} share of all cases that a run takes, from 0 to 1
 */
export function isInSample(name, share) {
  if (seed === ALL) return true;
  if (!isTold) console.log(`TEST_SAMPLE=${seed}`);
  isTold = true;
  const hash = createHash("sha256").update(`${seed} ${name}`).digest();
  return hash.readUInt32BE() / 2 ** 32 < share;
}

/** True if this run takes every case. */
export function isWhole() {
  return seed === ALL;
}
