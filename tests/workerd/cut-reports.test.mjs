/**
 * Isolates that cannot reach the aggregator of their data center, which itself goes on: the places
 * of the visitors whom they renew stay taken, since the global object hears of them another way.
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
/** How a call fails, and what gets lost by it. */
const FAILURES = { before: "reports", after: "answers" };

const sale = room({ name: "sale", total_active_users: PLACES });
const options = { rooms: [sale], colos: { AMS: 2, NRT: 1 } };

for (const [fail, what] of Object.entries(FAILURES)) {
  const title = `isolates whose ${what} get lost let nobody in too many`;
  clusterTest(title, options, async (cluster) => {
    const inside = new Crowd(cluster, { count: PLACES, host: sale.host, label: "inside" });
    for (const visitor of inside.visitors) visitor.colo = "AMS";
    await inside.arrive();
    await inside.wait(5_000);
    assert.equal(inside.inside.length, PLACES, "the room was not filled");

    const object = objectName.DataCenterAggregator(sale, "AMS");
    await cluster.breakCalls({ className: "DataCenterAggregator", object, fail });
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
