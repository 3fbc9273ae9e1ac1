/**
 * With `confirm_turn` a called visitor has five minutes to enter with a click: the place is kept
 * meanwhile, and nothing else enters, counts or makes that time longer. Also the number that each
 * visitor can quote.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";

const MINUTE_MS = 60_000;
/** A session of a minute, its bucket, and until everybody has heard of it. */
const FREE_AFTER_MS = MINUTE_MS + 5_000;
/** A census, a tick, a sync, a reading of the view and a check-in, which may be 22 s away. */
const OFFERED_MS = 45_000;
const WINDOW_MS = 5 * MINUTE_MS;
const ENTER = "/?waiting-room-enter";
const door = room({
  name: "door",
  total_active_users: 1,
  confirm_turn: true,
  json_response_enabled: true,
});
const options = { rooms: [door], colos: { AMS: 2 } };

/** Three come to a room for one, who leaves; returns the other two once the first is asked. */
async function secondIsAsked(cluster) {
  const crowd = new Crowd(cluster, { count: 3, host: door.host });
  for (const visitor of crowd.visitors) {
    await crowd.arriveOne(visitor);
    await crowd.wait(2_000);
  }
  const [first, asked, next] = crowd.visitors;
  assert.ok(first.inside);
  first.dueAt = undefined;
  // The first page promises nothing.
  await crowd.wait(6_000);
  const before = await asked.visit();
  assert.match(before.body, /you will have 5 minutes to enter/);
  assert.doesNotMatch(before.body, /you will get in automatically/);
  const is = async (visitor) => (await visitor.visit()).body.includes("<h1>It is your turn");
  let isAsked = false;
  const end = cluster.clock.now() + FREE_AFTER_MS + OFFERED_MS;
  while (!isAsked && cluster.clock.now() < end) {
    await crowd.wait(2_000);
    isAsked = await is(asked);
  }
  assert.ok(isAsked, "nobody is asked");
  return { crowd, asked, next, isAsked: is };
}

clusterTest("whose turn comes enters with a click, and not before", options, async (cluster) => {
  const { crowd, asked, next } = await secondIsAsked(cluster);
  const { body, headers } = await asked.visit();
  assert.equal(headers["set-cookie"], undefined, "a visit within the window counts");
  const [, address] = body.match(/href="([^"]+)">Enter now/);
  assert.equal(new URL(address).pathname + new URL(address).search, ENTER);
  assert.match(body, /data-left="\d+"/);
  await crowd.wait(2 * MINUTE_MS);
  assert.ok(asked.waiting && next.waiting, "the place was given away, or somebody entered alone");
  const clicked = await asked.visit({ path: ENTER });
  assert.deepEqual([clicked.status, new URL(clicked.headers.location).search], [303, ""]);
  await asked.visit();
  assert.ok(asked.inside);
  // Whoever is inside already is sent on as well, and the site never sees the mark.
  assert.equal((await asked.visit({ path: ENTER })).status, 303);
  const arrivals = await cluster.arrivals();
  assert.ok(arrivals.every(({ path }) => !path.includes("waiting-room-enter")));
});

clusterTest("who lets the time pass joins the line again", options, async (cluster) => {
  const { crowd, asked, next, isAsked } = await secondIsAsked(cluster);
  await crowd.wait(WINDOW_MS - MINUTE_MS);
  assert.ok(next.waiting && !(await isAsked(next)), "the place was given away");
  const origin = `http://${door.host}`;
  const moves = { method: "POST", path: "/?waiting-room-place", body: "act=code" };
  const app = { origin, accept: "application/json" };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const { status } = await asked.visit({ ...moves, headers: { ...app, ...form } });
  assert.equal(status, 409, "a code would make the time longer");
  const end = cluster.clock.now() + MINUTE_MS + OFFERED_MS;
  let isNext = false;
  while (!isNext && cluster.clock.now() < end) {
    await crowd.wait(2_000);
    isNext = await isAsked(next);
  }
  assert.ok(isNext, "the place was offered to nobody");
  await asked.visit();
  assert.ok(asked.waiting);
  assert.doesNotMatch((await asked.visit()).body, /<h1>It is your turn/);
});

clusterTest("an app confirms by coming, and reads the number to quote", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 2, host: door.host });
  for (const visitor of crowd.visitors) await crowd.arriveOne(visitor);
  const [first, app] = crowd.visitors[0].inside ? crowd.visitors : crowd.visitors.toReversed();
  first.dueAt = undefined;
  const asApp = { headers: { accept: "application/json" } };
  const told = async () => JSON.parse((await app.visit(asApp)).body).cfWaitingRoom;
  await cluster.advance(10_000);
  const { reference } = await told();
  assert.match(reference, /^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/);
  assert.equal((await told()).reference, reference, "it is the same at each visit");
  const page = (await app.visit()).body;
  assert.ok(page.includes(`Your reference: <strong class="ref" dir="ltr">${reference}`), page);
  const end = cluster.clock.now() + FREE_AFTER_MS + OFFERED_MS;
  while (!app.inside && cluster.clock.now() < end) {
    await cluster.advance(2_000);
    await app.visit(asApp);
  }
  assert.ok(app.inside);
});
