/**
 * Visitors with an invitation join a group of the room: they enter before others, or they alone get
 * in. The page and the JSON say so to everybody, and both limits stay exact.
 */

import assert from "node:assert/strict";

import { ROOMS, call, refused } from "../harness/api.mjs";
import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { inviter, join, signed } from "../harness/invitation.mjs";
import { mostInside } from "../harness/measure.mjs";
import { sendForm } from "../harness/place.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const MINUTE_MS = 60_000;
/** A check-in, which comes within 22 s; the newest view; and what a slow machine takes. */
const SOON_MS = 30_000;
/** The line is known of by then, and the sessions of those inside go on for long enough. */
const REPORTED_MS = 5_000;
const groups = [{ name: "members", enters: "first" }, { name: "guests", enters: "in_turn" }];
const fields = { invitation_groups: groups, json_response_enabled: true };
const PLACES = 4;
const shop = room({
  name: "shop",
  total_active_users: PLACES,
  session_duration: 1,
  show_position: true,
  ...fields,
});
const club = room({ name: "club", total_active_users: 2, invitation_only: true, ...fields });
const ONE_IN = 4;
const HALL = 20;
const hall = room({
  name: "hall",
  total_active_users: HALL,
  session_duration: 1,
  show_position: true,
  ...fields,
  invitation_groups: [{ name: "friends", enters: "share", one_in: ONE_IN }],
});
const options = { rooms: [shop, club, hall], colos: { AMS: 2, NRT: 1 } };
const json = { headers: { accept: "application/json" } };
const facts = async (visitor) => JSON.parse((await visitor.visit(json)).body).cfWaitingRoom;

const order = "who is invited enters first, and both limits hold";
clusterTest(order, options, async (cluster) => {
  const { make } = await inviter(cluster, shop, "members");
  const code = make({ jti: "friends", uses: 2 });
  const first = new Crowd(cluster, { count: PLACES, host: shop.host, label: "first" });
  await first.arrive();
  assert.equal(first.inside.length, PLACES);
  await cluster.advance(3_000);
  const line = new Crowd(cluster, { count: 2 * PLACES, host: shop.host, label: "line" });
  await line.arrive();
  await line.wait(REPORTED_MS);
  assert.equal(line.inside.length, 0);
  // Two come long after them, in two data centers, and join the group.
  const late = ["AMS", "NRT"].map((colo) => {
    return new Visitor(cluster, { name: `late-${colo}`, host: shop.host, colo });
  });
  for (const visitor of late) {
    const page = await visitor.visit();
    assert.ok(page.body.includes("People with an invitation are let in first."), "nobody is told");
    assert.deepEqual(await join(visitor, code), { status: 200, invitation: "members" });
    assert.deepEqual(await join(visitor, code), { status: 200, invitation: "members" }, "again");
  }
  const told = await facts(line.visitors[0]);
  assert.equal(told.invitationsFirst, true);
  assert.equal("invitation" in told, false);
  const all = new Crowd(cluster, { count: 0, host: shop.host });
  all.visitors.push(...line.visitors, ...late);
  await all.wait(SOON_MS);
  const own = await facts(late[0]);
  assert.deepEqual([own.invitation, own.invitationsFirst], ["members", undefined]);
  assert.ok(own.peopleAhead <= 1, `${own.peopleAhead} stand before an invited visitor`);
  const page = await late[1].visit();
  assert.match(page.body, /Your invitation: <bdi>members<\/bdi>/);
  const isLateInside = () => late.every(({ inside }) => inside);
  await all.wait(3 * MINUTE_MS, () => isLateInside() || line.inside.length > PLACES - 2);
  assert.ok(isLateInside(), `${line.inside.length} of the line have entered before`);
  assert.ok(line.inside.length <= PLACES - 2, `${line.inside.length} have entered before`);
  await all.wait(5 * MINUTE_MS, () => all.waiting.length === 0);
  assert.equal(all.waiting.length, 0, "somebody never enters");
  const most = mostInside(await cluster.arrivals(), MINUTE_MS);
  assert.ok(most <= PLACES, `${most} are inside`);
});

const shares = "a group by share has one place in so many, and everybody is told";
clusterTest(shares, options, async (cluster) => {
  const { make } = await inviter(cluster, hall, "friends");
  const code = make({ jti: "all", uses: 99 });
  const inside = new Crowd(cluster, { count: HALL, host: hall.host, label: "inside" });
  await inside.arrive();
  assert.equal(inside.inside.length, HALL);
  await cluster.advance(3_000);
  const line = new Crowd(cluster, { count: 3 * HALL, host: hall.host, label: "line" });
  for (const visitor of line.visitors) {
    await line.arriveOne(visitor);
    await cluster.advance(20);
  }
  // Also if a half of the line joined in the next epoch of the census.
  await line.wait(3 * REPORTED_MS);
  assert.equal(line.inside.length, 0);
  const told = await facts(line.visitors.at(-1));
  assert.deepEqual([told.invitationsOneIn, told.invitationsFirst], [ONE_IN, undefined]);
  const friends = new Crowd(cluster, { count: HALL / 2, host: hall.host, label: "friend" });
  for (const visitor of friends.visitors) {
    const page = await friends.arriveOne(visitor).then(() => visitor.visit());
    assert.ok(page.body.includes(`Up to 1 in ${ONE_IN} places goes to people with an invitation.`));
    // As if the first answer had got lost: the place is the same, and none is used up.
    const cookie = `__cfwaitingroom=${visitor.cookie("__cfwaitingroom")}`;
    const copy = new Visitor(cluster, { name: visitor.name, host: hall.host, colo: visitor.colo });
    for (const [one, request] of [[visitor], [copy, { headers: { cookie } }]]) {
      const { status, invitation } = await join(one, code, request);
      assert.deepEqual([status, invitation], [200, "friends"]);
    }
    await cluster.advance(20);
  }
  const all = new Crowd(cluster, { count: 0, host: hall.host });
  all.visitors.push(...line.visitors, ...friends.visitors);
  await all.wait(SOON_MS);
  const own = await Promise.all(friends.visitors.slice(0, 3).map(facts));
  const ahead = own.map(({ peopleAhead }) => peopleAhead);
  const want = [1, 2, 3].map((place) => place * ONE_IN - 1);
  const isRight = ahead.every((one, at) => Math.abs(one - want[at]) <= 1);
  assert.ok(isRight, `${ahead} before, not ${want}`);
  await all.wait(4 * MINUTE_MS, () => all.inside.length >= 2 * HALL);
  const [entered, of] = [friends.inside.length, all.inside.length];
  const part = (entered / of) * ONE_IN;
  assert.ok(part >= 0.8 && part <= 1.2, `${entered} of ${of} who entered are of the group`);
  const most = mostInside(await cluster.arrivals(), MINUTE_MS);
  assert.ok(most <= HALL, `${most} are inside`);
  // The story says so to those who were there before.
  await cluster.advance(MINUTE_MS);
  const trace = async ({ reference }) =>
    (await call(cluster, "GET", `${ROOMS}/${hall.id}/trace/${reference}`)).result;
  const waiting = await trace(told);
  const reasons = waiting.entered_before.map(({ reason }) => reason);
  assert.deepEqual(reasons, ["share"], JSON.stringify(waiting));
  const first = await trace(own[0]);
  assert.deepEqual([first.invitation, first.entered_by], ["friends", "share"]);
});

const only = "without an invitation nobody gets in, and a page says so";
clusterTestBothWays(only, options, async (cluster) => {
  const { make } = await inviter(cluster, club, "guests");
  const visitor = new Visitor(cluster, { name: "guest", host: club.host });
  const page = await visitor.visit();
  assert.ok(visitor.waiting, "the room is empty, and lets in everybody");
  assert.match(page.body, /<h1>By invitation only<\/h1>/);
  assert.match(page.body, /<input class="tell wide" name="invitation"/);
  const told = await facts(visitor);
  assert.deepEqual([told.invitationNeeded, told.waitTimeKnown], [true, false]);
  const failed = await sendForm(visitor, { act: "join", invitation: "a.b.c" });
  assert.match(failed.body, /role="alert"[^>]*>This code is not right/);
  assert.equal((await join(visitor, "a.b.c")).status, 404);
  // Without script: a form, and the page again.
  const sent = await sendForm(visitor, { act: "join", invitation: make({ jti: "a" }) });
  assert.equal(sent.status, 303);
  assert.ok(!sent.headers.location.includes("a."), "the code is in an address");
  await visitor.visit();
  assert.ok(visitor.inside, "an invited visitor does not get in");
  // Its use is stored: after a restart, from another data center.
  await cluster.advance(5_000);
  await cluster.killObjects();
  const other = new Visitor(cluster, { name: "other", host: club.host, colo: "NRT" });
  await other.visit();
  assert.equal((await join(other, make({ jti: "a" }))).status, 410);
  const over = make({ jti: "b", exp: Math.floor(cluster.clock.now() / 1_000) });
  assert.match((await sendForm(other, { act: "join", invitation: over })).body, /has expired/);
  assert.ok((await other.visit()) && other.waiting);
  // Who is inside stays so, and so does a room without groups.
  await visitor.visit();
  assert.ok(visitor.inside);
});

clusterTest("keys are for managers, and a trace names the group", options, async (cluster) => {
  const path = `${ROOMS}/${shop.id}/invitation_keys`;
  const { result } = await call(cluster, "GET", path);
  assert.deepEqual(result.map(({ key, ...group }) => ({ ...group, long: key.length })), [
    { name: "members", enters: "first", long: 43 },
    { name: "guests", enters: "in_turn", long: 43 },
  ]);
  const [{ key }] = result;
  for (const role of ["look", "steer"]) {
    const made = await call(cluster, "POST", "user/tokens", { name: role, role });
    const authorization = { authorization: `Bearer ${made.result.value}` };
    await refused(cluster, 403, "GET", path, undefined, authorization);
  }
  for (const where of [`${ROOMS}/${shop.id}`, "waiting_rooms/file", "waiting_rooms/audit_log"]) {
    const envelope = await call(cluster, "GET", where);
    assert.ok(!JSON.stringify(envelope).includes(key), `${where} has a key`);
  }
  // Another name is another key.
  const renamed = [{ name: "friends", enters: "first" }];
  await call(cluster, "PATCH", `${ROOMS}/${shop.id}`, { invitation_groups: renamed });
  const { result: after } = await call(cluster, "GET", path);
  assert.notEqual(after[0].key, key);
  await cluster.advance(10_000);
  const exp = Math.floor(cluster.clock.now() / 1_000) + 60;
  await visitorInside(cluster, shop);
  const crowd = new Crowd(cluster, { count: PLACES, host: shop.host });
  await crowd.arrive();
  const [visitor] = crowd.waiting;
  const claims = { room: shop.id, group: "members", jti: "a", exp };
  assert.equal((await join(visitor, signed(key, claims))).status, 404, "the old name");
  const friend = { ...claims, group: "friends" };
  assert.equal((await join(visitor, signed(after[0].key, friend))).status, 200);
  await crowd.wait(SOON_MS);
  const { reference } = await facts(visitor);
  await crowd.wait(3 * MINUTE_MS, () => visitor.inside);
  await cluster.advance(MINUTE_MS);
  const trace = await call(cluster, "GET", `${ROOMS}/${shop.id}/trace/${reference}`);
  assert.deepEqual(
    [trace.result.invitation, trace.result.entered_by],
    ["friends", "invitation"],
  );
});
