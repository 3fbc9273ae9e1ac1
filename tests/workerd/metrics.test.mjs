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
const options = { rooms: [shop, quiet, off], colos: { AMS: 1 }, vars: { API_TOKEN_READ: "reads" } };
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
  assert.equal(value("rooms", undefined), 3);
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
