/**
 * More asks than one counter should bear: several share them, and together they hand out what
 * the limit allows and no more. The newcomers come in small groups, so that nearly each asks: of a
 * crowd in one moment few would.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostInside } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const NEWCOMERS = 4_000;
/** As many of each isolate as may ask at a time. */
const AT_A_TIME = 3 * 8;
const LIMIT = 2_000;
const SESSION_MS = 60_000;
/**
 * Time in which every lease is spent or comes back to the counter that it came from, and a census
 * calls those for whom it was too late in the first second; less than a session.
 */
const SETTLED_MS = 40_000;
/**
 * Part of the places that may stay empty: where this machine is so busy that a call takes 3 s, its
 * slot counts as used until the end of a session.
 */
const LOST = 0.01;

const sale = room({ name: "shared", total_active_users: LIMIT });
const options = { rooms: [sale], colos: { AMS: 8 } };

clusterTest("counters that share a rush hand out the limit", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: NEWCOMERS, host: sale.host });
  for (let first = 0; first < NEWCOMERS; first += AT_A_TIME) {
    const group = crowd.visitors.slice(first, first + AT_A_TIME);
    await Promise.all(group.map((visitor) => crowd.arriveOne(visitor)));
  }
  const { calls } = await cluster.door();
  const first = `DataCenterCounter ${sale.id}/AMS`;
  const others = Object.keys(calls).filter((name) => name.startsWith(`${first}/`));
  assert.ok(calls[first] > 0 && others.length > 0, JSON.stringify(calls));

  await crowd.wait(SETTLED_MS, () => crowd.inside.length >= LIMIT);
  const arrivals = await cluster.arrivals();
  const most = mostInside(arrivals, SESSION_MS);
  assert.ok(most <= LIMIT, `${most} inside`);
  assert.ok(crowd.inside.length >= LIMIT * (1 - LOST), `${crowd.inside.length} inside`);
  assert.equal(crowd.inside.length + crowd.waiting.length, NEWCOMERS);
});
