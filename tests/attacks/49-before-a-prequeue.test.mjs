/**
 * Threat 49, coming before the prequeue so as to stand ahead of its draw: whoever waits when it
 * begins draws a lot like all others.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { drawnEvent } from "../harness/draw.mjs";
import { orderOfEntry } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const MINUTE_MS = 60_000;
const JSON_ONLY = { headers: { accept: "application/json" } };
const EARLY = 5;
const FANS = 5;

/** A shop of one place, whose prequeue begins in a minute. */
function shopBeforePrequeue() {
  const at = (minutes) => new Date(Date.now() + minutes * MINUTE_MS).toISOString();
  const times = { prequeue_start_time: at(1), event_start_time: at(6) };
  return room({
    name: "shop",
    total_active_users: 1,
    json_response_enabled: true,
    disable_session_renewal: true,
    events: [drawnEvent(times)],
  });
}

/** The event is scheduled when the test begins, not when this file is read. */
let shop;
const options = {
  colos: { AMS: 2 },
  get rooms() {
    shop = shopBeforePrequeue();
    return [shop];
  },
};

const told = async (visitor) => JSON.parse((await visitor.visit(JSON_ONLY)).body).cfWaitingRoom;

const title = "row 49: whoever comes before a prequeue draws a lot like all who come in it";
clusterTest(title, options, async (cluster) => {
  const [event] = shop.events;
  const all = new Crowd(cluster, { count: 0, host: shop.host });
  const arrive = async (crowd) => {
    for (const visitor of crowd.visitors) {
      await crowd.arriveOne(visitor);
      all.visitors.push(visitor);
      await all.wait(1_000);
    }
  };
  await all.wait(40_000);
  const early = new Crowd(cluster, { count: EARLY, host: shop.host, label: "early" });
  await arrive(early);
  assert.equal(early.waiting.length, EARLY - 1, "one has filled the room");
  const [first] = early.inside;
  assert.equal((await told(early.waiting[0])).drawLot, undefined, "a lot before the prequeue");

  const reach = (time) => all.wait(Date.parse(time) - cluster.clock.now() + 1_000);
  await reach(event.prequeue_start_time);
  await arrive(new Crowd(cluster, { count: FANS, host: shop.host, label: "fan" }));
  const receipts = [];
  for (const visitor of all.visitors.filter((one) => one !== first)) {
    receipts.push(await told(visitor));
  }
  assert.equal(new Set(receipts.map(({ drawCommitment }) => drawCommitment)).size, 1);
  const lots = new Set(receipts.map(({ drawLot }) => drawLot));
  assert.ok(lots.size === receipts.length && !lots.has(undefined), "a lot for each");

  await reach(event.event_start_time);
  const ranks = [];
  for (const visitor of all.waiting) {
    // Whoever has entered meanwhile has no page any more.
    const { drawRank } = (await told(visitor)) ?? {};
    if (drawRank) ranks.push([visitor.name, drawRank]);
  }
  assert.ok(ranks.length >= EARLY + FANS - 2);
  await all.wait((EARLY + FANS) * 1.5 * MINUTE_MS, () => all.waiting.length === 0);
  const byRank = ranks.sort(([, one], [, other]) => (one < other ? -1 : 1)).map(([name]) => name);
  const entered = orderOfEntry(await cluster.arrivals());
  assert.deepEqual(entered.slice(-byRank.length), byRank);
});
