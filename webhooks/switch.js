// A fact that is or is not, and is told only once it has been so for a while: whatever comes and
// goes is told once.

/** What is not told, and not otherwise. */
export const OFF = { told: false, since: 0 };

/**
 * Takes in whether a fact `is` at `now`. Returns its next state, which says in `changed` whether
 * that is to be told. `since` is when it began to be otherwise than told; 0 if it is as told.
 *
 * @param {{ told: boolean, since: number }} state
 * @param {number} now in milliseconds
 * @param {boolean} is
 * @param {{ riseMs: number, fallMs: number }} delays how long it must be, or not be, until that is
 *   told
 */
export function turned({ told, since }, now, is, delays) {
  if (is === told) return { told, since: 0, changed: false };
  const next = { told, since: since || now };
  if (now < dueAt(next, delays)) return { ...next, changed: false };
  return { told: is, since: 0, changed: true };
}

/** When the fact is to be told, if it stays as it is; `Infinity` if it is as told. */
export function dueAt({ told, since }, { riseMs, fallMs }) {
  return since ? since + (told ? fallMs : riseMs) : Infinity;
}

/**
 * When to look at the fact again, if nobody looks before: also while it is as told, since the end
 * of what has begun may come unseen.
 */
export function lookAgainAt(state, now, delays) {
  const isOn = state.told && !state.since;
  return isOn ? now + delays.fallMs : dueAt(state, delays);
}
