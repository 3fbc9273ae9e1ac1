// Raw points for Analytics Engine, where the owner has bound a dataset as ANALYTICS: what isolates
// report anyway, once an object has heard it. Nothing of a visitor is in them.

/** How long a room writes no further point, in milliseconds: what happens meanwhile is added. */
const APART_MS = 10_000;
/**
 * How many points are written in the longest time that one invocation lasts, in milliseconds; the
 * platform takes 250 of each invocation.
 */
const POINTS_MAX = 240;
const INVOCATION_MS = 30_000;
/** The cells of facts on the wire: see `capacity/facts.rs` of the core, where none may change. */
const CELLS = 256;
const CELL_NAMES = new Map([
  [4, "challenged"],
  [5, "solved"],
  [6, "failed"],
  [7, "infinite"],
  [9, "unanswered"],
]);
/** The doubles of a point, in their order: docs/operations.md names them for SQL. */
const DOUBLES = [
  "entered",
  "called",
  "joined",
  "revoked",
  "waited_s",
  "challenged",
  "solved",
  "failed",
  "infinite",
  "unanswered",
];

/** What no point has told yet, by room, and when each room's last one was written. */
const sums = new Map();
/** When the last points were written. */
let written = [];

/** Whether there is a dataset. */
export function takes_points({ ANALYTICS: dataset }) {
  return dataset !== undefined;
}

/** Writes what a report (JSON) says, or keeps it for the next point. It never fails. */
export function write_point({ ANALYTICS: dataset }, report, room, name, colo) {
  try {
    const now = Date.now();
    const known = sums.get(room) ?? { at: 0, counts: countsOf({ events: [] }) };
    sums.set(room, known);
    for (const [of, count] of Object.entries(countsOf(JSON.parse(report).m))) {
      known.counts[of] += count;
    }
    written = written.filter((at) => at > now - INVOCATION_MS);
    const isEmpty = Object.values(known.counts).every((count) => count === 0);
    if (isEmpty || now < known.at + APART_MS || written.length >= POINTS_MAX) return;
    dataset.writeDataPoint(pointOf(known.counts, { room, name, colo }));
    written.push(now);
    sums.set(room, { at: now, counts: countsOf({ events: [] }) });
  } catch (error) {
    console.error(`no point was written: ${error}`);
  }
}

/** The point that tells these counts of a room. */
export function pointOf(counts, { room, name, colo }) {
  return { indexes: [room], blobs: [name, colo], doubles: DOUBLES.map((of) => counts[of]) };
}

/** Counts what a report says. */
export function countsOf({ events, counted }) {
  const counts = Object.fromEntries(DOUBLES.map((name) => [name, 0]));
  for (const { admitted, present, revoked } of events) {
    if (admitted) {
      const waited = admitted.waited_s !== undefined;
      counts[waited ? "called" : "entered"] += 1;
      counts.waited_s += admitted.waited_s ?? 0;
    }
    if (present?.joined) counts.joined += 1;
    if (revoked) counts.revoked += 1;
  }
  for (const [key, count] of Object.entries(counted?.facts ?? {})) {
    const name = CELL_NAMES.get(Number(key) % CELLS);
    if (name) counts[name] += count;
  }
  return counts;
}
