/**
 * Raw points where a dataset is bound: isolates tell those who entered there, with reports that go
 * anyway, and no object is called for them.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop", total_active_users: 20, session_duration: 30 });
const COMING = 50;
const TOLD_MS = 60_000;
const options = { rooms: [shop], colos: { AMS: 2 }, build: "debug" };

/** Lets a crowd come, and returns the points of all isolates. */
async function pointsOf(cluster) {
  const crowd = new Crowd(cluster, { count: COMING, host: shop.host });
  await crowd.arrive();
  await crowd.wait(TOLD_MS);
  const doors = cluster.isolates.map(({ name }) => cluster.door(name));
  return (await Promise.all(doors)).flatMap(({ points }) => points);
}

const bound = { ...options, vars: { WITH_DATASET: "yes" } };
clusterTest("points say who entered and who joined the line", bound, async (cluster) => {
  const points = await pointsOf(cluster);
  assert.ok(points.length > 0 && points.length < 50, `${points.length} points`);
  for (const { indexes, blobs } of points) {
    assert.deepEqual([indexes, blobs], [[shop.id], ["shop", "AMS"]]);
  }
  const sum = (at) => points.reduce((total, { doubles }) => total + doubles[at], 0);
  assert.equal(sum(0) + sum(1), 20);
  assert.equal(sum(2), COMING - 20);
  assert.equal(sum(9), 0, "everybody answered");
});

clusterTest("without a dataset nothing is written", options, async (cluster) => {
  assert.deepEqual(await pointsOf(cluster), []);
});
