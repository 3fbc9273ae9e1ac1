/**
 * Threat 40, the window in which a turn is confirmed: by another site, by a link or a preview that
 * asks for one, without a ticket, again and again, or never.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd, inParallel } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

const PLACES = 10;
const MINUTE_MS = 60_000;
const STEP_MS = 2_000;
const shop = room({
  name: "shop",
  total_active_users: PLACES,
  session_duration: 1,
  confirm_turn_minutes: 5,
});
const origin = `http://${shop.host}`;
const options = { rooms: [shop], colos: { AMS: 2 } };
const confirms = (headers = { origin }) => ({
  method: "POST",
  path: "/?waiting-room-place",
  body: "act=enter",
  headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
});
const isAsked = ({ body }) => body.includes("<h1>It is your turn</h1>");

/** Fills the room and lets `count` more wait; returns them. */
async function behindAFullRoom(cluster, count, label) {
  const first = new Crowd(cluster, { count: PLACES, host: shop.host, label: "first" });
  await first.arrive();
  assert.equal(first.inside.length, PLACES);
  await cluster.advance(3_000);
  const crowd = new Crowd(cluster, { count, host: shop.host, label });
  await crowd.arrive();
  assert.equal(crowd.inside.length, 0);
  return crowd;
}

async function untilAsked(cluster, crowd) {
  const [visitor] = crowd.visitors;
  const end = cluster.clock.now() + 3 * MINUTE_MS;
  while (cluster.clock.now() < end) {
    await crowd.wait(STEP_MS);
    if (isAsked(await visitor.visit())) return visitor;
  }
  throw new Error("nobody is asked");
}

clusterTest("row 40: nothing but the own click confirms a turn", options, async (cluster) => {
  const crowd = await behindAFullRoom(cluster, 1, "asked");
  const [early] = crowd.visitors;
  await early.visit(confirms());
  assert.ok(!isAsked(await early.visit()) && early.waiting, "whose turn it is not has entered");
  const visitor = await untilAsked(cluster, crowd);
  visitor.dueAt = undefined;
  // Links, previews and prefetches of any address.
  for (const path of ["/?waiting-room-place", "/?waiting-room-place&act=enter", "/?act=enter"]) {
    for (const method of ["GET", "HEAD"]) {
      await visitor.visit({ path, method });
      await visitor.visit({ path, method, headers: { "sec-purpose": "prefetch;prerender" } });
    }
  }
  for (const other of ["null", "https://other.example", `https://${shop.host}:8443`]) {
    assert.equal((await visitor.visit(confirms({ origin: other }))).status, 403, other);
  }
  assert.equal((await visitor.visit(confirms({}))).status, 403);
  const asking = await visitor.visit();
  assert.ok(isAsked(asking), "another site, a link or a preview has confirmed");
  // A frame in a page of a neighboring host, which shows something else to be clicked.
  assert.match(asking.headers["content-security-policy"], /; frame-ancestors 'self'$/);
  // Somebody without this ticket.
  const stranger = new Visitor(cluster, { name: "stranger", host: shop.host });
  await stranger.visit(confirms());
  assert.ok(!stranger.cookies, "who has no ticket gets none");
  // The click itself, which a replay repeats for this visitor alone.
  const asked = visitor.cookies;
  assert.equal((await visitor.visit(confirms())).status, 303);
  await visitor.visit();
  assert.ok(visitor.inside);
  await cluster.advance(3 * MINUTE_MS);
  const replayed = new Visitor(cluster, { name: "replay", host: shop.host });
  const again = await replayed.visit(confirms({ origin, cookie: asked }));
  assert.equal(again.headers["set-cookie"], undefined, "a ticket whose window is over enters");
});

clusterTest("row 40: who never clicks holds no more than who enters", options, async (cluster) => {
  const bots = await behindAFullRoom(cluster, 2 * PLACES, "bot");
  await cluster.advance(3_000);
  const people = new Crowd(cluster, { count: PLACES, host: shop.host, label: "person" });
  await people.arrive();
  // The bots show each page that they get, and never click; people click at once.
  const from = cluster.clock.now();
  const end = from + 8 * MINUTE_MS;
  while (people.inside.length < PLACES && cluster.clock.now() < end) {
    await bots.wait(STEP_MS);
    const due = people.waiting.filter(({ dueAt }) => dueAt <= cluster.clock.now());
    await inParallel(due, PLACES, async (visitor) => {
      if (!isAsked(await visitor.visit())) return;
      await visitor.visit(confirms());
      await visitor.visit();
    });
  }
  assert.equal(bots.inside.length, 0, "nobody enters without a click");
  const waited_s = (cluster.clock.now() - from) / 1_000;
  console.log(`# ${people.inside.length} of ${PLACES} are inside after ${waited_s} s`);
  // Three sessions of a minute, their buckets, and a check-in behind each.
  assert.equal(people.inside.length, PLACES);
  assert.ok(waited_s <= 330, `${waited_s} s`);
});
