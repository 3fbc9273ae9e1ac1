/**
 * Twenty thousand visits, and what each place tells an owner of them: the API's numbers, their
 * stream, Prometheus, the history as JSON and CSV, and GraphQL say the same, and what the origin
 * and the visitors counted.
 */

import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

import { OWNER, ROOMS, ask, call, liveLines } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { ZONE, room } from "../harness/rooms.mjs";

const VISITS = 20_000;
const COMING = 2_000;
const LIMIT = 1_200;
const SESSION_MS = 60_000;
const HOUR_MS = 3_600_000;
/** How long before a full hour the story begins: it always crosses one. */
const BEFORE_HOUR_MS = 45_000;
/** So many inside look at no further page, and so many in line close theirs. */
const [LEAVE, GIVE_UP] = [300, 100];
const AFTER_MS = 30_000;
const BROWSE_MS = 20_000;
/** Numbers are at most so old (docs/api.md), and a step of the clock. */
const AGE_MS = 5_000 + 500;
/** A stream has its first line within so many milliseconds. */
const LINE_MS = 5_000;
/** How often the numbers are read while all of that happens. */
const LOOK_EVERY_MS = 15_000;
/** By then they must have been exact. */
const LOOKS_MAX = 40;
/** Until silence is known, sessions have ended and others have entered: then nothing changes. */
const CALM_AFTER_MS = 130_000;
/** Whoever misses a check-in, after 20 s, and some seconds more is not counted in line. */
const SILENT_MS = 30_000;
/** Percentiles are within this share (docs/api.md), and to the second. */
const WITHIN = 0.12;
/** Who left the line and whose session ended is told "about": within this share. */
const ABOUT = 0.1;

const sale = room({
  name: "sale",
  total_active_users: LIMIT,
  session_duration: SESSION_MS / 60_000,
  enabled_origin_commands: ["revoke"],
});
const options = { rooms: [sale], colos: { AMS: 2, NRT: 2 } };

/** The history in GraphQL, by one dimension. */
const groups = (by) => `{ viewer { zones(filter: {zoneTag: "${ZONE}"}) {
  waitingRoomAnalyticsAdaptiveGroups(
    limit: 100, orderBy: [${by}_ASC], filter: {waitingRoomId: "${sale.id}"}
  ) {
    dimensions { ${by} }
    avg { totalActiveUsers totalQueuedUsers }
    max { totalActiveUsers totalQueuedUsers totalActiveUsersConfig }
    min { totalActiveUsersConfig }
    sum { newUsersPerMinute sessionsRevoked }
    avgWeighted { timeOnOriginP50 totalTimeWaitedP50 totalTimeWaitedP90 }
  }
} } }`;
/** By which dimension it has the rows of a resolution. */
const DIMENSIONS = {
  minute: "datetimeMinute",
  quarter: "datetimeFifteenMinutes",
  hour: "datetimeHour",
};

const sum = (rows, name) => rows.reduce((total, row) => total + row[name], 0);
const most = (rows, name) => Math.max(...rows.map((row) => row[name]));

clusterTest("every place tells the same, and what the origin saw", options, async (cluster) => {
  const beginsMs = HOUR_MS - BEFORE_HOUR_MS;
  // Where that moment of this hour is over, that of the next.
  cluster.clock.jump((beginsMs + HOUR_MS - (cluster.clock.now() % HOUR_MS)) % HOUR_MS);
  const story = new Story(cluster);
  await story.play();
  assert.ok(story.visits >= VISITS);
  const truth = new Truth(await cluster.arrivals(), story);
  for (const look of story.looks) checkLook(look, truth);
  const { status } = story.looks.at(-1);
  assert.deepEqual([status.active, status.queueing, story.inside], [LIMIT, 1, LIMIT]);

  for (const resolution of ["minute", "quarter", "hour"]) {
    const rows = await history(cluster, resolution);
    const csv = await historyAsCsv(cluster, resolution);
    // The newest minute may have got a longer wait in between.
    assert.ok(
      [rows, await history(cluster, resolution)].some((json) => isDeepStrictEqual(json, csv)),
      `CSV differs, ${resolution}: ${JSON.stringify({ rows, csv })}`,
    );
    checkHistory(rows, resolution, truth, story);
    checkGraphql(await historyInGraphql(cluster, resolution), rows, resolution);
  }
});

/** Visitors come, look around, leave, give up and wait; somebody reads the numbers meanwhile. */
class Story {
  /** What was told at some moments: [{ at, status, metrics, live, again }]. */
  looks = [];
  /** Those inside who looked at no further page, and those in line who closed theirs. */
  left = [];
  gaveUp = [];

  constructor(cluster) {
    this.cluster = cluster;
    this.crowd = new Crowd(cluster, { count: COMING, host: sale.host, browseMs: BROWSE_MS });
  }

  get visits() {
    return sum(this.crowd.visitors, "visits");
  }

  /** Who is inside, and who waits, as those who are still there see it. */
  get inside() {
    return this.crowd.inside.length - this.left.length;
  }

  get waiting() {
    return this.crowd.waiting.length - this.gaveUp.length;
  }

  /** Whether the numbers told last are those of everybody who is there. */
  get isCalm() {
    const { active, waiting } = this.looks.at(-1).status;
    return active === this.inside && waiting === this.waiting;
  }

  async play() {
    const { cluster, crowd } = this;
    this.beganAt = cluster.clock.now();
    await crowd.arrive();
    this.arrivedAt = cluster.clock.now();
    this.joined = new Set(crowd.waiting.map(({ name }) => name));
    await this.#goOn(AFTER_MS);
    this.left = crowd.inside.slice(0, LEAVE);
    this.gaveUp = crowd.waiting.slice(0, GIVE_UP);
    [this.revoked] = this.left;
    await this.revoked.visit({ path: "/logout?command=revoke" });
    this.leftAt = cluster.clock.now();
    for (const one of [...this.left, ...this.gaveUp]) one.dueAt = undefined;
    await this.#goOn(CALM_AFTER_MS);
    while (this.visits < VISITS || !this.isCalm) {
      assert.ok(this.looks.length < LOOKS_MAX, JSON.stringify(this.looks.at(-1)));
      await this.#goOn(LOOK_EVERY_MS);
    }
  }

  async #goOn(ms) {
    for (let left = ms; left > 0; left -= LOOK_EVERY_MS) {
      await this.crowd.wait(Math.min(left, LOOK_EVERY_MS));
      this.looks.push(await look(this.cluster));
    }
  }
}

/** What the origin saw: when each visitor came first and last, and who was inside when. */
class Truth {
  /** The first arrival of each visitor, and the last, in milliseconds since the epoch. */
  entered = new Map();
  last = new Map();
  #moves = [];

  constructor(arrivals, { joined, revoked, leftAt }) {
    for (const { at, visitor } of arrivals.sort((one, other) => one.at - other.at)) {
      const before = this.last.get(visitor);
      if (before === undefined) this.entered.set(visitor, at);
      assert.ok(before === undefined || at < before + SESSION_MS, `${visitor} came twice`);
      this.last.set(visitor, at);
    }
    for (const [name, at] of this.entered) {
      const until = name === revoked.name ? leftAt : this.last.get(name) + SESSION_MS;
      this.#moves.push({ at, inside: 1, called: Number(joined.has(name)) });
      this.#moves.push({ at: until, inside: -1, called: 0 });
    }
    this.#moves.sort((one, other) => one.at - other.at || one.inside - other.inside);
    Object.assign(this, { joined, leftAt });
  }

  /** Between which numbers who was inside, and who waited and kept asking, lay in a time. */
  within(from, until) {
    const [least, most] = this.range("called", from, until);
    const gaveUp = (at) => (at > this.leftAt ? GIVE_UP : 0);
    const line = this.joined.size;
    // Whoever enters in the moment of a count may count twice until the next one, and on a slow
    // machine some check in too late to be counted.
    const missing = most - least + ABOUT * line;
    return {
      inside: this.range("inside", from, until),
      waiting: [line - most - gaveUp(until) - missing, line - least - gaveUp(from - SILENT_MS)],
    };
  }

  /** The least and the most of visitors that were inside, or had been called, in a time. */
  range(what, from, until) {
    let now = 0;
    const seen = [];
    for (const move of this.#moves) {
      if (move.at > until) break;
      if (move.at > from) seen.push(now);
      now += move[what];
    }
    seen.push(now);
    return [Math.min(...seen), Math.max(...seen)];
  }
}

/** Reads all that is told of now at one moment: from the API twice, first and last. */
async function look(cluster) {
  const at = cluster.clock.now();
  const status = await statusNow(cluster);
  const metrics = await metricsNow(cluster);
  const live = await liveNow(cluster);
  return { at, status, metrics, live, again: await statusNow(cluster), read: cluster.clock.now() };
}

async function statusNow(cluster) {
  return numbers((await call(cluster, "GET", `${ROOMS}/${sale.id}/status`)).result);
}

function numbers(told) {
  return {
    active: told.estimated_total_active_users,
    waiting: told.estimated_queued_users,
    toldS: 60 * told.max_estimated_time_minutes,
    queueing: Number(told.status === "queueing"),
  };
}

async function metricsNow(cluster) {
  const path = "/_waiting-room/metrics";
  const { body } = await cluster.send("ams-2", { host: "localhost", path, headers: OWNER });
  const value = (name) => {
    const line = new RegExp(`^waiting_room_${name}\\{.*room_id="${sale.id}".*\\} (.*)$`, "m");
    return Number(line.exec(body)?.[1]);
  };
  const [active, waiting] = [value("active_users"), value("queued_users")];
  return { active, waiting, toldS: value("told_wait_seconds"), queueing: value("queueing") };
}

/** Opens the stream that the cockpit reads, and closes it after its first line. */
async function liveNow(cluster) {
  const path = `/_waiting-room/live?rooms=${ZONE}/${sale.id}`;
  const stream = await cluster.listen("nrt-1", { host: "localhost", path, headers: OWNER });
  for (let waited = 0; !stream.text.includes("\n"); waited += 1) {
    assert.ok(waited < LINE_MS, `no line came: ${stream.status} ${stream.text}`);
    await cluster.advance(1);
  }
  stream.close();
  return numbers(liveLines(stream)[0].told[sale.id]);
}

/** All places told the same at that moment, and it was true within the age that is stated. */
function checkLook({ at, status, metrics, live, again, read }, truth) {
  const told = JSON.stringify({ status, metrics, live, again });
  for (const name of Object.keys(status)) {
    const between = [status[name], again[name]].sort((one, other) => one - other);
    for (const other of [metrics, live]) isBetween(other[name], between, `${name}: ${told}`);
  }
  const { inside, waiting } = truth.within(at - AGE_MS, read);
  isBetween(status.active, inside, `inside: ${told}`);
  isBetween(status.waiting, waiting, `waiting: ${told}`);
}

function checkHistory(rows, resolution, truth, story) {
  const { joined, inside } = story;
  const waited = [...truth.entered.keys()].filter((name) => joined.has(name));
  const want = {
    entered: truth.entered.size,
    entered_after_waiting: waited.length,
    joined_line: joined.size,
    sessions_revoked: 1,
    waits_measured: waited.length,
  };
  const sums = Object.fromEntries(Object.keys(want).map((name) => [name, sum(rows, name)]));
  assert.deepEqual(sums, want, resolution);
  assert.deepEqual([most(rows, "active_max"), most(rows, "active_limit_max")], [LIMIT, LIMIT]);
  const [, mostInside] = truth.range("inside", 0, Infinity);
  assert.equal(mostInside, LIMIT);
  // Those who come in the moment of a count may count twice, and all come in a few moments.
  const told = Math.max(...story.looks.map(({ status }) => status.waiting));
  isBetween(most(rows, "waiting_max"), [told, 2 * joined.size], resolution);
  isAbout(sum(rows, "left_line"), GIVE_UP, `left the line, ${resolution}`);
  isAbout(sum(rows, "sessions_ended"), want.entered - inside, `sessions ended, ${resolution}`);
  if (resolution !== "minute") checkParts(rows, resolution, truth, { ...story, waited });
}

/** Both hours, or quarters, tell what happened in them. */
function checkParts(rows, resolution, truth, { waited, beganAt, arrivedAt, left, revoked }) {
  assert.equal(rows.length, 2, resolution);
  const hourAt = Date.parse(rows[1].datetime);
  assert.equal(hourAt % HOUR_MS, 0);
  const later = [...truth.entered].filter(([, at]) => at >= hourAt);
  // The place that was revoked is taken about then.
  isBetween(rows[1].entered, [later.length - 1, later.length + 1], resolution);
  const waits = later.filter(([name]) => waited.includes(name)).map(([, at]) => at);
  isPercentile(rows[1].waited_seconds_p50, waits, 0.5, [beganAt, arrivedAt]);
  isPercentile(rows[1].waited_seconds_p95, waits, 0.95, [beganAt, arrivedAt]);
  const ranOut = left.filter((one) => one !== revoked);
  const stays = ranOut.map(({ name }) => truth.last.get(name) - truth.entered.get(name));
  isPercentile(rows[1].stayed_seconds_p50, stays, 0.5, [0, 0]);
  isAbout(sum(rows, "stays_measured"), ranOut.length, `stays, ${resolution}`);
}

function checkGraphql(told, rows, resolution) {
  const dimension = DIMENSIONS[resolution];
  const want = rows.map((row) => ({
    at: row.datetime.replace(".000Z", "Z"),
    active: [row.active_max, row.active_limit_max, row.active_limit_min],
    waiting: row.waiting_max,
    sums: [row.entered, row.sessions_revoked],
  }));
  const got = told.map(({ dimensions, max, min, sum: total }) => ({
    at: dimensions[dimension],
    active: [max.totalActiveUsers, max.totalActiveUsersConfig, min.totalActiveUsersConfig],
    waiting: max.totalQueuedUsers,
    sums: [total.newUsersPerMinute, total.sessionsRevoked],
  }));
  assert.deepEqual(got, want, resolution);
  // Means of several minutes are means of theirs, and their percentiles too.
  if (resolution !== "minute") return;
  const means = told.map(({ avg, avgWeighted }) => ({ ...avg, ...avgWeighted }));
  const meant = rows.map((row) => ({
    totalActiveUsers: row.active_mean,
    totalQueuedUsers: row.waiting_mean,
    timeOnOriginP50: row.stayed_seconds_p50,
    totalTimeWaitedP50: row.waited_seconds_p50,
    totalTimeWaitedP90: row.waited_seconds_p90,
  }));
  assert.deepEqual(means, meant);
}

function isBetween(value, [least, most], what) {
  assert.ok(least <= value && value <= most, `${what}: ${value}, not ${least} to ${most}`);
}

function isAbout(value, want, what) {
  isBetween(value, [want * (1 - ABOUT), want * (1 + ABOUT)], what);
}

/** Checks a percentile in seconds of times in milliseconds since some moment between two. */
function isPercentile(value, times, share, [since, until]) {
  const sorted = times.toSorted((one, other) => one - other);
  const ms = sorted[Math.ceil(share * sorted.length) - 1];
  const [least, most] = [(ms - until) / 1_000, (ms - since) / 1_000];
  isBetween(value, [least * (1 - WITHIN) - 1, most * (1 + WITHIN) + 1], `percentile ${share}`);
}

async function history(cluster, resolution) {
  const path = `${ROOMS}/${sale.id}/history?resolution=${resolution}`;
  const { columns, rows } = (await call(cluster, "GET", path)).result;
  return rows.map((row) => named(columns, row));
}

async function historyAsCsv(cluster, resolution) {
  const path = `${ROOMS}/${sale.id}/history?resolution=${resolution}&format=csv`;
  const [columns, ...rows] = (await ask(cluster, "GET", path)).body
    .trim()
    .split("\r\n")
    .map((line) => line.split(","));
  const number = (text, at) => (at === 0 ? text : text === "" ? null : Number(text));
  return rows.map((row) => named(columns, row.map(number)));
}

async function historyInGraphql(cluster, resolution) {
  const answer = await ask(cluster, "POST", "graphql", { query: groups(DIMENSIONS[resolution]) });
  const { data, errors } = JSON.parse(answer.body);
  assert.equal(errors, null);
  return data.viewer.zones[0].waitingRoomAnalyticsAdaptiveGroups;
}

function named(columns, row) {
  return Object.fromEntries(columns.map((name, at) => [name, row[at]]));
}
