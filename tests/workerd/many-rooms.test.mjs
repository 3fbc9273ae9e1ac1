/**
 * A thousand rooms by the API: made one after the other without every isolate's reading all of them
 * after each, made once where a call comes twice, and removed together. The log of the test says
 * how long it took.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, ask, call, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";

const COUNT = 1_000;
const READER = "the-token-for-reading";
const options = { rooms: [], colos: { AMS: 1 }, stopped: false, vars: { API_TOKEN_READ: READER } };

const body = (number) => {
  const { id: _, zone_id: __, ...fields } = room({ name: `room-${number}` });
  return { ...fields, host: "shop.example", path: `/${number}/` };
};

clusterTest("a thousand rooms are made, told and removed", options, async (cluster) => {
  const registry = () => cluster.calls("Registry");
  const before = await registry();
  const began = performance.now();
  for (let number = 0; number < COUNT; number += 1) {
    await call(cluster, "POST", ROOMS, body(number));
  }
  const createdMs = performance.now() - began;
  const looks = (await registry()) - before - COUNT;
  const seconds = createdMs / 1_000;
  assert.ok(looks <= 40 + seconds, `${looks} looks at all rooms in ${seconds} s`);

  const asked = performance.now();
  const path = "/_waiting-room/metrics";
  const [name] = cluster.isolates.map((isolate) => isolate.name);
  const metrics = await cluster.send(name, { host: "localhost", path, headers: OWNER });
  const metricsMs = performance.now() - asked;
  assert.match(metrics.body, /waiting_room_rooms 1000\n/);

  const list = (await call(cluster, "GET", `${ROOMS}?per_page=1000`)).result;
  assert.equal(list.length, COUNT);
  const { result_info: info } = await call(cluster, "GET", "waiting_rooms/audit_log?method=POST");
  assert.equal(info.total_count, COUNT, "the log has all of it");
  const items = list.map(({ id }) => ({ id }));
  const reader = { authorization: `Bearer ${READER}` };
  await refused(cluster, 403, "DELETE", ROOMS, { items }, reader);
  await refused(cluster, 400, "DELETE", ROOMS, { items: [...items, { id: "none" }] });
  assert.equal((await call(cluster, "DELETE", ROOMS, { items })).result.length, COUNT);
  assert.deepEqual((await call(cluster, "GET", ROOMS)).result, []);
  console.log(`${COUNT} rooms: made in ${createdMs.toFixed()} ms with ${looks} looks`);
  console.log(`metrics of them: ${metricsMs.toFixed()} ms`);
});

clusterTest("a call with a key is done once", options, async (cluster) => {
  const keyed = { ...OWNER, "idempotency-key": "order-1" };
  const [one, other] = [0, 1].map(body);
  const made = (await call(cluster, "POST", ROOMS, one, keyed)).result;
  assert.deepEqual((await call(cluster, "POST", ROOMS, one, keyed)).result, made);
  await refused(cluster, 422, "POST", ROOMS, other, keyed);
  // Whoever only reads learns nothing of what a key has made.
  const reader = { ...keyed, authorization: `Bearer ${READER}` };
  await refused(cluster, 403, "POST", ROOMS, one, reader);
  const long = { ...OWNER, "idempotency-key": "x".repeat(300) };
  await refused(cluster, 400, "POST", ROOMS, other, long);
  const rooms = (await call(cluster, "GET", ROOMS)).result;
  assert.equal(rooms.length, 1);
  const log = (path) => call(cluster, "GET", `waiting_rooms/audit_log?${path}`);
  assert.equal((await log("actor=owner&since=2020-01-01T00:00:00Z")).result.length, 1);
  assert.deepEqual((await log("actor=nobody")).result, []);
  assert.equal((await ask(cluster, "GET", "waiting_rooms/audit_log?who=me")).status, 400);
});
