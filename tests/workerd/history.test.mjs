/**
 * What the history of a room says afterwards is what the origin has seen, also after its objects
 * have ended, and it is read as JSON and as CSV.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, ask, call, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostInside } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const COMING = 150;
const LIMIT = 50;
const SESSION_MINUTES = 5;
/** Until everybody has entered: three sessions, and the slots between them. */
const ALL_ENTER_MS = 17 * 60_000;
/** How long a minute stays open for late reports. */
const OPEN_MS = 5 * 60_000;
/** Until a calm room has told of everybody: isolates report each 24 s, data centers each 50 s. */
const TOLD_MS = 100_000;

const sale = room({ name: "sale", total_active_users: LIMIT, session_duration: SESSION_MINUTES });
const options = { rooms: [sale], colos: { AMS: 2, NRT: 1 }, build: "debug" };
const PATH = `${ROOMS}/${sale.id}/history`;

/** Reads rows as objects with the names of the columns. */
async function read(cluster, query) {
  const { result } = await call(cluster, "GET", `${PATH}?${query}`);
  const named = (row) => Object.fromEntries(result.columns.map((name, at) => [name, row[at]]));
  return result.rows.map(named);
}

const sum = (rows, name) => rows.reduce((total, row) => total + row[name], 0);
const most = (rows, name) => Math.max(...rows.map((row) => row[name]));

/**
 * Lets each isolate have one more request, of somebody whose session goes on: with it, it tells
 * what it has not told yet.
 */
async function everythingIsTold(cluster, crowd) {
  const { visitor } = (await cluster.arrivals()).at(-1);
  const last = crowd.visitors.find(({ name }) => name === visitor);
  for (const { name } of cluster.isolates) await last.visit({ isolate: name });
  await cluster.advance(TOLD_MS);
}

clusterTest("history agrees with the origin", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: COMING, host: sale.host });
  await crowd.arrive();
  await crowd.wait(ALL_ENTER_MS, () => crowd.waiting.length === 0);
  const arrivals = await cluster.arrivals();
  const entered = new Set(arrivals.map(({ visitor }) => visitor)).size;
  assert.equal(entered, COMING);

  await everythingIsTold(cluster, crowd);
  await cluster.advance(OPEN_MS);
  // Somebody comes, so that what is complete is stored, and all objects begin anew.
  const late = new Crowd(cluster, { count: 3, host: sale.host, label: "late" });
  await late.arrive();
  await late.wait(TOLD_MS);
  await everythingIsTold(cluster, late);
  for (const resolution of ["minute", "quarter", "hour"]) {
    const rows = await read(cluster, `resolution=${resolution}`);
    assert.equal(sum(rows, "entered"), COMING + 3, resolution);
    assert.equal(most(rows, "active_max"), mostInside(arrivals, SESSION_MINUTES * 60_000));
    assert.equal(most(rows, "active_limit_max"), LIMIT);
    assert.equal(sum(rows, "waits_measured"), sum(rows, "entered_after_waiting"), resolution);
  }
  const rows = await read(cluster, "");
  const waited = sum(rows, "entered_after_waiting");
  assert.ok(waited >= COMING - LIMIT, `${waited} have waited`);
  assert.ok(most(rows, "waiting_max") >= COMING - 2 * LIMIT, "nobody was seen waiting");
  assert.ok(most(rows, "waited_seconds_p95") > 4 * 60, "some have waited for a session");

  const told = sum(rows, "told_errors_measured");
  assert.ok(told > 0 && told <= waited, `${told} of ${waited} were told a wait`);
  const measured = rows.filter((row) => row.told_errors_measured > 0);
  for (const { told_error_percent_p50: half, told_error_percent_p90: ninety } of measured) {
    assert.ok(half !== null && half <= ninety, `${half} % and ${ninety} %`);
  }
  for (const name of ["challenges_shown", "calls_unanswered", "saves_failed"]) {
    assert.equal(sum(rows, name), 0, name);
  }

  const csv = await ask(cluster, "GET", `${PATH}?format=csv`);
  assert.match(csv.headers["content-type"], /^text\/csv/);
  const [names, ...lines] = csv.body.trim().split("\r\n");
  const column = names.split(",").indexOf("entered");
  const total = lines.reduce((so, line) => so + Number(line.split(",")[column]), 0);
  assert.equal(total, COMING + 3);
});

clusterTest("who may read a history, and of what", options, async (cluster) => {
  assert.deepEqual(await read(cluster, ""), []);
  await refused(cluster, 403, "GET", PATH, undefined, { authorization: "Bearer no" });
  await refused(cluster, 404, "GET", `${ROOMS}/${"9".repeat(32)}/history`);
  for (const query of [
    "resolution=second",
    "since=2026-01-01T00:00:00Z",
    "from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
    "from=2099-01-01T00:00:00Z",
  ]) {
    await refused(cluster, 400, "GET", `${PATH}?${query}`);
  }
  await refused(cluster, 405, "POST", PATH, {}, OWNER);
});
