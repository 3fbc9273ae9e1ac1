/**
 * More asks than one counter should bear: several share them, and together they hand out exactly
 * what the limit allows.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostInside } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const NEWCOMERS = 4_000;
const LIMIT = 2_000;
const SESSION_MS = 60_000;
/** Time in which every lease is spent, or comes back to the counter that it came from. */
const LEASES_END_MS = 10_000;

const sale = room({ name: "shared", total_active_users: LIMIT, new_users_per_minute: LIMIT });
const options = { rooms: [sale], colos: { AMS: 8 } };

clusterTest("counters that share a rush hand out the limit", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: NEWCOMERS, host: sale.host });
  await crowd.arrive();
  const { calls } = await cluster.door();
  const first = `DataCenterCounter ${sale.id}/AMS`;
  assert.ok(calls[first] > 0 && calls[`${first}/1`] > 0, JSON.stringify(calls));

  await crowd.wait(LEASES_END_MS);
  const arrivals = await cluster.arrivals();
  const most = mostInside(arrivals, SESSION_MS);
  assert.ok(most <= LIMIT, `${most} inside`);
  assert.equal(crowd.inside.length, LIMIT);
  assert.equal(crowd.waiting.length, NEWCOMERS - LIMIT);
});
