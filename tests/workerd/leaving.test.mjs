/**
 * The session of a visitor, in a room with `session_endpoint`: how long it lasts is told without a
 * renewal and without a call of any object, and whoever leaves frees the place, once and for good.
 */

import assert from "node:assert/strict";

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, look, untilInside } from "../harness/visitor.mjs";

const limits = { total_active_users: 1, session_duration: 5 };
const shop = room({ name: "shop", ...limits, session_endpoint: true });
const tickets = room({ name: "tickets", path: "/tickets", ...limits, session_endpoint: true });
const plain = room({ name: "plain", ...limits });
const own = room({ name: "own", ...limits, session_endpoint: true, ticket_sharing: "new_visitor" });
const rooms = [shop, tickets, plain, own];
const options = { rooms, colos: { AMS: 2, NRT: 1 } };
const PATH = "/_waiting-room/session";
/** Reports, syncs and one refresh of whoever is first in the line: far less than the session. */
const SOON_MS = 20_000;
/** A data center has told what it knows, and heard the newest view. */
const SYNC_MS = 4_000;
/** A minute after an admission the rate allows the next. */
const MINUTE_MS = 61_000;

clusterTestBothWays("whoever leaves frees the place, for good", options, async (cluster) => {
  const { one, next } = await fullRoom(cluster, shop);
  const copy = one.cookies;
  const answer = await leave(one, shop);
  assert.equal(answer.status, 200);
  assert.deepEqual(JSON.parse(answer.body), { inside: false, renews: false, secondsLeft: 0 });
  assert.match(answer.headers["set-cookie"][0], /^__cfwaitingroom=; .*Max-Age=0/);
  assert.equal(answer.headers["cache-control"], "private, no-store");
  assert.equal(one.cookies, "", "the browser has no ticket any more");
  await untilInside(cluster, next, SOON_MS);
  // The old cookie, kept by hand, is nobody's: at once near where it ended, soon elsewhere.
  const replay = async ({ name }) => {
    const headers = { cookie: copy };
    return (await look(cluster, name, { host: shop.host, path: "/", headers })).kind;
  };
  const near = cluster.isolates.filter(({ colo }) => colo === "AMS");
  for (const isolate of near) assert.equal(await replay(isolate), "queue", isolate.name);
  // Its visits make an isolate look for a view; the first it finds may be as old as a sync.
  for (const pause of [SYNC_MS, SOON_MS]) {
    for (const isolate of cluster.isolates) await replay(isolate);
    await cluster.advance(pause);
  }
  for (const isolate of cluster.isolates) {
    assert.equal(await replay(isolate), "queue", `the old cookie, on ${isolate.name}`);
  }
  const again = await cluster.send(near[0].name, asked(shop, "POST", { cookie: copy }));
  assert.equal(again.status, 200, "to leave twice is no error");
  assert.equal(again.headers["set-cookie"], undefined);
});

const AGGREGATOR = { className: "DataCenterAggregator" };
const heard = "the data center has heard of the end before the visitor has";
clusterTest(heard, options, async (cluster) => {
  const { one } = await fullRoom(cluster, shop);
  await cluster.advance(SYNC_MS);
  const before = await cluster.calls(AGGREGATOR.className, shop);
  await cluster.breakCalls({ ...AGGREGATOR, delayMs: 400 });
  const asked = cluster.clock.now();
  assert.equal((await leave(one, shop)).status, 200);
  assert.ok(cluster.clock.now() - asked >= 400, "the answer did not wait");
  assert.ok((await cluster.calls(AGGREGATOR.className, shop)) > before);
});

clusterTest("a silent data center keeps nobody from leaving", options, async (cluster) => {
  const { one, next } = await fullRoom(cluster, shop);
  await cluster.breakCalls({ ...AGGREGATOR, delayMs: 60_000 });
  const answer = await leave(one, shop);
  assert.equal(answer.status, 200);
  assert.match(answer.headers["set-cookie"][0], /Max-Age=0/);
  await cluster.breakCalls();
  await cluster.advance(SOON_MS);
  await untilInside(cluster, next, SOON_MS);
});

clusterTest("another site, and no site at all, make nobody leave", options, async (cluster) => {
  const { one } = await fullRoom(cluster, shop);
  const before = one.cookies;
  const others = ["https://other.example", "null", `http://${shop.host}.example`, undefined];
  for (const origin of others) {
    const headers = { ...(origin && { origin }), cookie: before };
    const request = { host: shop.host, path: PATH, method: "POST", headers };
    const { status, headers: answered } = await cluster.send("ams-1", request);
    assert.deepEqual([status, answered["set-cookie"]], [403, undefined], origin);
    assert.equal(answered["access-control-allow-origin"], undefined);
  }
  const got = await cluster.send("ams-1", asked(shop, "GET", { cookie: before }));
  assert.equal(JSON.parse(got.body).inside, true, "GET ends nothing");
  await one.visit();
  assert.ok(one.inside);
});

clusterTestBothWays("answers with a cookie tell of the session", options, async (cluster) => {
  const told = async (visitor) => (await visitor.visit()).headers["waiting-room-session"];
  const [one, other] = [shop, plain].map(({ host }) => new Visitor(cluster, { name: host, host }));
  assert.match(await told(one), /^3\d\d;renews$/, "who enters");
  assert.equal(await told(one), undefined, "a page that sets no cookie may be in a cache");
  await cluster.advance(SOON_MS);
  const answer = await one.visit();
  assert.match(answer.headers["waiting-room-session"], /^3\d\d;renews$/, "who is renewed");
  assert.equal(answer.headers["cache-control"], "private, no-store");
  assert.equal(await told(other), undefined, "a room without the endpoint");
  assert.ok(other.inside);
  const waits = new Visitor(cluster, { name: "waits", host: shop.host });
  assert.equal(await told(waits), undefined, "who waits");
  assert.ok(waits.waiting);
});

clusterTestBothWays("to ask renews nothing and calls no object", options, async (cluster) => {
  const { one } = await fullRoom(cluster, tickets);
  await cluster.advance(SOON_MS);
  const path = `/tickets${PATH}`;
  const left = async () => {
    const request = { ...asked(tickets, "GET", { cookie: one.cookies }), path };
    const answer = await cluster.send("ams-1", request);
    assert.equal(answer.headers["set-cookie"], undefined);
    return JSON.parse(answer.body);
  };
  const first = await left();
  assert.ok(first.inside && first.renews && first.secondsLeft > 0);
  const [calls, arrivals] = [await cluster.allCalls(), (await cluster.arrivals()).length];
  for (let at = 0; at < 5; at += 1) await left();
  assert.equal(await cluster.allCalls(), calls);
  assert.equal((await cluster.arrivals()).length, arrivals);
  await cluster.advance(MINUTE_MS);
  const later = await left();
  const passed = first.secondsLeft - later.secondsLeft;
  assert.ok(passed >= 60 && passed <= 70, `${passed} s passed`);
  // A visit renews.
  await one.visit();
  assert.ok((await left()).secondsLeft > first.secondsLeft - 10);
  await cluster.advance(6 * MINUTE_MS, 5_000);
  assert.deepEqual(await left(), { inside: false, renews: false, secondsLeft: 0 });
});

const nobody = "a stranger with the cookie ends nothing, nor does a room without";
clusterTest(nobody, options, async (cluster) => {
  const guest = new Visitor(cluster, { name: "guest", host: own.host });
  const mine = { "cf-connecting-ip": "192.0.2.1", "user-agent": "Mozilla/5.0 Firefox/140.0" };
  await guest.visit({ headers: mine });
  assert.ok(guest.inside);
  const theirs = { "cf-connecting-ip": "203.0.113.9", "user-agent": "curl/8" };
  const stolen = asked(own, "POST", { ...theirs, cookie: guest.cookies });
  const { status, headers } = await cluster.send("ams-1", stolen);
  assert.deepEqual([status, headers["set-cookie"]], [200, undefined]);
  await guest.visit({ headers: mine });
  assert.ok(guest.inside, "the visitor is inside as before");

  const other = new Visitor(cluster, { name: "other", host: plain.host });
  await other.visit();
  await other.visit(asked(plain, "POST"));
  const [last] = (await cluster.arrivals()).slice(-1);
  assert.deepEqual([last.method, last.path], ["POST", PATH], "the site's own, where it is off");
  await other.visit();
  assert.ok(other.inside);
});

/** A room whose only place one visitor has; the next waits. */
async function fullRoom(cluster, { host, path }) {
  const [one, next] = ["one", "next"].map(
    (name) => new Visitor(cluster, { name, host, path, colo: "AMS" }),
  );
  await one.visit();
  assert.ok(one.inside);
  await cluster.advance(MINUTE_MS);
  // A newcomer counts for the session from the first visit with the cookie on.
  await one.visit();
  await next.visit();
  assert.ok(next.waiting);
  return { one, next };
}

/** A request for the session as a page of the site sends it. */
function asked({ host }, method, headers = {}) {
  return { host, path: PATH, method, headers: { origin: `http://${host}`, ...headers } };
}

function leave(visitor, { host }) {
  return visitor.visit(asked({ host }, "POST"));
}
