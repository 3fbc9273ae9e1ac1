/**
 * Whoever is inside stays inside: never queued while the session lives, whatever object is down or
 * restarted.
 */

import assert from "node:assert/strict";

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { ROOM_CLASSES } from "../harness/deployment.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop", total_active_users: 5 });
const options = { rooms: [shop], colos: { AMS: 2, NRT: 2 } };
/** Well within the session of 60 s, and no divisor of it. */
const BROWSE_MS = 17_000;
const EVERYTHING_DOWN = ROOM_CLASSES.map((className) => ({ className, fail: "before" }));

clusterTestBothWays("accepted visitors browse on while others wait", options, (cluster) =>
  browseOn(cluster, async () => {}),
);

clusterTest("accepted visitors browse on while every object call fails", options, (cluster) =>
  browseOn(cluster, () => cluster.breakCalls(...EVERYTHING_DOWN)),
);

clusterTest("accepted visitors browse on while every answer is lost", options, (cluster) =>
  browseOn(cluster, () =>
    cluster.breakCalls(...EVERYTHING_DOWN.map((fault) => ({ ...fault, fail: "after" }))),
  ),
);

clusterTest(
  "accepted visitors browse on after everything restarts without copies",
  options,
  (cluster) => browseOn(cluster, () => cluster.restart({}, "lost")),
);

/**
 * Fills the room and a line behind it, lets something happen, and looks for two sessions at who is
 * inside.
 */
async function browseOn(cluster, happen) {
  const guests = new Crowd(cluster, {
    count: 5,
    host: shop.host,
    label: "guest",
    browseMs: BROWSE_MS,
  });
  await guests.arrive();
  const line = new Crowd(cluster, { count: 10, host: shop.host, label: "line" });
  await line.arrive();
  assert.deepEqual([guests.inside.length, line.waiting.length], [5, 10]);

  await happen();
  for (let passed = 0; passed < 120_000; passed += 4_000) {
    await guests.wait(4_000);
    await line.wait(1);
    assert.equal(guests.inside.length, 5, `${guests.waiting.length} queued after ${passed} ms`);
  }
  assert.equal(line.inside.length, 0, "somebody entered a full room");
}
