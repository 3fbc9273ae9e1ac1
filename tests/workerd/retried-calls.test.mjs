/** A call to an object that has moved, which the platform says to repeat, is made once more. */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

const shop = room({ name: "shop", total_active_users: 9 });
/** A counter calls it: an isolate asks its counter again by itself. */
const CALLED = "GlobalAggregator";
const moved = { retryable: true };
const busy = { retryable: true, overloaded: true };
const options = { rooms: [shop], colos: { AMS: 1 } };

clusterTest("an object moved, or has too much to do", options, async (cluster) => {
  const visit = async (name, platform) => {
    await cluster.breakCalls({ className: CALLED, platform, times: 1 });
    const before = await calls(cluster);
    const one = new Visitor(cluster, { name, host: shop.host });
    const { kind } = await one.visit();
    return { kind, calls: (await calls(cluster)) - before };
  };
  assert.deepEqual(await visit("moved", moved), { kind: "origin", calls: 2 });
  assert.deepEqual(await visit("busy", busy), { kind: "queue", calls: 1 });
});

async function calls(cluster) {
  const { calls: all } = await cluster.door();
  const ofClass = Object.entries(all).filter(([name]) => name.startsWith(CALLED));
  return ofClass.reduce((sum, [, count]) => sum + count, 0);
}
