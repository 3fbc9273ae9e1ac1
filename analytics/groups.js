// Rows of minutes, grouped by dimensions, and what is told of each group.

const MINUTE_MS = 60_000;

/** The dimensions, each with its value for a row. */
export const DIMENSIONS = {
  datetimeMinute: ({ at }) => start(at, 1),
  datetimeFifteenMinutes: ({ at }) => start(at, 15),
  datetimeHour: ({ at }) => start(at, 60),
  waitingRoomId: ({ waitingRoomId }) => waitingRoomId,
};

/** Counts of which there are a mean, a most and a least. */
export const LEVELS = [
  "totalActiveUsers",
  "totalActiveUsersConfig",
  "totalQueuedUsers",
  "newUsersPerMinute",
  "newUsersPerMinuteConfig",
];
/**
 * What happens so often in a minute. Cloudflare counts challenges too, but does not publish the
 * names: these are those of the log.
 */
export const EVENTS = [
  "sessionsRevoked",
  "turnstileChallenges",
  "turnstileSuccesses",
  "turnstileFailures",
  "infiniteQueueRequests",
];
/** Durations in seconds, as percentiles. */
export const DURATIONS = ["timeOnOrigin", "totalTimeWaited"].flatMap((name) =>
  ["P50", "P90", "P95"].map((percentile) => name + percentile),
);
/** What is told of a group, and of which fields. */
export const AGGREGATES = {
  avg: LEVELS,
  max: LEVELS,
  min: LEVELS,
  sum: ["newUsersPerMinute", ...EVENTS],
  avgWeighted: DURATIONS,
};
const COMPUTE = {
  avg: (rows, name) => sum(rows, name) / known(rows, name).length,
  max(rows, name) {
    const all = known(rows, extremeOf(rows, name, "Max"));
    return all.reduce((one, other) => Math.max(one, other), -Infinity);
  },
  min(rows, name) {
    const all = known(rows, extremeOf(rows, name, "Min"));
    return all.reduce((one, other) => Math.min(one, other), Infinity);
  },
  sum,
  // Weighted by how many durations each minute knows.
  avgWeighted(rows, name) {
    const count = `${name.slice(0, -"P50".length)}Count`;
    const measured = rows.filter((row) => row[name] !== null);
    const weighed = measured.reduce((total, row) => total + row[name] * row[count], 0);
    return weighed / sum(measured, count);
  },
};

/**
 * Groups rows by the values of these dimensions: `{ dimensions, avg, max, ... }` each, where an
 * aggregate is computed when it is asked for.
 */
export function grouped(rows, names) {
  const groups = new Map();
  for (const row of rows) {
    const dimensions = Object.fromEntries(names.map((name) => [name, DIMENSIONS[name](row)]));
    const key = Object.values(dimensions).join(" ");
    if (!groups.has(key)) groups.set(key, { dimensions, rows: [] });
    groups.get(key).rows.push(row);
  }
  return [...groups.values()].map((group) => {
    const told = Object.entries(AGGREGATES).map(([of, fields]) => {
      const compute = (name) => () => finite(COMPUTE[of](group.rows, name));
      return [of, Object.fromEntries(fields.map((name) => [name, compute(name)]))];
    });
    return { dimensions: group.dimensions, ...Object.fromEntries(told) };
  });
}

function known(rows, name) {
  return rows.map((row) => row[name]).filter((value) => value !== null);
}

function sum(rows, name) {
  return known(rows, name).reduce((total, value) => total + value, 0);
}

/** What was not measured is null. */
function finite(value) {
  return Number.isFinite(value) ? value : null;
}

/** The field that holds the most or the least of a minute, where that is not the field itself. */
function extremeOf([row], name, extreme) {
  return name + extreme in row ? name + extreme : name;
}

function start(at, minutes) {
  const span = minutes * MINUTE_MS;
  return `${new Date(at - (at % span)).toISOString().slice(0, -".000Z".length)}Z`;
}
