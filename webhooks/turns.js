// The messages to webhooks about visitors whose turn is near, which hold what those have typed.
// They are kept in memory alone, and no longer than until the turn: what a storage has held can be
// read again for weeks. Whatever is lost comes again with the visitor's next check-ins. Pure: every
// function returns the next list.

/** The topic that a webhook must name to get them. */
export const TOPIC = "turn";
/**
 * The most messages that wait; one more is not taken: its page does not say that it is on its way,
 * and a later check-in brings it again.
 */
const TURNS_MAX = 1_000;
/** The most that are sent at the same time: the platform opens six connections. */
const AT_ONCE = 5;
/** How long after each attempt the next one is made, in milliseconds; the last goes on. */
const BACKOFF_MS = [5_000, 10_000, 20_000];
/** How long a message is tried at least, in milliseconds, also if the turn comes sooner. */
const TRIED_MS = 60_000;
/**
 * How long it is remembered, in milliseconds, that a visitor was told, and that the mailbox had a
 * message (`shares.js`).
 */
export const REMEMBERED_MS = 30 * 60_000;

/**
 * Adds a message for each webhook that names the topic. Nothing is returned if not all of them can
 * be taken, or no webhook names it.
 *
 * @param {object[]} turns
 * @param {number} now in milliseconds
 * @param {{ id: string, contact_id: string, contact: string, wait_s: number }} turn see
 *   `visit/turn_notice.rs` of the core
 * @param {{ id: string, topics: string[] }[]} hooks
 * @param {(name: string) => boolean} isKnown whether that is remembered
 */
export function added(turns, now, turn, hooks, isKnown) {
  const turnAt = now + turn.wait_s * 1_000;
  const until = Math.max(turnAt, now + TRIED_MS);
  const state = { at: now, turnAt, until, attempts: 0, next_at: now, isUnderWay: false };
  const made = hooks
    .filter(({ topics }) => topics?.includes(TOPIC))
    .map(({ id: hook }) => ({ ...turn, ...state, hook }));
  const isNew = (message) =>
    !isKnown(nameOf(message)) && !turns.some((one) => isSame(one, message));
  const all = [...turns, ...made.filter(isNew)];
  if (made.length > 0 && all.length <= TURNS_MAX) return all;
}

/** By what it is remembered that a message was taken: a visitor gets one for each webhook. */
export function nameOf({ hook, id }) {
  return `${hook} ${id}`;
}

/** Takes messages that are due, and forgets those whose turn has come. */
export function taken(turns, now) {
  const kept = turns.filter(({ until, isUnderWay }) => isUnderWay || until > now);
  const free = AT_ONCE - kept.filter(({ isUnderWay }) => isUnderWay).length;
  const due = kept
    .filter(({ next_at, isUnderWay }) => !isUnderWay && next_at <= now)
    .slice(0, Math.max(0, free))
    .map((one) => ({ ...one, attempts: one.attempts + 1, isUnderWay: true }));
  return { due, turns: replaced(kept, due) };
}

/** Takes in whether a message is done with: it was taken, or nobody is told of turns any more. */
export function answered(turns, now, message, isDone) {
  if (isDone) return turns.filter((one) => !isSame(one, message));
  const wait_ms = BACKOFF_MS[Math.min(message.attempts, BACKOFF_MS.length) - 1];
  return replaced(turns, [{ ...message, next_at: now + wait_ms, isUnderWay: false }]);
}

/** The minutes until the turn, rounded up: a message that is late says less. */
export function minutesLeft({ turnAt }, now) {
  return Math.max(1, Math.ceil((turnAt - now) / 60_000));
}

function replaced(turns, next) {
  return turns.map((one) => next.find((other) => isSame(one, other)) ?? one);
}

function isSame(one, other) {
  return one.hook === other.hook && one.id === other.id;
}
