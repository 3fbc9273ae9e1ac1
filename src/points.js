// Raw points for Analytics Engine, where the owner has bound a dataset as ANALYTICS: what isolates
// report anyway, once an object has heard it. The core says what a report adds to a point
// (`machines/points.rs`).

/** How long a room writes no further point, in milliseconds: what happens meanwhile is added. */
const APART_MS = 10_000;
/**
 * How many points are written in the longest time that one invocation lasts, in milliseconds; the
 * platform takes 250 of each invocation.
 */
const POINTS_MAX = 240;
const INVOCATION_MS = 30_000;

/** What no point has told yet, by room, and when each room's last one was written. */
const sums = new Map();
/** When the last points were written. */
let written = [];

/** Whether there is a dataset. */
export function takes_points({ ANALYTICS: dataset }) {
  return dataset !== undefined;
}

/** Writes what a report adds to a point, or keeps it for the next one. It never fails. */
export function write_point({ ANALYTICS: dataset }, numbers, room, name, colo) {
  try {
    const now = Date.now();
    const { at, doubles: before } = sums.get(room) ?? { at: 0, doubles: [] };
    const doubles = Array.from(numbers, (number, place) => number + (before[place] ?? 0));
    sums.set(room, { at, doubles });
    written = written.filter((other) => other > now - INVOCATION_MS);
    const isEmpty = doubles.every((number) => number === 0);
    if (isEmpty || now < at + APART_MS || written.length >= POINTS_MAX) return;
    dataset.writeDataPoint({ indexes: [room], blobs: [name, colo], doubles });
    written.push(now);
    sums.set(room, { at: now, doubles: [] });
  } catch (error) {
    console.error(`no point was written: ${error}`);
  }
}
