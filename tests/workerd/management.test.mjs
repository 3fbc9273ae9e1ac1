/**
 * The management API over HTTP, as an owner with curl uses it: rooms are made, read, listed,
 * changed and removed; what is wrong is said with the place of it; and nothing is lost.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, ask, call, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop" });
const READ_ONLY = "the-token-for-reading";
const options = { rooms: [shop], colos: { AMS: 1 }, vars: { API_TOKEN_READ: READ_ONLY } };
const SALE = {
  name: "sale",
  host: "sale.example",
  total_active_users: 10,
  new_users_per_minute: 5,
};

clusterTest("a room is made, read, listed, changed and removed", options, async (cluster) => {
  const made = (await call(cluster, "POST", ROOMS, SALE)).result;
  assert.match(made.id, /^[0-9a-f]{32}$/);
  const path = `${ROOMS}/${made.id}`;
  assert.deepEqual((await call(cluster, "GET", path)).result, made);
  const list = await call(cluster, "GET", `${ROOMS}?per_page=5`);
  assert.deepEqual(list.result.map(({ name }) => name).sort(), ["sale", "shop"]);
  assert.deepEqual(list.result_info, {
    page: 1,
    per_page: 5,
    count: 2,
    total_count: 2,
    total_pages: 1,
  });
  const replaced = (await call(cluster, "PUT", path, { ...SALE, session_duration: 10 })).result;
  assert.equal(replaced.session_duration, 10);
  // Who names a version changes that one alone.
  const older = { ...OWNER, "if-match": '"older"' };
  const stale = await refused(cluster, 412, "PUT", path, { ...SALE, description: "lost" }, older);
  assert.equal(stale.errors[0].code, 1412);
  const mine = { ...OWNER, "if-match": (await ask(cluster, "GET", path)).headers.etag };
  const patched = (await call(cluster, "PATCH", path, { total_active_users: 20 }, mine)).result;
  assert.deepEqual([patched.total_active_users, patched.session_duration], [20, 10]);
  await refused(cluster, 412, "DELETE", path, undefined, mine);
  assert.deepEqual((await call(cluster, "GET", path)).result, patched);
  assert.equal((await call(cluster, "DELETE", path)).result.id, made.id);
  assert.equal((await refused(cluster, 404, "GET", path)).errors[0].code, 1001);
});

clusterTest("only who has a token is let in, and a reader only reads", options, async (cluster) => {
  const refusal = await refused(cluster, 403, "GET", ROOMS, undefined, {});
  assert.equal(refusal.errors[0].code, 10_000);
  const wrong = { authorization: "Bearer guessed" };
  await refused(cluster, 403, "GET", "no/such/path", undefined, wrong);
  await refused(cluster, 403, "POST", ROOMS, SALE, wrong);
  const reader = { authorization: `Bearer ${READ_ONLY}` };
  await call(cluster, "GET", ROOMS, undefined, reader);
  assert.equal((await refused(cluster, 403, "POST", ROOMS, SALE, reader)).errors[0].code, 9109);
  const rights = async (headers) =>
    (await call(cluster, "GET", "user/tokens/verify", undefined, headers)).result.may_write;
  assert.deepEqual([await rights(OWNER), await rights(reader)], [true, false]);
  // These are sent by POST and change nothing.
  await call(cluster, "POST", `${ROOMS}/preview`, { custom_html: "" }, reader);
  const request = { url: `https://${shop.host}/` };
  await call(cluster, "POST", `${ROOMS}/${shop.id}/rules/test`, request, reader);
  await refused(cluster, 403, "POST", `${ROOMS}/preview`, { custom_html: "" }, {});
  const byKey = { "x-auth-email": "me@shop.example", "x-auth-key": READ_ONLY };
  await call(cluster, "GET", ROOMS, undefined, byKey);
  for (let guess = 0; guess < 20; guess += 1) await ask(cluster, "GET", ROOMS, undefined, wrong);
  await refused(cluster, 429, "GET", ROOMS, undefined, wrong);
  await call(cluster, "GET", ROOMS, undefined, reader);
});

const verifies = "a named token is told what it may, as at Cloudflare and more";
clusterTest(verifies, options, async (cluster) => {
  const expires_on = new Date(cluster.clock.now() + 86_400_000).toISOString();
  const fields = { name: "Anna", role: "steer", rooms: [shop.id], expires_on };
  const { value, ...made } = (await call(cluster, "POST", "user/tokens", fields)).result;
  const anna = { authorization: `Bearer ${value}` };
  const verified = (await call(cluster, "GET", "user/tokens/verify", undefined, anna)).result;
  const { id, status, not_before, expires_on: until, ...ours } = verified;
  assert.deepEqual([id, status, not_before, until], [made.id, "active", null, expires_on]);
  const { name, role, zones, rooms, may_write: mayWrite } = ours;
  assert.deepEqual([name, role, zones, rooms, mayWrite], ["Anna", "steer", [], [shop.id], true]);
  const path = `user/tokens/${id}`;
  assert.deepEqual((await call(cluster, "GET", path)).result, made);
  const put = (await call(cluster, "PUT", path, { ...made, name: "Anna B." })).result;
  assert.deepEqual([put.name, put.role, put.expires_on], ["Anna B.", "steer", expires_on]);
  for (const more of [{ policies: [] }, { status: "disabled" }]) {
    await refused(cluster, 400, "PUT", path, { ...made, ...more });
  }
  const listed = await call(cluster, "GET", "user/tokens?per_page=5");
  assert.deepEqual([listed.result, listed.result_info.total_count], [[put], 1]);
  assert.deepEqual((await call(cluster, "DELETE", path)).result, { id });
  await refused(cluster, 403, "GET", "user/tokens/verify", undefined, anna);
});

const noToken = { ...options, vars: { API_TOKEN: "" } };
clusterTest("without a configured token nobody is let in", noToken, async (cluster) => {
  for (const authorization of ["", "Bearer ", OWNER.authorization]) {
    await refused(cluster, 403, "GET", ROOMS, undefined, { authorization });
  }
});

clusterTest("what is wrong is said, all at once and where", options, async (cluster) => {
  const wrong = { ...SALE, host: "sale example", total_active_users: 0, nmae: "sale" };
  const { errors } = await refused(cluster, 400, "POST", ROOMS, wrong);
  const pointers = errors.map(({ source }) => source.pointer).sort();
  assert.deepEqual(pointers, ["/host", "/nmae", "/total_active_users"]);
  await refused(cluster, 400, "POST", ROOMS, "no JSON");
  await refused(cluster, 404, "GET", `zones/none/waiting_rooms`);
  await refused(cluster, 404, "GET", "no/such/path");
  const { status, headers } = await ask(cluster, "PUT", ROOMS);
  assert.deepEqual([status, headers.allow], [405, "GET, POST, DELETE"]);
  const rule = { action: "bypass_waiting_room", expression: "ssl and" };
  const misspelt = await refused(cluster, 400, "POST", `${ROOMS}/${shop.id}/rules`, rule);
  assert.equal(misspelt.errors[0].source.pointer, "/expression");
  assert.match(misspelt.errors[0].message, /column 8/);
  const long = "x".repeat(5 * 1024 * 1024);
  assert.equal((await refused(cluster, 413, "POST", ROOMS, long)).errors[0].code, 1413);
  assert.equal((await call(cluster, "GET", ROOMS)).result.length, 1);
});

clusterTest("what was stored outlives the object and the Worker", options, async (cluster) => {
  const path = `${ROOMS}/${shop.id}`;
  await call(cluster, "PATCH", path, { total_active_users: 7 });
  const { id } = (await call(cluster, "POST", ROOMS, SALE)).result;
  const before = await call(cluster, "GET", ROOMS);
  await cluster.killObjects("Registry");
  assert.deepEqual(await call(cluster, "GET", ROOMS), before);
  await call(cluster, "DELETE", `${ROOMS}/${id}`);
  // A deploy with another rooms.json: it counts no more since the registry was changed.
  await cluster.restart({ rooms: [room({ name: "other" })] });
  const rooms = (await call(cluster, "GET", ROOMS)).result;
  assert.deepEqual(rooms.map(({ name, total_active_users: most }) => [name, most]), [["shop", 7]]);
  const log = await call(cluster, "GET", "waiting_rooms/audit_log");
  assert.equal(log.result_info.total_count, 3);
});

clusterTest("50 changes at once lose nothing", options, async (cluster) => {
  const path = `${ROOMS}/${shop.id}`;
  const changes = Array.from({ length: 50 }, (_, at) => ({ description: `change ${at}` }));
  await Promise.all(changes.map((change) => call(cluster, "PATCH", path, change)));
  const log = await call(cluster, "GET", "waiting_rooms/audit_log?per_page=100");
  assert.equal(log.result_info.total_count, 50);
  const versions = log.result.map(({ version }) => version);
  assert.deepEqual(versions, Array.from({ length: 50 }, (_, at) => 50 - at));
});

clusterTest("a room made a moment ago has a status", options, async (cluster) => {
  for (let round = 0; round < 5; round += 1) {
    // The object's isolate has just heard of the rooms, so it would not look for 2 s.
    await call(cluster, "GET", `${ROOMS}/${shop.id}/status`);
    const { id } = (await call(cluster, "POST", ROOMS, { ...SALE, name: `sale-${round}` })).result;
    const { result } = await call(cluster, "GET", `${ROOMS}/${id}/status`);
    assert.equal(result.status, "not_queueing");
    await call(cluster, "DELETE", `${ROOMS}/${id}`);
    await cluster.advance(1_000);
  }
});

clusterTest("a zone that always uses HTTPS gets cookies for frames", options, async (cluster) => {
  const enter = async () => {
    const { headers } = await cluster.send("ams-1", { host: shop.host });
    return headers["set-cookie"][0];
  };
  assert.match(await enter(), /; SameSite=Lax(?!.*Secure)/);
  await call(cluster, "PATCH", `${ROOMS}/settings`, { always_use_https: true });
  await cluster.advance(2_000);
  await enter();
  await cluster.advance(3_000);
  assert.match(await enter(), /; SameSite=None/);
  assert.match(await enter(), /; Secure/);
});

clusterTest("status, settings, preview and the file of all rooms", options, async (cluster) => {
  const { result } = await call(cluster, "GET", `${ROOMS}/${shop.id}/status`);
  assert.equal(result.status, "not_queueing");
  const settings = { search_engine_crawler_bypass: true };
  await call(cluster, "PATCH", `${ROOMS}/settings`, settings);
  const kept = (await call(cluster, "GET", `${ROOMS}/settings`)).result;
  assert.equal(kept.search_engine_crawler_bypass, true);
  const page = { custom_html: "<p>{{#waitTimeKnown}} {{waitTime}} minutes {{/waitTimeKnown}}</p>" };
  const { preview_url: url } = (await call(cluster, "POST", `${ROOMS}/preview`, page)).result;
  const { pathname } = new URL(url);
  const shown = await cluster.send("ams-1", { host: "localhost", path: `${pathname}?waitTime=7` });
  assert.deepEqual([shown.status, shown.body], [200, "<p> 7 minutes </p>"]);
  assert.match(shown.headers["content-security-policy"], /^sandbox/);
  // The page checks in as of a foreign origin: the browser asks whether it may.
  const asked = { host: "localhost", path: pathname, method: "OPTIONS" };
  const { status: may, headers: allowed } = await cluster.send("ams-1", asked);
  assert.deepEqual([may, shown.headers["access-control-allow-origin"]], [204, "*"]);
  assert.equal(allowed["access-control-allow-headers"], "waiting-room-check-in");
  for (const id of ["f".repeat(32), "none"]) {
    const path = `/_waiting-room/preview/${id}`;
    assert.equal((await cluster.send("ams-1", { host: "localhost", path })).status, 404);
  }
  const file = (await call(cluster, "GET", "waiting_rooms/file")).result;
  const { changed } = (await call(cluster, "PUT", "waiting_rooms/file", file)).result;
  assert.equal(changed, 0);
});
