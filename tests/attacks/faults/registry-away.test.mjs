/** The registry does not answer for an hour: rooms go on as they were configured last. */

import assert from "node:assert/strict";

import { ROOMS, call } from "../../harness/api.mjs";
import { clusterTest } from "../../harness/cluster-test.mjs";
import { Crowd } from "../../harness/crowd.mjs";
import { mostInside } from "../../harness/measure.mjs";
import { room } from "../../harness/rooms.mjs";
import { Visitor } from "../../harness/visitor.mjs";

const PLACES = 3;
const SESSION_MS = 60_000;
const SECOND_MS = 1_000;
const STEP_MS = 10_000;
const BUSY_MS = 300_000;
const REST_MS = 55 * 60_000;
/** A change counts everywhere after this time, where there are visits. */
const CHANGE_MS = 6_000;
const AWAY = { className: "Registry", fail: "before" };

const shop = room({ name: "shop", total_active_users: 1 });
const options = { rooms: [shop], colos: { AMS: 2, NRT: 2 } };

clusterTest("the registry is away for an hour", options, async (cluster) => {
  const path = `${ROOMS}/${shop.id}`;
  const limits = { total_active_users: PLACES, new_users_per_minute: PLACES };
  await call(cluster, "PATCH", path, limits);
  await cluster.advance(CHANGE_MS);
  await cluster.breakCalls(AWAY);
  const crowd = new Crowd(cluster, { count: 12, host: shop.host });
  await crowd.arrive();
  assert.ok(crowd.waiting.length >= 12 - PLACES, "the limit of the file counts, or none");
  const guest = new Crowd(cluster, { count: 1, host: shop.host, browseMs: 20_000, label: "guest" });
  await crowd.wait(BUSY_MS, () => crowd.waiting.length === 0);
  assert.equal(crowd.waiting.length, 0, "somebody never entered");
  assert.ok(mostInside(await cluster.arrivals(), SESSION_MS) <= PLACES, "too many inside");

  await cluster.killObjects();
  await cluster.advance(REST_MS, STEP_MS);
  await guest.arrive();
  await guest.wait(SESSION_MS);
  assert.equal(guest.inside.length, 1, "whoever is inside is disturbed");

  await cluster.breakCalls();
  await call(cluster, "PATCH", path, { suspended: true });
  const late = new Crowd(cluster, { count: 4, host: shop.host, label: "late" });
  for (let passed = 0; passed < CHANGE_MS; passed += SECOND_MS) {
    await late.arrive();
    await cluster.advance(SECOND_MS);
  }
  const stranger = new Visitor(cluster, { name: "stranger", host: shop.host });
  const { headers } = await stranger.visit();
  assert.equal(headers["set-cookie"], undefined, "the change counts after the outage");
});
