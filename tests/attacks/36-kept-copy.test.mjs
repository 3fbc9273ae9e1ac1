/**
 * Threat 36, a copy kept after leaving: whoever leaves frees the place for the next, and a copy of
 * the cookie must not let them stay, also where tickets do not renew, in isolates that know
 * nothing yet, and among more ended sessions than a view names.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { inParallel } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, look } from "../harness/visitor.mjs";

const PATH = "/_waiting-room/session";
/** Some who leave, and more than a view names. */
const SIZES = [20, 288];
const TOGETHER = 20;
const MINUTE_MS = 60_000;
/** A new visitor's session lasts ten minutes; each copy is older than a minute. */
const SESSION_S = 590;

const limits = { total_active_users: 300, new_users_per_minute: 300, session_duration: 10 };
const fixed = { ...limits, disable_session_renewal: true };
const shop = room({ name: "shop", ...fixed, session_endpoint: true });
/** AMS knows those who leave, NRT has visitors of its own, and nobody has ever been at LAX. */
const options = { rooms: [shop], colos: { AMS: 2, NRT: 1, LAX: 1 } };

for (const size of SIZES) {
  clusterTest(`row 36: ${size} leave and keep a copy`, options, async (cluster) => {
    const own = await enter(cluster, { count: 3, name: "own", colo: "NRT" });
    const guests = await enter(cluster, { count: size, name: "guest", colo: "AMS" });
    const copies = guests.map(({ cookies }) => cookies);
    await inParallel(guests, TOGETHER, async (guest) => {
      const headers = { origin: `http://${shop.host}` };
      const { status } = await guest.visit({ path: PATH, method: "POST", headers });
      assert.equal(status, 200);
    });
    await cluster.advance(MINUTE_MS);
    for (const pause of [0, 1, 4]) {
      await cluster.advance(pause * MINUTE_MS);
      for (const { name } of cluster.isolates) {
        const served = await countServed(cluster, name, copies);
        assert.equal(served, 0, `${served} of ${size} at ${name}, ${pause} min later`);
      }
      for (const visitor of own) {
        await visitor.visit();
        assert.ok(visitor.inside, "whoever stays notices nothing");
      }
    }
  });
}

const cost = "row 36: to look for a session costs few calls, and in other rooms none";
const rooms = [shop, room({ name: "plain", ...fixed })];
clusterTest(cost, { rooms, colos: { AMS: 2 } }, async (cluster) => {
  const looked = await callsOfAVisit(cluster, rooms[0]);
  const plain = await callsOfAVisit(cluster, rooms[1]);
  const figures = [looked, plain].map((calls) => calls.toFixed(3));
  const shown = `${figures[0]} calls a page view, without session_endpoint ${figures[1]}`;
  console.log(`# ${shown}`);
  assert.ok(plain <= 0.01, shown);
  assert.ok(looked <= 0.1, shown);
});

/** Visitors who are inside, and whose cookies have come back. */
async function enter(cluster, { count, name, colo, host = shop.host }) {
  const options = { host, colo };
  const all = Array.from({ length: count }, (_, at) => {
    return new Visitor(cluster, { ...options, name: `${name} ${at}` });
  });
  await inParallel(all, TOGETHER, (visitor) => visitor.visit());
  await cluster.advance(1_000);
  await inParallel(all, TOGETHER, (visitor) => visitor.visit());
  for (const visitor of all) assert.ok(visitor.inside, visitor.name);
  return all;
}

/** How many of these copies are served, and not as new visitors. */
async function countServed(cluster, isolate, copies) {
  let served = 0;
  await inParallel(copies, TOGETHER, async (cookie) => {
    const headers = { cookie, accept: "text/html" };
    const answer = await look(cluster, isolate, { host: shop.host, path: "/", headers });
    const isNew = Number.parseInt(answer.headers["waiting-room-session"], 10) >= SESSION_S;
    if (answer.kind === "origin" && !isNew) served += 1;
  });
  return served;
}

/** Twenty look at a page every ten seconds for five minutes. */
async function callsOfAVisit(cluster, { host, id }) {
  const visitors = await enter(cluster, { count: 20, name: host, colo: "AMS", host });
  await cluster.advance(MINUTE_MS);
  const before = await cluster.allCalls(id);
  let visits = 0;
  for (let round = 0; round < 30; round += 1) {
    for (const visitor of visitors) {
      await visitor.visit();
      visits += 1;
    }
    await cluster.advance(10_000);
  }
  return ((await cluster.allCalls(id)) - before) / visits;
}
