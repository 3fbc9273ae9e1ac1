/**
 * Rooms know nothing of each other: flooding one changes no admission and no object call of
 * another.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";

const calm = room({ name: "calm", total_active_users: 20 });
const flooded = room({ name: "flooded", total_active_users: 5 });
const options = { rooms: [calm, flooded], colos: { AMS: 2 } };
const PERIOD_MS = 20_000;
/**
 * Background calls follow a timer of about 2 s and may fall on either side of the end of a period.
 */
const EDGE_CALLS = 6;

clusterTest("flooding one room leaves another unchanged", options, async (cluster) => {
  const alone = await callsOfCalm(cluster, "alone", async () => {});
  const beside = await callsOfCalm(cluster, "beside", async () => {
    const flood = new Crowd(cluster, { count: 1_500, host: flooded.host, label: "flood" });
    await flood.arrive();
    assert.equal(flood.inside.length, 5);
  });
  assert.ok((await cluster.allCalls(flooded)) > 0, "the flood met no object at all");
  assert.ok(
    Math.abs(beside - alone) <= EDGE_CALLS,
    `${alone} object calls alone, ${beside} beside a flood`,
  );
});

/**
 * Object calls of the calm room in one period in which five visitors enter it and `happen` happens.
 */
async function callsOfCalm(cluster, label, happen) {
  const end = cluster.clock.now() + PERIOD_MS;
  const before = await cluster.allCalls(calm);
  const guests = new Crowd(cluster, { count: 5, host: calm.host, label });
  for (const guest of guests.visitors) {
    await guests.arriveOne(guest);
    await guests.wait(1_000);
  }
  assert.equal(guests.inside.length, 5, `${label}: a visitor of the calm room was queued`);
  await happen();
  assert.ok(cluster.clock.now() < end, "the flood took longer than the period");
  await guests.wait(end - cluster.clock.now());
  return (await cluster.allCalls(calm)) - before;
}
