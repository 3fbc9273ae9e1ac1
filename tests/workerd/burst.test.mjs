/**
 * A burst of newcomers at a limit: the origin never sees more than the limit, and in the end
 * exactly the limit.
 */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostEnteredInAMinute, mostInside } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const NEWCOMERS = 5_000;
const LIMIT = 200;
const SESSION_MS = 60_000;
/**
 * Time in which every lease is spent, returned or expired, and its places reach those who were
 * refused first.
 */
const LEASES_END_MS = 10_000;
/** On a slow machine a call of an object may take too long: its places come later. */
const LATE_MS = 40_000;

const sale = room({ name: "sale", total_active_users: LIMIT });

check("on one isolate", { AMS: 1 });
check("on nine isolates of three data centers", { AMS: 3, NRT: 3, IAD: 3 });

function check(where, colos) {
  const name = `${NEWCOMERS} newcomers at once, ${LIMIT} places, ${where}`;
  clusterTestBothWays(name, { rooms: [sale], colos }, async (cluster) => {
    const crowd = new Crowd(cluster, { count: NEWCOMERS, host: sale.host });
    await crowd.arrive();
    assert.ok(crowd.inside.length > 0, "nobody entered although places were free");
    await crowd.wait(LEASES_END_MS);
    await crowd.wait(LATE_MS, () => crowd.inside.length >= LIMIT);

    const arrivals = await cluster.arrivals();
    assert.ok(
      mostInside(arrivals, SESSION_MS) <= LIMIT,
      `${mostInside(arrivals, SESSION_MS)} inside`,
    );
    assert.ok(mostEnteredInAMinute(arrivals, SESSION_MS) <= LIMIT);
    assert.equal(crowd.inside.length, LIMIT);
    assert.equal(crowd.waiting.length, NEWCOMERS - LIMIT);
  });
}
