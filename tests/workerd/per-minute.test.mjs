/**
 * New users per minute: never more than the limit in any 60 s, and no minute wasted while people
 * wait.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostEnteredInAMinute } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const SESSION_MS = 60_000;
const MINUTES = 3;
const LIMIT = 60;
/** Of what the limit allows in the whole time, at least so much must be used. */
const USED_MIN = 0.8;

const gate = room({ name: "gate", total_active_users: 1_000, new_users_per_minute: LIMIT });

clusterTest(
  "300 newcomers, 60 new users per minute",
  { rooms: [gate], colos: { AMS: 2, NRT: 2 } },
  async (cluster) => {
    const crowd = new Crowd(cluster, { count: 300, host: gate.host });
    await crowd.arrive();
    await crowd.wait(MINUTES * 60_000);

    const arrivals = await cluster.arrivals();
    const most = mostEnteredInAMinute(arrivals, SESSION_MS);
    assert.ok(most <= LIMIT, `${most} entered within 60 s`);
    const entered = crowd.inside.length;
    assert.ok(
      entered >= USED_MIN * LIMIT * MINUTES,
      `only ${entered} entered in ${MINUTES} minutes`,
    );
  },
);
