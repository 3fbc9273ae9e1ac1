/**
 * What an owner changes counts on every isolate within 5 s, and an outage of the registry changes
 * nothing for visitors.
 */

import assert from "node:assert/strict";

import { ROOMS, call, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { look, visitorInside } from "../harness/visitor.mjs";

const shop = room({ name: "shop" });
const options = { rooms: [shop], colos: { AMS: 2, NRT: 2 } };
const COUNTS_AFTER_MS = 5_000;
/** Whoever waits comes back within this time: a refresh interval with jitter, and a first page. */
const ALL_COME_BACK_MS = 28_000;
const SALE = {
  name: "sale",
  host: "sale.example",
  total_active_users: 10,
  new_users_per_minute: 10,
  queue_all: true,
};
const REGISTRY_DOWN = { className: "Registry", fail: "before" };

clusterTest("a new room covers its host on every isolate within 5 s", options, async (cluster) => {
  assert.deepEqual(await seen(cluster, SALE.host), allOf(cluster, "origin"));
  const { id } = (await call(cluster, "POST", ROOMS, SALE)).result;
  await passTime(cluster, COUNTS_AFTER_MS);
  assert.deepEqual(await seen(cluster, SALE.host), allOf(cluster, "queue"));
  await call(cluster, "PATCH", `${ROOMS}/${id}`, { suspended: true });
  await passTime(cluster, COUNTS_AFTER_MS);
  assert.deepEqual(await seen(cluster, SALE.host), allOf(cluster, "origin"));
  await call(cluster, "PATCH", `${ROOMS}/${id}`, { suspended: false });
  await passTime(cluster, COUNTS_AFTER_MS);
  assert.deepEqual(await seen(cluster, SALE.host), allOf(cluster, "queue"));
  await call(cluster, "DELETE", `${ROOMS}/${id}`);
  await passTime(cluster, COUNTS_AFTER_MS);
  assert.deepEqual(await seen(cluster, SALE.host), allOf(cluster, "origin"));
});

clusterTest("changed limits are obeyed by every isolate within 5 s", options, async (cluster) => {
  const path = `${ROOMS}/${shop.id}`;
  const line = new Crowd(cluster, { count: 12, host: shop.host, label: "line" });
  await line.arrive();
  assert.equal(line.inside.length, 2);
  await call(cluster, "PATCH", path, { total_active_users: 6, new_users_per_minute: 6 });
  await passTime(cluster, COUNTS_AFTER_MS);
  await line.wait(ALL_COME_BACK_MS);
  assert.equal(line.inside.length, 6);
  await call(cluster, "PATCH", path, { total_active_users: 1, new_users_per_minute: 1 });
  await passTime(cluster, COUNTS_AFTER_MS);
  // Together less than a session, after which the first would be replaced.
  await line.wait(20_000);
  assert.equal(line.inside.length, 6, "somebody entered a room that is over its limit");
});

clusterTest("a limit lowered in quiet times binds who comes next", options, async (cluster) => {
  const path = `${ROOMS}/${shop.id}`;
  const more = { total_active_users: 100, new_users_per_minute: 100 };
  await call(cluster, "PATCH", path, more);
  await passTime(cluster, COUNTS_AFTER_MS);
  await visitorInside(cluster, shop);
  // Longer than slots lie ready anywhere.
  await cluster.advance(60_000);
  await call(cluster, "PATCH", path, { total_active_users: 3, new_users_per_minute: 3 });
  await cluster.advance(COUNTS_AFTER_MS);
  const crowd = new Crowd(cluster, { count: 12, host: shop.host, label: "crowd" });
  await crowd.arrive();
  await crowd.wait(10_000);
  assert.ok(crowd.inside.length <= 3, `${crowd.inside.length} entered`);
});

clusterTest("an outage of the registry changes nothing for visitors", options, async (cluster) => {
  await call(cluster, "POST", ROOMS, SALE);
  const guests = new Crowd(cluster, { count: 2, host: shop.host, browseMs: 17_000 });
  await guests.arrive();
  await passTime(cluster, COUNTS_AFTER_MS);
  await cluster.breakCalls(REGISTRY_DOWN);
  await refused(cluster, 503, "PATCH", `${ROOMS}/${shop.id}`, { total_active_users: 1 });
  for (let passed = 0; passed < 60_000; passed += 10_000) {
    await guests.wait(10_000);
    assert.equal(guests.inside.length, 2);
    assert.deepEqual(await seen(cluster, SALE.host), allOf(cluster, "queue"));
    assert.deepEqual(await seen(cluster, "other.example"), allOf(cluster, "origin"));
  }
  // Isolates that begin in the outage know what the copy says.
  await cluster.restart();
  await cluster.breakCalls(REGISTRY_DOWN);
  assert.deepEqual(await seen(cluster, SALE.host), allOf(cluster, "queue"));
  assert.deepEqual(await seen(cluster, "other.example"), allOf(cluster, "origin"));
});

clusterTest("an isolate that knows nothing opens nothing", options, async (cluster) => {
  await call(cluster, "POST", ROOMS, SALE);
  await cluster.restart({}, "lost");
  await cluster.breakCalls(REGISTRY_DOWN);
  for (const host of [SALE.host, shop.host, "other.example"]) {
    assert.deepEqual(await seen(cluster, host), allOf(cluster, "queue"), host);
  }
  await cluster.breakCalls();
  await passTime(cluster, COUNTS_AFTER_MS);
  assert.deepEqual(await seen(cluster, SALE.host), allOf(cluster, "queue"));
  // Each isolate has looked at the registry once its answer had left.
  await cluster.advance(1_000);
  assert.deepEqual(await seen(cluster, "other.example"), allOf(cluster, "origin"));
});

const debug = { ...options, colos: { AMS: 1 }, build: "debug" };
clusterTest("a rebuilt instance knows what the broken one knew", debug, async (cluster) => {
  await call(cluster, "POST", ROOMS, SALE);
  await passTime(cluster, COUNTS_AFTER_MS);
  await cluster.breakCalls(REGISTRY_DOWN);
  await cluster.loseCopies();
  await cluster.send("ams-1", { host: shop.host, path: "/__glance/panic" });
  assert.deepEqual(await seen(cluster, SALE.host), ["queue"]);
  assert.deepEqual(await seen(cluster, "other.example"), ["origin"]);
});

/** Time passes while every data center has a visitor now and then, who is covered by no room. */
async function passTime(cluster, ms) {
  for (let passed = 0; passed < ms; passed += 1_000) {
    const colos = new Set(cluster.isolates.map(({ colo }) => colo));
    for (const colo of colos) {
      await look(cluster, cluster.isolateNear(colo), { host: "other.example" });
    }
    await cluster.advance(1_000);
  }
}

/** Who answers a new visitor, isolate by isolate. */
async function seen(cluster, host) {
  const kinds = [];
  for (const { name } of cluster.isolates) kinds.push((await look(cluster, name, { host })).kind);
  return kinds;
}

function allOf(cluster, kind) {
  return cluster.isolates.map(() => kind);
}
