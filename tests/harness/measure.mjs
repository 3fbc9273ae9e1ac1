/**
 * Measures what the room's limits are about from what the origin saw: its own list of arrivals by
 * visitor, and no count of the Worker.
 */

const MINUTE_MS = 60_000;

/**
 * Returns the most visitors inside at one moment. A visitor is inside from an arrival until a
 * session has passed without another. Where it is known when a request was `sent`, its session is
 * counted from then, since the Worker decides before the origin sees the request. Times are in
 * milliseconds.
 *
 * @param {{ at: number, visitor: string, sent?: number }[]} arrivals
 * @param {number} sessionMs
 */
export function mostInside(arrivals, sessionMs) {
  const moves = stays(arrivals, sessionMs).flatMap(({ from, until }) => [
    { at: from, by: 1 },
    { at: until, by: -1 },
  ]);
  // Of moves in the same millisecond, leaving counts first: a session ends before its last moment
  // is over.
  moves.sort((one, other) => one.at - other.at || one.by - other.by);
  let inside = 0;
  let most = 0;
  for (const { by } of moves) {
    inside += by;
    most = Math.max(most, inside);
  }
  return most;
}

/** Returns the most visitors who began a session within any 60 s. */
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

/** Lists the visitors in the order of their first arrival. */
export function orderOfEntry(arrivals) {
  return [
    ...new Set([...arrivals].sort((one, other) => one.at - other.at).map((one) => one.visitor)),
  ];
}

/** Lists every stay of every visitor: { visitor, from, until }. */
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
