/**
 * Bypass rules decide visits: who matches one reaches the origin under any load, gets no cookie, is
 * not counted and calls no object. Whoever matches none waits as ever.
 */

import assert from "node:assert/strict";

import { ROOMS, call, refused } from "../harness/api.mjs";
import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { look, visitorInside } from "../harness/visitor.mjs";

/** A change counts everywhere after this time. */
const CHANGE_MS = 5_000;
/** Requests of each kind: enough that a count of one of them shows. */
const VISITS = 5;

const TICKET_PATH = 'ends_with(http.request.uri.path, "/userverified")';
const PARTNER_HEADER = 'any(http.request.headers["x-partner"][*] eq "yes")';
const OFFICE = "ip.src in {203.0.113.0/24}";
const COUNTRY = 'ip.src.country in {"NZ" "AU"} and cf.tls_version eq "TLSv1.3"';
const DRAFT = 'starts_with(http.request.uri.path, "/draft")';

let drawn = 0;
/** A rule as `rooms.json` has it. */
function rule(expression, fields = {}) {
  drawn += 1;
  const id = String(drawn).padStart(32, "0");
  return { id, action: "bypass_waiting_room", expression, ...fields };
}

const rules = () => [
  rule(DRAFT, { enabled: false }),
  rule(TICKET_PATH),
  rule(PARTNER_HEADER),
  rule(OFFICE),
  rule(COUNTRY),
];

const NEAR = { colo: "AMS", country: "NZ", tlsVersion: "TLSv1.3" };
/** Requests that match a rule, each in its own way. */
const MATCHING = [
  { path: "/concert/userverified?id=7" },
  { path: "/buy", method: "POST", body: "x", headers: { "x-partner": "yes" } },
  { path: "/", headers: { "cf-connecting-ip": "203.0.113.9" } },
  { path: "/", headers: { "mf-cf-blob": JSON.stringify(NEAR) } },
  // A preflight is told from the rest later than a rule is asked.
  { path: "/userverified", method: "OPTIONS" },
  { path: "/userverified", headers: { "sec-purpose": "prefetch" } },
];
/** Requests that match none, but nearly. */
const OTHERS = [
  { path: "/userverified/" },
  { path: "/draft" },
  { path: "/", headers: { "x-partner": "no" } },
  { path: "/", headers: { "cf-connecting-ip": "198.51.100.9" } },
  { path: "/", headers: { "mf-cf-blob": JSON.stringify({ ...NEAR, country: "DE" }) } },
];

const tiny = room({ name: "tiny", total_active_users: 1, bypass_rules: rules() });
/** One of the rules asks for the version of TLS. */
const cloudflareAlone = "rules on what only Cloudflare tells of a connection";
const full = { rooms: [tiny], colos: { AMS: 1 }, cloudflareAlone };
const closed = room({ name: "closed", queue_all: true, bypass_rules: rules() });
const queueAll = { rooms: [closed], colos: { AMS: 1 }, cloudflareAlone };

clusterTestBothWays("a rule lets requests pass a full room", full, async (cluster) => {
  await visitorInside(cluster, tiny);
  await checkRules(cluster, tiny);
});

clusterTestBothWays("a rule lets requests pass under queue-all", queueAll, async (cluster) => {
  assert.equal((await visit(cluster, closed, { path: "/" })).kind, "queue");
  await checkRules(cluster, closed);
});

/** Every matching request passes untouched, and every other one waits. */
async function checkRules(cluster, { host, id }) {
  const before = await cluster.allCalls({ id });
  const began = cluster.clock.now();
  for (const request of MATCHING) {
    for (let count = 0; count < VISITS; count += 1) {
      const answer = await visit(cluster, { host }, request);
      assert.equal(answer.kind, "origin", `${JSON.stringify(request)}: ${answer.status}`);
      assert.equal(answer.headers["set-cookie"], undefined);
    }
  }
  // Reports of those who are counted go on meanwhile: one for each second at most, and one begun.
  const passed = (cluster.clock.now() - began) / 1_000;
  const calls = (await cluster.allCalls({ id })) - before;
  assert.ok(calls < MATCHING.length, `${calls} calls in ${passed} s`);
  for (const request of OTHERS) {
    const { kind } = await visit(cluster, { host }, request);
    assert.equal(kind, "queue", JSON.stringify(request));
  }
}

/** One request of somebody without cookies. */
function visit(cluster, { host }, request) {
  return look(cluster, "ams-1", { host, headers: {}, ...request });
}

const open = room({ name: "open", total_active_users: 3, bypass_rules: rules() });
const counting = { rooms: [open], colos: { AMS: 1 } };

clusterTest("who skips a room is not counted and keeps every cookie", counting, async (cluster) => {
  const inside = await visitorInside(cluster, open);
  const { cookies } = inside;
  const skipping = await inside.visit({ path: "/userverified" });
  assert.deepEqual([skipping.kind, skipping.headers["set-cookie"]], ["origin", undefined]);
  assert.equal(inside.cookies, cookies);
  // Even a cookie that no room would take is passed on as it is.
  const headers = { cookie: "other=1; __cfwaitingroom=none" };
  const seen = JSON.parse((await visit(cluster, open, { path: "/userverified", headers })).body);
  assert.equal(seen.cookie, headers.cookie);
  for (let count = 0; count < 10; count += 1) {
    assert.equal((await visit(cluster, open, { path: "/userverified" })).kind, "origin");
  }
  await cluster.advance(6_000);
  const { result } = await call(cluster, "GET", `${ROOMS}/${open.id}/status`);
  assert.equal(result.estimated_total_active_users, 1);
});

clusterTest("no object and no silence of one matters to a rule", queueAll, async (cluster) => {
  assert.equal((await visit(cluster, closed, { path: "/" })).kind, "queue");
  await cluster.breakCalls(
    { className: "GlobalAggregator", fail: "before" },
    { className: "DataCenterAggregator", fail: "before" },
    { className: "DataCenterCounter", fail: "before" },
  );
  for (const request of MATCHING) {
    assert.equal((await visit(cluster, closed, request)).kind, "origin");
  }
});

const two = { rooms: [room({ name: "shop", queue_all: true })], colos: { AMS: 1, FRA: 1 } };

clusterTest("a change of the rules counts everywhere within 5 s", two, async (cluster) => {
  const [shop] = two.rooms;
  const path = `${ROOMS}/${shop.id}/rules`;
  const kinds = async (request) => {
    const seen = [];
    for (const { name } of cluster.isolates) {
      seen.push((await look(cluster, name, { host: shop.host, headers: {}, ...request })).kind);
    }
    return seen;
  };
  const everywhere = async (kind, request) => {
    // Isolates look after a reply: with one a second each has looked in time.
    for (let left = CHANGE_MS; left > 0; left -= 1_000) {
      await cluster.advance(1_000);
      await kinds({ path: "/" });
    }
    assert.deepEqual(await kinds(request), [kind, kind]);
  };
  const partner = { path: "/a", headers: { "x-partner": "yes" } };
  const verified = { path: "/a/userverified" };
  assert.deepEqual(await kinds(verified), ["queue", "queue"]);
  const made = await call(cluster, "POST", path, {
    action: "bypass_waiting_room",
    expression: TICKET_PATH,
  });
  await everywhere("origin", verified);
  assert.deepEqual(await kinds(partner), ["queue", "queue"]);
  const [{ id }] = made.result;
  await call(cluster, "PATCH", `${path}/${id}`, {
    action: "bypass_waiting_room",
    expression: PARTNER_HEADER,
  });
  await everywhere("origin", partner);
  assert.deepEqual(await kinds(verified), ["queue", "queue"]);
  await call(cluster, "PATCH", `${path}/${id}`, {
    action: "bypass_waiting_room",
    expression: PARTNER_HEADER,
    enabled: false,
  });
  await everywhere("queue", partner);
});

clusterTest("a rule heeds what is in a named list", two, async (cluster) => {
  const [shop] = two.rooms;
  const lists = "accounts/any/rules/lists";
  const rule = { action: "bypass_waiting_room", expression: "ip.src in $office" };
  const { errors } = await refused(cluster, 400, "POST", `${ROOMS}/${shop.id}/rules`, rule);
  assert.equal(errors[0].source.pointer, "/expression");
  const { id } = (await call(cluster, "POST", lists, { kind: "ip", name: "office" })).result;
  await call(cluster, "POST", `${ROOMS}/${shop.id}/rules`, rule);
  const colleague = { path: "/", headers: { "cf-connecting-ip": "203.0.113.9" } };
  const seen = async () => {
    await cluster.advance(CHANGE_MS);
    await visit(cluster, shop, { path: "/" });
    await cluster.advance(1_000);
    return (await visit(cluster, shop, colleague)).kind;
  };
  assert.equal(await seen(), "queue");
  const items = `${lists}/${id}/items`;
  await call(cluster, "POST", items, [{ ip: "203.0.113.0/24", comment: "us" }]);
  assert.equal(await seen(), "origin");
  const [{ id: item }] = (await call(cluster, "GET", items)).result;
  await call(cluster, "DELETE", items, { items: [{ id: item }] });
  assert.equal(await seen(), "queue");
  await refused(cluster, 400, "DELETE", `${lists}/${id}`);
});

clusterTest(
  "verified crawlers of search engines skip rooms if the zone wants it",
  { ...two, cloudflareAlone },
  crawlers,
);

async function crawlers(cluster) {
  const [shop] = two.rooms;
  const as = (cf) => ({ path: "/", headers: { "mf-cf-blob": JSON.stringify(cf) } });
  const verified = as({ colo: "AMS", verifiedBotCategory: "Search Engine Crawler" });
  assert.equal((await visit(cluster, shop, verified)).kind, "queue");
  await call(cluster, "PATCH", `${ROOMS}/settings`, { search_engine_crawler_bypass: true });
  await cluster.advance(CHANGE_MS);
  await visit(cluster, shop, { path: "/" });
  await cluster.advance(1_000);
  const crawler = await visit(cluster, shop, verified);
  assert.deepEqual([crawler.kind, crawler.headers["set-cookie"]], ["origin", undefined]);
  // Without the platform's word nobody is a crawler, whatever the client says.
  const claimed = { path: "/", headers: { "user-agent": "Googlebot/2.1" } };
  assert.equal((await visit(cluster, shop, claimed)).kind, "queue");
  const other = as({ colo: "AMS", verifiedBotCategory: "AI Crawler" });
  assert.equal((await visit(cluster, shop, other)).kind, "queue");
}
