/** A room that is new, or that everybody left long ago: whoever comes next enters at once. */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const quiet = room({ name: "quiet", total_active_users: 2 });
const { host } = quiet;
/**
 * Longer than the session, the widest bucket and the time after which lost grants are written off.
 */
const SILENCE_MS = 6 * 60_000;
/**
 * Objects stay for about 10 s after their last call; larger steps leave them no work in between.
 */
const STEP_MS = 15_000;

const options = { rooms: [quiet], colos: { AMS: 1, NRT: 1 } };

clusterTestBothWays("the first visitor of a room enters at once", options, async (cluster) => {
  await visitorInside(cluster, quiet);
});

for (const copies of ["kept", "lost"]) {
  const name = `after silence, objects gone, copies ${copies}, a newcomer enters at once`;
  clusterTestBothWays(name, options, async (cluster) => {
    const before = new Crowd(cluster, { count: 6, host, label: "before" });
    await before.arrive();
    await before.wait(10_000);
    assert.equal(before.inside.length, 2);
    assert.equal(before.waiting.length, 4);

    await cluster.advance(SILENCE_MS, STEP_MS);
    await cluster.killObjects();
    if (copies === "lost") await cluster.loseCopies();
    for (const colo of ["NRT", "AMS"]) {
      const newcomer = new Visitor(cluster, { name: `newcomer ${colo}`, host, colo });
      assert.equal((await newcomer.visit()).kind, "origin", `${colo} was queued`);
    }
  });
}
