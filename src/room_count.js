// How many the room itself has counted as admitted, for the owner to compare with its log: in the
// newest time in which the log was on without a break, as far as the room's history reaches.

/** How long a data center may not know a change of the configuration, in milliseconds. */
const KNOWN_MS = 30_000;
/** How long a minute of the history adds late reports, in milliseconds. */
const OPEN_MS = 300_000;
/** How long the history is kept, in milliseconds. */
const KEPT_MS = 30 * 24 * 3_600_000;
const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
/** The most rows in an answer of the history. */
const ROWS_MAX = 3_000;
/** The most entries in one list of the API. */
const LIST_MAX = 1_000;
/** The fewest. */
const LIST_MIN = 5;
const AUDIT_LOG = "waiting_rooms/audit_log";
const TARGET = /\/waiting_rooms\/\w+(?:\/events\/(\w+))?$/;
const NOT_KNOWN = { counted: null, counted_since: null, counted_until: null };

/**
 * Returns the count of a room's admissions, with the time that it is about. `call(path)` makes a
 * call of the API and returns its envelope, nothing if it was refused; `fromMs` is the first full
 * minute of the log.
 */
export async function roomCount({ call, of, room, fromMs: from, now }) {
  const begin = from - KNOWN_MS;
  const events = whole(await call(`${of}/events?per_page=${LIST_MAX}`));
  const changes = await changesSince(call, room.id, begin);
  if (!events || !changes) return NOT_KNOWN;
  const time = lastTimeOn({ room, events }, changes, [begin, now]);
  const part = time && fullPart(time, from, now);
  if (!part) return NOT_KNOWN;
  const sums = await Promise.all(rangesOf(part).map((range) => enteredIn(call, of, range)));
  // A sum that is not known makes the whole one NaN.
  const counted = sums.reduce((sum, one) => sum + one, 0);
  if (Number.isNaN(counted)) return NOT_KNOWN;
  return { counted, counted_since: textOf(part.from), counted_until: textOf(part.until) };
}

/** How many entered by the rows of one answer of the history; NaN if there is no answer. */
async function enteredIn(call, of, { from, until, resolution }) {
  const range = `from=${textOf(from)}&until=${textOf(until)}&resolution=${resolution}`;
  const history = await call(`${of}/history?${range}`);
  if (!history) return NaN;
  const { columns, rows } = history.result;
  const column = columns.indexOf("entered");
  return rows.reduce((sum, row) => sum + row[column], 0);
}

/** Returns the changes of a room since a moment, the newest first; nothing if some are unknown. */
async function changesSince(call, id, since) {
  const moment = textOf(since);
  const about = `target=${id}&since=${moment}&per_page=${LIST_MAX}`;
  const changes = whole(await call(`${AUDIT_LOG}?${about}`));
  // The oldest entries are dropped. One from before shows that those behind it are there.
  const older = await call(`${AUDIT_LOG}?before=${moment}&per_page=${LIST_MIN}`);
  if (!changes || older?.result_info.total_count > 0) return changes;
  const newest = await call(`${AUDIT_LOG}?per_page=${LIST_MIN}`);
  const made = newest?.result[0]?.version ?? 0;
  return newest?.result_info.total_count === made ? changes : undefined;
}

/** A list of the API; nothing if it has more than one page. */
function whole(envelope) {
  return envelope?.result_info.total_count === envelope?.result.length && envelope?.result;
}

/**
 * Returns the newest time between two moments in which the log was on: `{ from, until }`. `room`
 * and `events` are as they are now, `changes` are entries of the audit log, the newest first.
 */
export function lastTimeOn({ room, events }, changes, [from, until]) {
  let state = { room, events: new Map(events.map((event) => [event.id, event])) };
  let [end, time] = [until, undefined];
  for (const change of [...changes, undefined]) {
    const begin = change ? Math.max(Date.parse(change.at), from) : from;
    for (const part of partsOf(state, begin, end)) {
      // A change counts earlier or later elsewhere; an event begins and ends everywhere at once.
      const margin = part.until === end && end < until ? KNOWN_MS : 0;
      if (part.isOn) time = { from: part.from, until: time?.until ?? part.until - margin };
      else if (time) return { ...time, from: time.from + margin };
    }
    end = begin;
    state = change && before(state, change);
    if (!state) break;
  }
  // What was before a change that does not say so is not known.
  return time && end > from ? { ...time, from: time.from + KNOWN_MS } : time;
}

/** The parts of a time between the edges of events, the newest first, and whether each is on. */
function partsOf({ room, events }, from, until) {
  const all = [...events.values()].filter(({ suspended }) => !suspended).map(spanOf);
  const edges = all.flatMap(({ begin, end }) => [begin, end]);
  const inside = edges.filter((edge) => edge > from && edge < until);
  const moments = [...new Set([from, ...inside, until])].toSorted((one, other) => other - one);
  return moments.slice(1).map((moment, at) => {
    const event = all.find(({ begin, end }) => begin <= moment && moment < end);
    const readers = event?.readers ?? room.transparency_log ?? "off";
    return { from: moment, until: moments[at], isOn: readers !== "off" };
  });
}

function spanOf(event) {
  const { event_start_time: start, event_end_time: end, prequeue_start_time: prequeue } = event;
  const begin = Date.parse(prequeue ?? start);
  return { begin, end: Date.parse(end), readers: event.transparency_log };
}

/** Returns how room and events were before a change; nothing if it does not say so. */
function before(state, change) {
  const [isOfThem, id] = TARGET.exec(change.target) ?? [];
  if (!isOfThem) return state;
  const { room, events } = state;
  if (id) {
    const others = new Map(events);
    if (change.before) others.set(id, { ...takenBack(events.get(id), change), id });
    else others.delete(id);
    return { room, events: others };
  }
  if (!change.before) return undefined;
  const list = change.before.events ?? [...events.values()];
  // A long list is shown by its length and hash alone.
  if (!Array.isArray(list)) return undefined;
  const known = new Map(list.map((event) => [event.id, event]));
  return { room: takenBack(room, change), events: known };
}

function takenBack(now, change) {
  const changed = Object.keys(change.after ?? {});
  const rest = Object.entries(now ?? {}).filter(([name]) => !changed.includes(name));
  return { ...Object.fromEntries(rest), ...change.before };
}

/** Returns the part of a time that the history has in full minutes; nothing if there is none. */
export function fullPart(time, first, now) {
  const from = later(Math.max(time.from, first, now - KEPT_MS + MINUTE_MS), MINUTE_MS);
  const until = earlier(Math.min(time.until, now - OPEN_MS), MINUTE_MS);
  return from < until ? { from, until } : undefined;
}

/** What to ask the history for: minutes, or quarters between them if it is too long for that. */
export function rangesOf({ from, until }) {
  if (until - from <= ROWS_MAX * MINUTE_MS) return [{ from, until, resolution: "minute" }];
  const [first, last] = [later(from, QUARTER_MS), earlier(until, QUARTER_MS)];
  const ranges = [
    { from, until: first, resolution: "minute" },
    { from: first, until: last, resolution: "quarter" },
    { from: last, until, resolution: "minute" },
  ];
  return ranges.filter((range) => range.from < range.until);
}

const later = (moment, step) => Math.ceil(moment / step) * step;
const earlier = (moment, step) => Math.floor(moment / step) * step;
const textOf = (moment) => new Date(moment).toISOString();
