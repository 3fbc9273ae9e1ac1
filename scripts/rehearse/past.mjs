// What a room has recorded, as the part of a plan: when people came, how long they stayed, how many
// gave up. Pure.

const MINUTE_MS = 60_000;

/**
 * Reads a history by minutes.
 *
 * @param {{ columns: string[], rows: unknown[][] }} history as the API answers it
 * @returns {object | undefined} `begins_at`, `arrivals`, `on_site`, `giving_up`, and as `past` what
 *   really happened; nothing where nobody came
 */
export function pastOf({ columns, rows }) {
  const minutes = rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])));
  const came = minutes.filter((minute) => arrivalsOf(minute) > 0);
  if (came.length === 0) return;
  const first = Date.parse(came[0].datetime);
  const last = Date.parse(came.at(-1).datetime);
  const perMinute = Array.from({ length: (last - first) / MINUTE_MS + 1 }, () => 0);
  for (const minute of came) {
    perMinute[(Date.parse(minute.datetime) - first) / MINUTE_MS] = arrivalsOf(minute);
  }
  const stayedS = weighted(minutes, "stayed_seconds_p50", "stays_measured");
  const waitedS = weighted(minutes, "waited_seconds_p50", "waits_measured");
  const left = sum(minutes, "left_line");
  const joined = sum(minutes, "joined_line");
  const at = new Date(first);
  return {
    begins_at: [at.getHours(), at.getMinutes()].map((part) => `${part}`.padStart(2, "0")).join(":"),
    arrivals: { per_minute: perMinute },
    ...(stayedS === undefined ? {} : { on_site: { minutes: Math.max(0.1, stayedS / 60) } }),
    giving_up: { at_once_percent: 0, after_minutes: patienceOf(left, joined, waitedS) },
    past: {
      waited_s: waitedS,
      told_error_percent: weighted(minutes, "told_error_percent_p50", "told_errors_measured"),
      gave_up_percent: joined > 0 ? (100 * left) / joined : 0,
    },
  };
}

/** The mean patience with which so many of those in line have given up; `null` if nobody has. */
function patienceOf(left, joined, waitedS) {
  const part = joined > 0 ? Math.min(0.95, left / joined) : 0;
  if (part === 0 || !waitedS) return null;
  return Math.max(0.1, waitedS / 60 / -Math.log(1 - part));
}

const arrivalsOf = (minute) =>
  (minute.joined_line ?? 0) +
  Math.max(0, (minute.entered ?? 0) - (minute.entered_after_waiting ?? 0));

const sum = (minutes, name) => minutes.reduce((all, minute) => all + (minute[name] ?? 0), 0);

/** The mean of a column, each minute by how many were measured in it. */
function weighted(minutes, name, weight) {
  const known = minutes.filter((minute) => minute[name] !== null && (minute[weight] ?? 0) > 0);
  const all = sum(known, weight);
  if (all === 0) return;
  return known.reduce((total, minute) => total + minute[name] * minute[weight], 0) / all;
}
