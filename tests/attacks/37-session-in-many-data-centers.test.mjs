/**
 * Threat 37, one session used in many data centers: it takes one place, so that nobody fills a room
 * with one ticket, and a visitor whose phone changes the data center keeps the session.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, look } from "../harness/visitor.mjs";

const TEN = ["AMS", "CDG", "FRA", "GRU", "HKG", "IAD", "JNB", "LAX", "NRT", "SYD"];
/** Reports, the sync under way, the next one and that of whoever counts the visitor. */
const SYNCED_MS = 7_000;
/** Less than a session, and more than a bucket. */
const PAUSE_MS = 29_000;
/** Others who enter in each round. */
const GUESTS = 4;

const client = { "cf-connecting-ip": "192.0.2.1", "user-agent": "Mozilla/5.0 Firefox/140.0" };

const limits = { total_active_users: 10, new_users_per_minute: 10 };
const shop = room({ name: "shop", ...limits });
const strict = room({ name: "strict", ...limits, ticket_sharing: "new_visitor" });
const options = { rooms: [shop, strict], colos: Object.fromEntries(TEN.map((colo) => [colo, 1])) };

for (const { name, host, id } of [shop, strict]) {
  const fills = `row 37: one session in ten data centers fills no room (${name})`;
  clusterTest(fills, options, async (cluster) => {
    const thief = new Visitor(cluster, { name: "thief", host, colo: "AMS" });
    await thief.visit({ headers: client });
    assert.ok(thief.inside);
    // Each data center goes on with the newest cookie that it gave.
    const cookies = new Map(TEN.map((colo) => [colo, thief.cookies]));
    for (let round = 0; round < 12; round += 1) {
      for (const [colo, cookie] of cookies) {
        const answer = await use(cluster, { host, colo, cookie });
        assert.equal(answer.kind, "origin", `${colo}, ${round}`);
        cookies.set(colo, answer.cookie ?? cookie);
      }
      await cluster.advance(SYNCED_MS);
      // Those who came in the last two rounds are still inside.
      const others = Math.min(round, 2) * GUESTS;
      const taken = await inside(cluster, id);
      assert.ok(taken <= 1 + others, `${taken} places, of which ${others} are others'`);
      for (let guest = 0; guest < GUESTS; guest += 1) {
        const visitor = new Visitor(cluster, { name: `${round}-${guest}`, host, colo: "FRA" });
        await visitor.visit();
        assert.ok(visitor.inside, `guest ${guest} of round ${round} waits`);
      }
      await cluster.advance(PAUSE_MS);
    }
  });
}

const phone = "row 37: a phone that changes the data center keeps its session, and counts once";
clusterTest(phone, options, async (cluster) => {
  const { host, id } = shop;
  let cookie;
  for (let round = 0; round < 12; round += 1) {
    const colo = TEN[round % 3];
    const answer = await use(cluster, { host, colo, cookie });
    assert.equal(answer.kind, "origin", `${colo}, ${round}`);
    cookie = answer.cookie ?? cookie;
    await cluster.advance(SYNCED_MS);
    assert.equal(await inside(cluster, id), 1, `round ${round}`);
    await cluster.advance(PAUSE_MS);
  }
});

async function use(cluster, { host, colo, cookie }) {
  const { name } = cluster.isolates.find((isolate) => isolate.colo === colo);
  const headers = { ...client, "x-visitor": "one", accept: "text/html", ...(cookie && { cookie }) };
  const answer = await look(cluster, name, { host, path: "/", headers });
  const [set] = answer.headers["set-cookie"] ?? [];
  return { kind: answer.kind, cookie: set?.split(";")[0] };
}

async function inside(cluster, id) {
  const { result } = await call(cluster, "GET", `${ROOMS}/${id}/status`);
  return result.estimated_total_active_users;
}
