/**
 * Threat 38, reports cut on purpose: whoever is inside goes on while their isolates cannot reach
 * the aggregator of the data center, or wait too long for it in a flood, and it goes on by itself.
 * The places of those inside stay taken, since the global object hears of them another way.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostInside } from "../harness/measure.mjs";
import { objectName, room } from "../harness/rooms.mjs";

const PLACES = 20;
const SESSION_MS = 60_000;
/** How long the isolates are cut off: every session from before ends meanwhile, by the reports. */
const CUT_MS = 100_000;
/** How often everybody inside looks at another page. */
const BROWSE_MS = 10_000;
const TRY_AT_ONCE = 5;
/** How the calls with reports fail: the last ones wait longer than any isolate does. */
const FAILURES = {
  "reports are lost": { fail: "before" },
  "answers are lost": { fail: "after" },
  "reports are late": { delayMs: 4_000 },
};

const sale = room({ name: "sale", total_active_users: PLACES });
const options = { rooms: [sale], colos: { AMS: 2, NRT: 1 } };

for (const [what, fault] of Object.entries(FAILURES)) {
  const title = `row 38: isolates whose ${what} let nobody in too many`;
  clusterTest(title, options, async (cluster) => {
    const inside = new Crowd(cluster, { count: PLACES, host: sale.host, label: "inside" });
    for (const visitor of inside.visitors) visitor.colo = "AMS";
    await inside.arrive();
    await inside.wait(5_000);
    assert.equal(inside.inside.length, PLACES, "the room was not filled");

    const object = objectName.DataCenterAggregator(sale, "AMS");
    await cluster.breakCalls({ className: "DataCenterAggregator", object, ...fault });
    const until = cluster.clock.now() + CUT_MS;
    for (let round = 0; cluster.clock.now() < until; round += 1) {
      await inside.arrive();
      const label = `other-${round}`;
      const others = new Crowd(cluster, { count: TRY_AT_ONCE, host: sale.host, label });
      for (const visitor of others.visitors) visitor.colo = "NRT";
      await others.arrive();
      await cluster.advance(BROWSE_MS);
    }
    await cluster.breakCalls();
    assert.equal(inside.inside.length, PLACES, "somebody inside was thrown out");
    const most = mostInside(await cluster.arrivals(), SESSION_MS);
    assert.ok(most <= PLACES, `${most} inside of ${PLACES}`);
  });
}
