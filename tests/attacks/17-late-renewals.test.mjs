/**
 * Threat 17, too many in all data centers together: everybody inside renews in the last moment of a
 * session, in a data center that tells it seconds late, while others want their places elsewhere.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostInside } from "../harness/measure.mjs";
import { objectName, room } from "../harness/rooms.mjs";

const PLACES = 50;
const SESSION_MS = 60_000;
/** How late the data center of those inside tells what happens there. */
const LATE_MS = 2_000;
/** How long before their sessions end they look at another page. */
const LAST_MOMENTS_MS = [3_000, 1_000, 300];
/** Others try as long, and as often, to get in elsewhere. */
const TRY_MS = 15_000;
const TRY_EVERY_MS = 500;
const TRY_AT_ONCE = 10;

const sale = room({ name: "sale", total_active_users: PLACES });

for (const beforeMs of LAST_MOMENTS_MS) {
  const title = "row 17: renewals told late let nobody in too many";
  const options = { rooms: [sale], colos: { AMS: 1, NRT: 1 } };
  clusterTest(`${title}, ${beforeMs} ms before the end`, options, async (cluster) => {
    const inside = new Crowd(cluster, { count: PLACES, host: sale.host, label: "inside" });
    for (const visitor of inside.visitors) visitor.colo = "AMS";
    const began = cluster.clock.now();
    await inside.arrive();
    await inside.wait(5_000);
    assert.equal(inside.inside.length, PLACES, "the room was not filled");

    const object = objectName.DataCenterAggregator(sale, "AMS");
    await cluster.breakCalls({ className: "DataCenterAggregator", object, delayMs: LATE_MS });
    await cluster.advanceTo(began + SESSION_MS - beforeMs);
    await inside.arrive();
    const until = cluster.clock.now() + TRY_MS;
    for (let round = 0; cluster.clock.now() < until; round += 1) {
      const label = `other-${round}`;
      const others = new Crowd(cluster, { count: TRY_AT_ONCE, host: sale.host, label });
      for (const visitor of others.visitors) visitor.colo = "NRT";
      await others.arrive();
      await cluster.advance(TRY_EVERY_MS);
    }
    const most = mostInside(await cluster.arrivals(), SESSION_MS);
    assert.ok(most <= PLACES, `${most} inside of ${PLACES}`);
    const renewed = inside.visitors.filter((visitor) => visitor.inside).length;
    assert.ok(renewed > 0, "nobody was inside to the last moment");
  });
}
