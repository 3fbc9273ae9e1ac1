/** A clock that was wrongly ahead is set right: the history has what was before and what comes. */

import assert from "node:assert/strict";
import path from "node:path";

import { ROOMS, call } from "../harness/api.mjs";
import { Clock } from "../harness/clock.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS;
const shop = room({ name: "shop", total_active_users: 100, session_duration: 1 });
const options = { rooms: [shop], colos: { AMS: 1 }, build: "debug" };

/** Each minute somebody comes. */
async function come(cluster, label, minutes) {
  for (let minute = 0; minute < minutes; minute += 1) {
    const name = `${label}${minute}`;
    await new Crowd(cluster, { count: 1, host: shop.host, label: name }).arrive();
    await cluster.advance(MINUTE_MS);
  }
}

/** How many have come, by the history. */
async function counted(cluster) {
  const { result } = await call(cluster, "GET", `${ROOMS}/${shop.id}/history?resolution=minute`);
  const entered = result.columns.indexOf("entered");
  return result.rows.reduce((sum, row) => sum + row[entered], 0);
}

clusterTest("a clock that was a year ahead is set right", options, async (cluster) => {
  // The oldest hours, which the wrong clock deletes.
  for (const label of ["first", "second"]) {
    await come(cluster, label, 8);
    cluster.clock.jump(3 * 60 * MINUTE_MS);
  }
  const oldest = await counted(cluster);
  await come(cluster, "before", 12);
  const before = (await counted(cluster)) - oldest;
  assert.ok(before >= 6, `${before} of 12`);
  cluster.clock.jump(YEAR_MS);
  await come(cluster, "ahead", 10);
  // With the next hour what is too old is deleted.
  cluster.clock.jump(60 * MINUTE_MS);
  await come(cluster, "an hour later", 8);
  await cluster.whileHalted(() => {
    cluster.clock.close();
    cluster.clock = new Clock(path.dirname(cluster.clock.path));
  });
  cluster.clock.jump(8 * 60 * MINUTE_MS);
  await come(cluster, "after", 12);
  const all = await counted(cluster);
  assert.ok(all >= before + 6, `${all} of ${before} before, and of 12 after`);
});
