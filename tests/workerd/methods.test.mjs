/**
 * Queueing methods and maintenance as visitors meet them: a lottery that has nothing to do with the
 * order of coming, everybody or nobody new let in, and a room that holds or drains within seconds.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostInside, orderOfEntry } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, look } from "../harness/visitor.mjs";

const MINUTE_MS = 60_000;
const SESSION_MINUTES = 4;
const PLACES = 6;
const COUNTS_AFTER_MS = 5_000;

const drawn = room({
  name: "drawn",
  total_active_users: PLACES,
  session_duration: SESSION_MINUTES,
  queueing_method: "random",
});
const lottery = { rooms: [drawn], colos: { AMS: 2, NRT: 2 } };

clusterTestBothWays("a lottery draws who enters next", lottery, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 30, host: drawn.host });
  for (const visitor of crowd.visitors) {
    await crowd.arriveOne(visitor);
    await crowd.wait(1_500);
  }
  const guests = crowd.visitors.slice(0, PLACES);
  assert.deepEqual(crowd.inside, guests, "places were free");
  const waiting = new Visitor(cluster, { name: "another", host: drawn.host });
  const page = await waiting.visit();
  // Nobody may try more often than another, and the first page is no exception.
  assert.ok(page.refreshS >= 18 && page.refreshS <= 22, `${page.refreshS} s`);
  assert.match(page.body, /at random/);

  // Until the guests' places are free again: by then everybody has taken part in a round.
  const line = () => crowd.inside.length - PLACES;
  await crowd.wait(SESSION_MINUTES * MINUTE_MS + 2 * MINUTE_MS, () => line() >= PLACES);
  const arrivals = await cluster.arrivals();
  const winners = orderOfEntry(arrivals).slice(PLACES, 2 * PLACES);
  assert.equal(winners.length, PLACES, "places stay empty");
  const next = crowd.visitors.slice(PLACES, 2 * PLACES).map(({ name }) => name);
  // By chance once in 134,596 draws.
  assert.notDeepEqual([...winners].sort(), [...next].sort(), "by the order of coming");
  assert.ok(mostInside(arrivals, SESSION_MINUTES * MINUTE_MS) <= PLACES, "too many inside");
});

const shop = room({ name: "shop", total_active_users: 1, session_duration: 5 });
const everywhere = { rooms: [shop], colos: { AMS: 2 } };

/** Changes the room, and lets the change reach every isolate. */
async function change(cluster, fields) {
  await call(cluster, "PATCH", `${ROOMS}/${shop.id}`, fields);
  for (let passed = 0; passed < COUNTS_AFTER_MS; passed += 1_000) {
    for (const { name } of cluster.isolates) await look(cluster, name, { host: "other.example" });
    await cluster.advance(1_000);
  }
}

const visitorOf = (cluster) => (name) => new Visitor(cluster, { name, host: shop.host });

clusterTest("reject, passthrough and back again", everywhere, async (cluster) => {
  const names = ["guest", "waiting", "rejected", "passing", "last"];
  const [guest, waiting, rejected, passing, last] = names.map(visitorOf(cluster));
  assert.equal((await guest.visit()).kind, "origin");
  assert.equal((await waiting.visit()).kind, "queue");

  await change(cluster, { queueing_method: "reject" });
  const page = await rejected.visit();
  assert.equal(page.status, 200);
  assert.match(page.body, /Not available at the moment/);
  assert.deepEqual([page.headers.refresh, page.headers["set-cookie"]], [undefined, undefined]);
  assert.doesNotMatch(page.body, /Your reference/);
  const turnedAway = await waiting.visit();
  assert.match(turnedAway.body, /Not available at the moment[^]*Your reference/);
  const { refresh, "set-cookie": cookie } = turnedAway.headers;
  assert.deepEqual([turnedAway.status, refresh, cookie], [200, undefined, undefined]);
  assert.equal((await guest.visit()).kind, "origin", "a visitor inside was turned away");

  await change(cluster, { queueing_method: "passthrough" });
  assert.equal((await passing.visit()).kind, "origin");
  assert.equal((await waiting.visit()).kind, "origin");
  // Reports and a sync.
  await cluster.advance(COUNTS_AFTER_MS);
  const { result } = await call(cluster, "GET", `${ROOMS}/${shop.id}/status`);
  assert.deepEqual([result.status, result.estimated_total_active_users], ["not_queueing", 3]);

  await change(cluster, { queueing_method: "fifo" });
  assert.equal((await last.visit()).kind, "queue", "the room is over its limit");
  for (const inside of [guest, waiting, passing]) {
    assert.equal((await inside.visit()).kind, "origin", `${inside.name} was thrown out`);
  }
});

clusterTest("a hold reaches visitors inside and a drain does not", everywhere, async (cluster) => {
  const [guest, late] = ["guest", "late"].map(visitorOf(cluster));
  assert.equal((await guest.visit()).kind, "origin");

  await change(cluster, { maintenance: "hold" });
  const held = await guest.visit();
  assert.equal(held.kind, "queue");
  assert.match(held.body, /We will be right back/);
  await cluster.advance(3 * MINUTE_MS);
  assert.equal((await guest.visit()).kind, "queue");
  await cluster.advance(3 * MINUTE_MS);
  await change(cluster, { maintenance: "off" });
  assert.equal((await guest.visit()).kind, "origin", "the session ended while it was held");

  await change(cluster, { maintenance: "drain" });
  assert.equal((await late.visit()).kind, "queue");
  assert.equal((await guest.visit()).kind, "origin");
  await cluster.advance(3 * MINUTE_MS);
  assert.equal((await guest.visit()).kind, "origin");
  await cluster.advance(3 * MINUTE_MS);
  assert.equal((await guest.visit()).kind, "queue", "the session was renewed");
});
