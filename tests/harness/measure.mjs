/**
 * What the origin saw, in the words of the room's limits. Truth is measured here per visitor from
 * the origin's own list, never from a counter of the Worker.
 */

const MINUTE_MS = 60_000;

/**
 * The most visitors inside at one moment. A visitor is inside from an arrival until the session has
 * passed without another; where it is known when a request was `sent`, its session is counted from
 * then, for the Worker decides before the origin sees it.
 *
 * @param {{ at: number, visitor: string, sent?: number }[]} arrivals
 * @param {number} sessionMs
 */
export function mostInside(arrivals, sessionMs) {
  const moves = stays(arrivals, sessionMs).flatMap(({ from, until }) => [
    { at: from, by: 1 },
    { at: until, by: -1 },
  ]);
  // Whoever leaves in the same millisecond leaves first: a session ends before its last moment is
  // over.
  moves.sort((one, other) => one.at - other.at || one.by - other.by);
  let inside = 0;
  let most = 0;
  for (const { by } of moves) {
    inside += by;
    most = Math.max(most, inside);
  }
  return most;
}

/** The most visitors who began a session within any 60 s. */
export function mostEnteredInAMinute(arrivals, sessionMs) {
  const entries = stays(arrivals, sessionMs)
    .map(({ from }) => from)
    .sort((one, other) => one - other);
  let first = 0;
  return entries.reduce((most, at, last) => {
    while (entries[first] <= at - MINUTE_MS) first += 1;
    return Math.max(most, last - first + 1);
  }, 0);
}

/** The visitors in the order of their first arrival. */
export function orderOfEntry(arrivals) {
  return [
    ...new Set([...arrivals].sort((one, other) => one.at - other.at).map((one) => one.visitor)),
  ];
}

/** Every stay of every visitor: { visitor, from, until }. */
function stays(arrivals, sessionMs) {
  const all = [];
  const latest = new Map();
  for (const { at, visitor, sent = at } of [...arrivals].sort((one, other) => one.at - other.at)) {
    const stay = latest.get(visitor);
    if (stay && at < stay.until) {
      stay.until = sent + sessionMs;
      continue;
    }
    const fresh = { visitor, from: at, until: sent + sessionMs };
    latest.set(visitor, fresh);
    all.push(fresh);
  }
  return all;
}
