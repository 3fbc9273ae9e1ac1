/**
 * The numbers of all rooms for Prometheus: in its format, the same as the API's, for tokens alone
 * and on owners' hosts alone, at one call of an object for each room that is not suspended.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop", total_active_users: 3, new_users_per_minute: 3 });
const quiet = room({ name: "quiet", queue_all: true });
const off = room({ name: "off", suspended: true });
/** An event that has begun long ago, with limits of its own; the room of a prequeue has one too. */
const EVENT = {
  name: "sale",
  event_start_time: "2020-01-01T00:00:00Z",
  event_end_time: "2099-01-02T00:00:00Z",
  total_active_users: 7,
  new_users_per_minute: 5,
};
const STARTS = "2099-01-01T00:00:00Z";
const PREQUEUE = {
  prequeue_start_time: "2020-01-01T00:00:00Z",
  event_start_time: STARTS,
};
const eventOf = (digit, fields) => ({ id: digit.repeat(32), ...EVENT, ...fields });
const sale = room({ name: "sale", events: [eventOf("1")] });
const soon = room({ name: "soon", events: [eventOf("2", PREQUEUE)] });
const rooms = [shop, quiet, off, sale, soon];
const options = { rooms, colos: { AMS: 1 }, vars: { API_TOKEN_READ: "reads" } };
const PATH = "/_waiting-room/metrics";
/** A line of a sample: name, labels, value. */
const SAMPLE = /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\["\\n])*",?)*)\})? (-?\d+(?:\.\d+)?)$/;
const COUNTED_MS = 15_000;

const get = (cluster, headers = OWNER, host = "localhost", query = "") =>
  cluster.send("ams-1", { host, path: PATH + query, headers });

clusterTest("metrics are the numbers of the API", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 5, host: shop.host });
  await crowd.arrive();
  await crowd.wait(COUNTED_MS);
  const { status, headers, body } = await get(cluster);
  assert.equal(status, 200);
  assert.match(headers["content-type"], /^text\/plain; version=0\.0\.4/);
  assert.match(headers["cache-control"], /no-store/);
  const told = parsed(body);
  const value = (name, id) => told.get(`waiting_room_${name}`)?.get(id);
  const { result } = await call(cluster, "GET", `${ROOMS}/${shop.id}/status`);
  assert.equal(value("active_users", shop.id), result.estimated_total_active_users);
  assert.equal(value("queued_users", shop.id), result.estimated_queued_users);
  assert.equal(value("told_wait_seconds", shop.id), 60 * result.max_estimated_time_minutes);
  assert.deepEqual([value("active_users", shop.id), value("queued_users", shop.id)], [3, 2]);
  assert.deepEqual([value("queueing", shop.id), value("held", shop.id)], [1, 0]);
  assert.equal(value("limit_active_users", shop.id), 3);
  assert.deepEqual([value("up", quiet.id), value("held", quiet.id)], [1, 1]);
  assert.deepEqual([value("up", off.id), value("suspended", off.id)], [undefined, 1]);
  assert.equal(value("active_users", off.id), undefined);
  assert.equal(value("rooms", undefined), rooms.length);
  assert.equal(value("last_hour_entered", shop.id), undefined);
  const lastHour = parsed((await get(cluster, OWNER, "localhost", "?last_hour")).body);
  const { result: history } = await call(cluster, "GET", `${ROOMS}/${shop.id}/history`);
  const column = history.columns.indexOf("entered");
  const entered = history.rows.reduce((total, row) => total + row[column], 0);
  assert.equal(entered, 3);
  assert.equal(lastHour.get("waiting_room_last_hour_entered").get(shop.id), entered);
  assert.equal(lastHour.get("waiting_room_last_hour_challenges_shown").get(shop.id), 0);
  assert.equal(lastHour.get("waiting_room_active_users").get(shop.id), 3);
});

clusterTest("while nobody enters no wait is shown; limits in force", options, async (cluster) => {
  const of = ({ host }) => new Crowd(cluster, { count: 3, host, label: host });
  const crowds = [quiet, soon].map(of);
  for (const crowd of crowds) await crowd.arrive();
  await Promise.all(crowds.map((crowd) => crowd.wait(COUNTED_MS)));
  const told = parsed((await get(cluster)).body);
  const value = (name, { id }) => told.get(`waiting_room_${name}`).get(id);
  const read = async ({ id }) => (await call(cluster, "GET", `${ROOMS}/${id}/status`)).result;
  for (const [one, by, until] of [
    [quiet, "queue_all", null],
    [soon, "prequeue", STARTS],
  ]) {
    const status = await read(one);
    assert.deepEqual([status.held_by, status.estimated_queued_users], [by, 3]);
    assert.equal(Date.parse(status.held_until), Date.parse(until));
    assert.deepEqual([value("entry_paused", one), value("queued_users", one)], [1, 3]);
    assert.equal(value("told_wait_seconds", one), undefined, by);
    const { result } = await call(cluster, "GET", `${ROOMS}/${one.id}/history`);
    const of = (name) => result.rows.map((row) => row[result.columns.indexOf(name)]);
    // Nothing is measured in the minute of their arrival if it ends at once.
    const held = of("held_percent").filter((percent) => percent !== null);
    assert.ok(held.length > 0 && held.every((percent) => percent === 100), `${held}`);
    assert.ok(of("told_wait_seconds_max").every((seconds) => seconds === null), by);
  }
  const resumes = value("entry_resumes_timestamp_seconds", soon);
  assert.equal(resumes * 1_000, Date.parse(STARTS));
  assert.deepEqual([value("entry_paused", sale), value("told_wait_seconds", sale)], [0, 0]);
  for (const one of [sale, soon]) {
    const names = ["active_users", "new_users_per_minute"];
    const limits = names.map((name) => value(`limit_${name}`, one));
    assert.deepEqual(limits, [EVENT.total_active_users, EVENT.new_users_per_minute]);
    const { total_active_users: total, new_users_per_minute: rate } = await read(one);
    assert.deepEqual([total, rate], limits);
  }
});

clusterTest("metrics are for tokens on owners' hosts", options, async (cluster) => {
  assert.equal((await get(cluster, {})).status, 403);
  assert.equal((await get(cluster, { authorization: "Bearer guessed" })).status, 403);
  assert.equal((await get(cluster, { authorization: "Bearer reads" })).status, 200);
  const visitor = await get(cluster, OWNER, quiet.host);
  assert.doesNotMatch(visitor.body, /waiting_room_/);
});

/** Reads a text as Prometheus does: each metric's values by the id of the room. */
function parsed(body) {
  assert.ok(body.endsWith("\n"));
  const metrics = new Map();
  let typed;
  for (const line of body.trimEnd().split("\n")) {
    const [, type] = /^# TYPE ([a-z_]+) gauge$/.exec(line) ?? [];
    if (type) {
      assert.ok(!metrics.has(type), `${type} twice`);
      metrics.set((typed = type), new Map());
    } else if (!/^# HELP [a-z_]+ \S/.test(line)) {
      const [, name, labels = "", value] = SAMPLE.exec(line) ?? assert.fail(line);
      assert.equal(name, typed, "not behind its type");
      const [, id] = /room_id="(\w+)"/.exec(labels) ?? [];
      metrics.get(name).set(id, Number(value));
    }
  }
  return metrics;
}
