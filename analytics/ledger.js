// The minutes of rooms for one question, as rows of the datasets: read once each, and so many at
// most.
import { GraphQLError } from "graphql";

const MINUTE_MS = 60_000;
/** How long minutes are kept. */
const KEPT_MS = 30 * 24 * 60 * MINUTE_MS;
/** By how much a question for all of it may be too early: clocks differ, and it takes its time. */
const SLACK_MS = 60 * MINUTE_MS;
/** What is told where no filter says from when: the last day. */
const USUAL_MS = 24 * 60 * MINUTE_MS;
/** The most minutes in one answer of the API. */
const CALL_MS = 3_000 * MINUTE_MS;
/** The most calls for one question: those of a month of two rooms, or of a day of 30. */
const CALLS_MAX = 30;
/** The most rows that one question may get, and look at, in all datasets together. */
const ROWS_MAX = 20_000;
const LOOKS_MAX = 400_000;

/** What each field of a row is called in the API's history. */
const COLUMNS = {
  datetime: "datetime",
  totalActiveUsers: "active_mean",
  totalActiveUsersMax: "active_max",
  totalActiveUsersConfig: "active_limit_max",
  totalActiveUsersConfigMin: "active_limit_min",
  totalQueuedUsers: "waiting_mean",
  totalQueuedUsersMax: "waiting_max",
  newUsersPerMinute: "entered",
  newUsersPerMinuteConfig: "new_users_limit_max",
  newUsersPerMinuteConfigMin: "new_users_limit_min",
  sessionsRevoked: "sessions_revoked",
  turnstileChallenges: "challenges_shown",
  turnstileSuccesses: "challenges_solved",
  turnstileFailures: "challenges_failed",
  infiniteQueueRequests: "infinite_queue_refreshes",
  timeOnOriginP50: "stayed_seconds_p50",
  timeOnOriginP90: "stayed_seconds_p90",
  timeOnOriginP95: "stayed_seconds_p95",
  timeOnOriginCount: "stays_measured",
  totalTimeWaitedP50: "waited_seconds_p50",
  totalTimeWaitedP90: "waited_seconds_p90",
  totalTimeWaitedP95: "waited_seconds_p95",
  totalTimeWaitedCount: "waits_measured",
};

/** What one question may read. */
export class Ledger {
  #calls = new Map();
  #told = 0;
  #looks = 0;

  constructor(rooms, read) {
    this.rooms = rooms;
    this.read = read;
  }

  /** Returns the rows of these rooms' minutes from `since` to `until`, in the order of time. */
  async rows(rooms, { since, until }) {
    const now = Date.now();
    if (since < now - KEPT_MS - SLACK_MS) {
      throw new GraphQLError(`cannot request data older than ${KEPT_MS / 1_000}s`);
    }
    const last = Math.min(until ?? now, now + MINUTE_MS);
    const first = Math.max(since ?? last - USUAL_MS, now - KEPT_MS);
    const calls = rooms.flatMap((room) => pieces(first, last).map((piece) => ({ room, piece })));
    const found = await Promise.all(calls.map(({ room, piece }) => this.#minutes(room, piece)));
    const rows = found.flat();
    this.#looks += rows.length;
    if (this.#looks > LOOKS_MAX) throw tooMuch(`a look at more than ${LOOKS_MAX} minutes`);
    return rooms.length > 1 ? rows.sort((one, other) => one.at - other.at) : rows;
  }

  /** Counts rows that are told; more than the bound is an error. */
  tell(rows) {
    this.#told += rows.length;
    if (this.#told > ROWS_MAX) throw tooMuch(`more than ${ROWS_MAX} rows`);
    return rows;
  }

  #minutes(room, { from, until }) {
    const range = `from=${moment(from)}&until=${moment(until)}&resolution=minute`;
    const path = `zones/${room.zone_id}/waiting_rooms/${room.id}/history?${range}`;
    if (!this.#calls.has(path)) {
      if (this.#calls.size >= CALLS_MAX) throw tooMuch(`more than ${CALLS_MAX} reads`);
      this.#calls.set(path, this.read(path).then((history) => named(history, room)));
    }
    return this.#calls.get(path);
  }
}

/** Parts of a range that the API answers in one call each. */
function pieces(first, last) {
  const start = Math.floor(first / MINUTE_MS) * MINUTE_MS;
  const end = Math.floor(last / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  const parts = [];
  for (let from = start; from < end; from += CALL_MS) {
    parts.push({ from, until: Math.min(from + CALL_MS, end) });
  }
  return parts;
}

function named({ columns, rows }, { id }) {
  const places = Object.entries(COLUMNS).map(([name, column]) => [name, columns.indexOf(column)]);
  return rows.map((row) => {
    const values = Object.fromEntries(places.map(([name, place]) => [name, row[place]]));
    return { ...values, at: Date.parse(values.datetime), waitingRoomId: id };
  });
}

function moment(ms) {
  return new Date(ms).toISOString();
}

function tooMuch(what) {
  return new GraphQLError(`The question asks for ${what}: shorten its range, or ask for less.`);
}
