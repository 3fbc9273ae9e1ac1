/** A question to a counter, or its answer, is lost: it is asked again, and one place is taken. */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

/** Longer than an answer may take, in real time. */
const FOR_EVER_MS = 10_000;
const className = "DataCenterCounter";
const shop = room({ name: "shop", total_active_users: 2 });
const options = { rooms: [shop], colos: { AMS: 1 } };

const losses = {
  "the question fails": { fail: "before" },
  "the answer fails": { fail: "after" },
  "nothing is heard": { delayMs: FOR_EVER_MS },
};
for (const [what, loss] of Object.entries(losses)) {
  clusterTest(`${what}: a newcomer enters, and takes one place`, options, async (cluster) => {
    const [first, second, third] = ["first", "second", "third"].map(
      (name) => new Visitor(cluster, { name, host: shop.host }),
    );
    await cluster.breakCalls({ className, times: 1, ...loss });
    assert.equal((await first.visit()).kind, "origin");
    assert.equal((await second.visit()).kind, "origin");
    assert.equal((await third.visit()).kind, "queue");
  });
}
