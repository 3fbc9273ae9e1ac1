/** The storage of a room fails for a while: nobody enters unstored, and it is over by itself. */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const stored = room({ name: "stored", total_active_users: 8 });
const flowing = room({
  name: "flowing",
  total_active_users: 8,
  when_silent: "keep_flowing",
  keep_flowing_per_minute: 2,
});
const options = { rooms: [stored, flowing], colos: { AMS: 1 } };
const unwritten = { className: "GlobalAggregator", fail: "storage" };
const FAILS = "cannot be written";
const WORKS = "SaveWorks";

clusterTest("a save fails, visitors get the room's choice, it ends", options, async (cluster) => {
  await visitorInside(cluster, stored);
  await cluster.breakCalls(unwritten);
  const crowd = new Crowd(cluster, { count: 4, host: stored.host });
  await crowd.arrive();
  await crowd.wait(20_000);
  assert.equal(crowd.inside.length, 0, "somebody entered with a slot that was not stored");
  assert.equal(cluster.log.count(FAILS), 1, "logged once");
  assert.equal(cluster.log.count(WORKS), 0);

  const newcomer = new Visitor(cluster, { name: "flowing", host: flowing.host, colo: "AMS" });
  assert.equal((await newcomer.visit()).kind, "origin", "keep_flowing lets visitors pass");

  await cluster.breakCalls();
  await crowd.wait(40_000);
  assert.equal(crowd.inside.length, 4, "all enter once saves work");
  assert.ok(cluster.log.count(WORKS) >= 1);
});

clusterTest("a value that is too large for the platform is refused", options, async (cluster) => {
  await visitorInside(cluster, stored);
  await cluster.breakCalls({ ...unwritten, bytesMax: 100 });
  await cluster.killObjects();
  const late = new Crowd(cluster, { count: 1, host: stored.host });
  await late.arrive();
  await late.wait(4_000);
  assert.equal(late.inside.length, 0);
  assert.ok(cluster.log.count(FAILS) >= 1);
});
