/**
 * The origin ends a session with a header of its answer: the place is free at once, the ticket and
 * every copy of it are void, and nobody but the origin can order that.
 */

import assert from "node:assert/strict";

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, look, untilInside } from "../harness/visitor.mjs";

const limits = { total_active_users: 1, session_duration: 5 };
const heeding = { ...limits, enabled_origin_commands: ["revoke"] };
const shop = room({ name: "shop", ...heeding });
const plain = room({ name: "plain", ...limits });
const bypass_rules = [
  {
    id: "1".repeat(32),
    action: "bypass_waiting_room",
    expression: 'http.request.uri.path eq "/logout"',
  },
];
const ruled = room({ name: "ruled", ...heeding, bypass_rules });
const options = { rooms: [shop, plain, ruled], colos: { AMS: 2, NRT: 2 } };
/** Reports, syncs and one refresh of whoever is first in the line: far less than the session. */
const SOON_MS = 20_000;
/** A minute after an admission the rate allows the next. */
const MINUTE_MS = 61_000;
const LOGOUT = "/logout?command=revoke";

clusterTestBothWays("a session that the origin ends frees its place", options, async (cluster) => {
  const [one, next] = ["one", "next"].map(
    (name) => new Visitor(cluster, { name, host: shop.host, colo: "AMS" }),
  );
  await one.visit();
  assert.ok(one.inside);
  const copy = one.cookies;
  await cluster.advance(MINUTE_MS);
  await next.visit();
  assert.ok(next.waiting);

  const answer = await one.visit({ path: LOGOUT });
  assert.equal(answer.kind, "origin", "the answer itself is for the visitor");
  assert.equal(answer.headers["cf-waiting-room-command"], undefined);
  const [removed, ...others] = answer.headers["set-cookie"];
  assert.match(removed, /^__cfwaitingroom=; .*Max-Age=0/);
  assert.deepEqual(others, []);
  assert.equal(answer.headers["cache-control"], "private, no-store");

  await untilInside(cluster, next, SOON_MS);
  const useCopy = async ({ name }) => {
    const headers = { cookie: copy };
    return (await look(cluster, name, { host: shop.host, path: "/", headers })).kind;
  };
  const near = cluster.isolates.filter(({ colo }) => colo === "AMS");
  for (const isolate of near) assert.equal(await useCopy(isolate), "queue", isolate.name);
  // Where nobody was before, an isolate hears of it with its first report.
  for (const isolate of cluster.isolates) await useCopy(isolate);
  await cluster.advance(SOON_MS);
  for (const isolate of cluster.isolates) {
    assert.equal(await useCopy(isolate), "queue", `a copy of the ticket, on ${isolate.name}`);
  }
});

const bypassed = "a bypassed request ends the session of the visitor whose cookie it carries";
clusterTest(bypassed, options, async (cluster) => {
  const [stranger, one, next] = ["stranger", "one", "next"].map(
    (name) => new Visitor(cluster, { name, host: ruled.host }),
  );
  const nobody = await stranger.visit({ path: LOGOUT });
  assert.equal(nobody.kind, "origin");
  assert.equal(nobody.headers["cf-waiting-room-command"], undefined);
  assert.equal(nobody.headers["set-cookie"], undefined);
  await one.visit();
  assert.ok(one.inside);
  const plainly = await one.visit({ path: "/logout" });
  assert.equal(plainly.headers["set-cookie"], undefined, "a bypassed request renews nothing");
  await cluster.advance(MINUTE_MS);
  await next.visit();
  assert.ok(next.waiting);
  const { kind, headers } = await one.visit({ path: LOGOUT });
  assert.equal(kind, "origin");
  assert.equal(headers["cf-waiting-room-command"], undefined);
  assert.match(headers["set-cookie"][0], /^__cfwaitingroom=; .*Max-Age=0/);
  await untilInside(cluster, next, SOON_MS);
});

const heard = "the data center has heard of an end before the visitor has the answer";
clusterTest(heard, options, async (cluster) => {
  const one = new Visitor(cluster, { name: "one", host: shop.host });
  await one.visit();
  await cluster.advance(SOON_MS);
  await cluster.breakCalls({ className: "DataCenterAggregator", delayMs: 400 });
  const asked = cluster.clock.now();
  assert.equal((await one.visit({ path: LOGOUT })).kind, "origin");
  assert.ok(cluster.clock.now() - asked >= 400, "the answer did not wait");
  const seen = cluster.clock.now();
  await cluster.breakCalls({ className: "DataCenterAggregator", delayMs: 60_000 });
  const other = new Visitor(cluster, { name: "other", host: plain.host });
  await other.visit({ path: LOGOUT });
  assert.ok(cluster.clock.now() - seen < 60_000, "a silent object holds up no answer");
});

const atOnce = "whoever enters with the answer that revokes gets no ticket";
clusterTest(atOnce, options, async (cluster) => {
  const guest = new Visitor(cluster, { name: "guest", host: shop.host });
  const { kind, headers } = await guest.visit({ path: LOGOUT });
  assert.equal(kind, "origin");
  assert.equal(headers["set-cookie"].length, 1);
  assert.match(headers["set-cookie"][0], /^__cfwaitingroom=; .*Max-Age=0/);
  await cluster.advance(MINUTE_MS);
  const next = new Visitor(cluster, { name: "next", host: shop.host });
  await next.visit();
  await untilInside(cluster, next, SOON_MS);
});

const forged = "nobody else can order it, and nothing else can be ordered";
clusterTest(forged, options, async (cluster) => {
  const command = { "cf-waiting-room-command": "revoke" };
  for (const [host, request] of [
    [shop.host, { headers: command }],
    [shop.host, { path: "/?command=admit" }],
    [plain.host, { path: LOGOUT }],
  ]) {
    const guest = new Visitor(cluster, { name: "guest", host });
    await guest.visit();
    assert.ok(guest.inside || host === shop.host, "the first in a room enters");
    const wasInside = guest.inside;
    const { headers } = await guest.visit(request);
    // A ticket may be renewed meanwhile; one that is revoked is taken away.
    const shown = `${host} ${JSON.stringify(request)} ${headers["set-cookie"]}`;
    assert.notEqual(guest.cookies, "", shown);
    assert.equal(guest.inside, wasInside, shown);
  }
});
