/**
 * With `confirm_turn_minutes` a visitor whose turn has come enters with a click: the place is kept
 * meanwhile for this visitor alone, the page says for how long, and then the next one is asked.
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
const WINDOW_MINUTES = 3;
const WINDOW_MS = WINDOW_MINUTES * MINUTE_MS;
const door = room({
  name: "door",
  total_active_users: 1,
  new_users_per_minute: 1,
  session_duration: 5,
  confirm_turn_minutes: WINDOW_MINUTES,
  json_response_enabled: true,
});
const leaves = { ...door, session_endpoint: true };
const options = { rooms: [leaves], colos: { AMS: 2 } };
const origin = `http://${door.host}`;
const form = { "content-type": "application/x-www-form-urlencoded", origin };
const confirms = (headers = {}) => ({
  method: "POST",
  path: "/?waiting-room-place",
  body: "act=enter",
  headers: { ...form, ...headers },
});
const isAsked = ({ body }) => body.includes("<h1>It is your turn</h1>");
const leftOf = ({ body }) => Number(body.match(/data-left="(\d+)"/)[1]);

/** Three come to a room for one, who leaves; returns the other two once one of them is asked. */
async function oneIsAsked(cluster) {
  const crowd = new Crowd(cluster, { count: 3, host: door.host });
  for (const visitor of crowd.visitors) {
    await crowd.arriveOne(visitor);
    await crowd.wait(2_000);
  }
  const [first, asked, next] = crowd.visitors;
  assert.ok(first.inside, "nobody enters");
  await crowd.wait(30_000);
  const before = await asked.visit();
  assert.match(before.body, /you will have a few minutes to enter/);
  assert.doesNotMatch(before.body, /you will get in automatically/);
  first.dueAt = undefined;
  const left = await first.visit({
    method: "POST", path: "/_waiting-room/session", headers: form,
  });
  assert.equal(left.status, 200);
  // Pages come again by themselves; the one whose turn it is says so.
  const end = cluster.clock.now() + FREE_AFTER_MS + OFFERED_MS;
  let page;
  do {
    await crowd.wait(1_000);
    page = await asked.visit();
  } while (!isAsked(page) && cluster.clock.now() < end);
  assert.ok(isAsked(page), "nobody is asked");
  return { crowd, asked, next, page };
}

clusterTest("whose turn comes enters with a click, and not before", options, async (cluster) => {
  const { crowd, asked, next, page } = await oneIsAsked(cluster);
  assert.ok(leftOf(page) <= WINDOW_MS / 1_000 + 5 && leftOf(page) > WINDOW_MS / 1_000 - 5);
  await crowd.wait(2 * MINUTE_MS);
  const later = await asked.visit();
  assert.ok(isAsked(later) && next.waiting, "the place was given away, or somebody entered alone");
  assert.equal(later.headers["set-cookie"], undefined, "a visit within the window counts");
  assert.ok(leftOf(later) <= leftOf(page) - 119, `${leftOf(later)} s are left`);
  const facts = await asked.visit({ headers: { accept: "application/json" } });
  const { turnSeconds } = JSON.parse(facts.body).cfWaitingRoom;
  assert.ok(Math.abs(turnSeconds - leftOf(later)) <= 1, "JSON tells the same");
  const clicked = await asked.visit(confirms());
  assert.deepEqual([clicked.status, clicked.headers.location], [303, `${origin}/`]);
  await asked.visit();
  assert.ok(asked.inside);
  await crowd.wait(4 * MINUTE_MS);
  await asked.visit();
  assert.ok(asked.inside && next.waiting, "the session is as long as ever, and takes one place");
  const arrivals = await cluster.arrivals();
  assert.ok(arrivals.every(({ path }) => !path.includes("waiting-room-place")));
});

clusterTest("who lets the window pass joins the line again", options, async (cluster) => {
  const { crowd, asked, next, page } = await oneIsAsked(cluster);
  const endsAt = cluster.clock.now() + leftOf(page) * 1_000;
  await crowd.wait(endsAt - cluster.clock.now() - 3_000);
  assert.ok(isAsked(await asked.visit()) && !isAsked(await next.visit()));
  asked.dueAt = undefined;
  let offered = await next.visit();
  while (!isAsked(offered) && cluster.clock.now() < endsAt + OFFERED_MS) {
    await crowd.wait(1_000);
    offered = await next.visit();
  }
  assert.ok(isAsked(offered), "the place was offered to nobody");
  console.log(`# the next is asked ${(cluster.clock.now() - endsAt) / 1_000} s later`);
  const late = await asked.visit(confirms({ accept: "application/json" }));
  assert.equal(late.status, 409, "the window is over");
  assert.ok(!isAsked(await asked.visit()) && asked.waiting);
  const app = await next.visit(confirms({ accept: "application/json" }));
  assert.deepEqual([app.status, JSON.parse(app.body)], [200, { entered: true }]);
  await next.visit();
  assert.ok(next.inside);
});

clusterTest("a click counts in an isolate that knows no room", options, async (cluster) => {
  const { asked } = await oneIsAsked(cluster);
  await cluster.restart();
  const app = confirms({ accept: "application/json", cookie: asked.cookies });
  const told = await cluster.send("ams-1", { host: door.host, ...app });
  assert.deepEqual([told.status, told.body], [200, '{"entered":true}']);
  const clicked = await asked.visit({ ...confirms(), isolate: "ams-2" });
  assert.deepEqual([clicked.status, clicked.headers.location], [303, `${origin}/`]);
  await asked.visit();
  assert.ok(asked.inside);
});
