// The steps in which ticket keys are changed. At every moment each isolate can open what any other
// has sealed: a new key is known everywhere before it seals, an old one as long as tickets live.
// Draws and names hang on the oldest key, so a new one stands behind it with a mark.
import { OPENS, newKey } from "./secrets.mjs";

const MINUTE_MS = 60_000;
/** How long a ticket may live that an old key has sealed: the longest session and a minute. */
export const TICKETS_LIVE_MS = 31 * MINUTE_MS;
/** The most keys that the Worker takes, see `key_ring.rs` in room-core. */
const KEYS_MAX = 8;

/**
 * Says what has to be done now.
 *
 * @param {string[]} keys the present keys, the one that seals first
 * @param {{ step: string, at?: number }} [rotation] how far an unfinished or the last one got; `at`
 *   is when its step was put, `undefined` if that is not known to have worked
 * @param {{ now: number, waitMs: number, dropOld: boolean }} options
 * @returns {{ keys?: string[], step?: string, waitMs?: number, refusal?: string }} keys to put and
 *   the step that this is; or how long to wait; or why not; or nothing, if all is done
 */
export function nextStep(keys, rotation, { now, waitMs, dropOld }) {
  const { step, at } = rotation ?? {};
  if (step && at === undefined) return { step, keys };
  if (step === "behind") {
    const left = at + waitMs - now;
    if (left > 0) return { waitMs: left };
    const added = keys.at(-1).replace(OPENS, "");
    return { step: "in front", keys: [added, ...keys.slice(0, -1)] };
  }
  if (!dropOld) return added(keys);
  if (keys.length === 1) return { refusal: "there is no old key to drop" };
  const left = (at ?? now) + TICKETS_LIVE_MS - now;
  if (left > 0) {
    const minutes = Math.ceil(left / MINUTE_MS);
    return { refusal: `tickets of the old key may live for ${minutes} more minutes: drop it then` };
  }
  return { step: "alone", keys: keys.slice(0, 1) };
}

function added(keys) {
  if (keys.length >= KEYS_MAX) {
    return { refusal: `there are ${keys.length} keys already: drop the old ones with --drop-old` };
  }
  return { step: "behind", keys: [...keys, OPENS + newKey(keys)] };
}
