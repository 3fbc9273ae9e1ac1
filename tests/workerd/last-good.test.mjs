/**
 * A deployment that would be refused takes no site down: isolates and objects go on with the last
 * one that could be used, and say so. Secrets are never kept, so a wrong one still holds everybody.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { OWNER, ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ZONE, room } from "../harness/rooms.mjs";
import { look, visitorInside } from "../harness/visitor.mjs";

const HEALTH = "/_waiting-room/health";
const REASON = "rooms.json: /0/total_active_users: ";
const LOGGED = `the configuration cannot be used: ${REASON}`;
const SERVED = "; the last good one counts";
const shop = room({ name: "shop", description: "\u{1F39F} für dich".repeat(10) });
const REFUSED = { rooms: [{ ...shop, total_active_users: 0 }] };
const HUB_SILENT = { className: "Registry", fail: "before" };
/** As long may an isolate go by a copy before it asks the registry. */
const ASKS_WITHIN_MS = 5_000;
/** Longer than a refused isolate waits until it looks again. */
const LOOKS_AGAIN_MS = 5_500;
const vars = { ADMIN_HOSTS: "localhost,admin.example", CF_VERSION_METADATA: { id: "first" } };
const options = { rooms: [shop], colos: { AMS: 2, NRT: 1 }, vars };
const next = (id, more = {}) => ({ vars: { ...vars, CF_VERSION_METADATA: { id }, ...more } });

clusterTest("a refused deployment goes on with the last good one", options, async (cluster) => {
  const guest = await visitorInside(cluster, shop);
  await visitorInside(cluster, shop);
  await served(cluster);
  await cluster.restart({ ...REFUSED, ...next("second") });
  for (let times = 0; times < 3; times += 1) {
    for (const { name } of cluster.isolates) {
      const { status, reason } = await health(cluster, name);
      assert.equal(status, "last_good");
      assert.ok(reason.startsWith(REASON), reason);
      assert.equal((await look(cluster, name, { host: shop.host })).kind, "queue");
    }
  }
  await guest.visit();
  assert.ok(guest.inside, "a ticket from before is good");
  // Each isolate says it once, and the one with the objects.
  assert.equal(cluster.log.count(LOGGED), cluster.isolates.length + 1);
  assert.equal(cluster.log.count(SERVED), cluster.isolates.length + 1);
  const doctor = await asked(cluster, "ams-1", "/_waiting-room/client/v4/waiting_rooms/doctor");
  assert.ok(doctor.result.known.refusal.startsWith(REASON));

  // What the owner changes now counts.
  await call(cluster, "PATCH", `${ROOMS}/${shop.id}`, { suspended: true });
  await cluster.advance(5_000);
  assert.equal((await look(cluster, "ams-1", { host: "other.example" })).kind, "origin");
  await cluster.advance(5_000);
  assert.equal((await look(cluster, "ams-1", { host: shop.host })).kind, "origin");

  await cluster.restart({ rooms: [shop], ...next("third") });
  for (const { name } of cluster.isolates) {
    assert.deepEqual(await health(cluster, name), { status: "ok" });
  }
});

clusterTest("what counts is what was good last, not first", options, async (cluster) => {
  await served(cluster);
  const second = room({ name: "second" });
  await cluster.restart({ rooms: [shop, second], ...next("second", { ZONES: `${ZONE}=example` }) });
  await served(cluster);
  await cluster.restart({ ...REFUSED, ...next("third", { ZONES: "x", ORIGIN_URL: "shop" }) });
  for (const { name } of cluster.isolates) {
    for (const { host } of [shop, second]) {
      const { headers } = await look(cluster, name, { host });
      assert.ok(headers["set-cookie"]?.[0].startsWith("__cfwaitingroom"), host);
    }
    // It is outside of all zones, and ORIGIN_URL is that of before: none.
    assert.equal((await look(cluster, name, { host: "other.test" })).kind, "origin");
    const { status, reason } = await health(cluster, name);
    assert.equal(status, "last_good");
    for (const part of ["ZONES: ", "ORIGIN_URL: "]) assert.ok(reason.includes(part), reason);
  }
});

clusterTest("secrets are never kept, and a wrong one holds everybody", options, async (cluster) => {
  const ORIGIN_URL = "http://owner:hush@origin.example/path";
  await cluster.restart(next("second", { ORIGIN_URL, TURNSTILE_SECRET: "hush-hush" }));
  await served(cluster);
  await cluster.whileHalted((folder) => {
    const stored = storedIn(folder);
    assert.ok(stored.includes('"vars":{"ORIGIN_URL":"http://origin.example"}'));
    for (const secret of [...Object.values(SECRETS), "hush"]) assert.ok(!stored.includes(secret));
  });
  const wrong = { ...SECRETS, TICKET_KEYS: "abc" };
  await cluster.restart(next("third", wrong));
  assert.equal((await health(cluster, "ams-1", 503)).status, "unusable");
  const { kind, body } = await look(cluster, "ams-1", { host: shop.host });
  assert.deepEqual([kind, body.includes("This page updates automatically")], ["queue", true]);
  await cluster.restart({ ...REFUSED, ...next("fourth", wrong) });
  const { status, reason } = await health(cluster, "ams-1", 503);
  assert.equal(status, "unusable");
  for (const part of [REASON, "TICKET_KEYS: "]) assert.ok(reason.includes(part), reason);
});

const first = { ...options, ...REFUSED };
clusterTest("the first deployment has no last good one", first, async (cluster) => {
  for (let times = 0; times < 3; times += 1) {
    assert.equal((await health(cluster, "ams-1", 503)).status, "unusable");
    await cluster.advance(LOOKS_AGAIN_MS);
  }
  assert.equal(cluster.log.count(LOGGED), 1);
  assert.equal(cluster.log.count(SERVED), 0);
  await cluster.restart({ rooms: [shop] });
  assert.deepEqual(await health(cluster, "ams-1"), { status: "ok" });
});

clusterTest("one that is kept is not written again", options, async (cluster) => {
  await served(cluster);
  assert.ok((await cluster.door()).rows > 0);
  await cluster.restart();
  await served(cluster);
  assert.equal((await cluster.door()).rows, 0, "the same deployment");
  await cluster.restart(REFUSED);
  await served(cluster);
  assert.equal((await cluster.door()).rows, 0, "a refused one");
  // 1.5 MB stand in two rows, whatever characters are in them.
  const words = "\u{1F39F}".repeat(125_000);
  const large = { ...shop, custom_page_html: `{{waitTime}} ${words}`, queue_all: true };
  await cluster.restart({ rooms: [large] });
  assert.deepEqual(await health(cluster, "ams-1"), { status: "ok" });
  await served(cluster);
  await cluster.restart(REFUSED);
  assert.ok((await look(cluster, "ams-1", { host: shop.host })).body.includes(words));
  assert.equal((await health(cluster, "ams-1")).status, "last_good");
});

clusterTest("while the registry is silent the copy counts", options, async (cluster) => {
  await served(cluster);
  await cluster.restart({ ...REFUSED, ...next("second") });
  assert.equal((await health(cluster, "ams-1")).status, "last_good");
  assert.equal((await cluster.door()).asks, 1);
  // Another isolate reads what the first one has copied.
  assert.equal((await health(cluster, "ams-2")).status, "last_good");
  assert.equal((await cluster.door()).asks, 1);

  await cluster.restart({}, "lost");
  await cluster.breakCalls(HUB_SILENT);
  for (let times = 0; times < 5; times += 1) {
    assert.equal((await health(cluster, "ams-1", 503)).status, "unusable");
  }
  assert.equal((await cluster.door()).asks, 1, "not asked at every request");
  await cluster.breakCalls();
  await cluster.advance(LOOKS_AGAIN_MS);
  assert.equal((await health(cluster, "ams-1")).status, "last_good");
  // A copy is that of one version: the next asks for itself.
  await cluster.restart(next("third"));
  assert.equal((await health(cluster, "ams-1")).status, "last_good");
  assert.equal((await cluster.door()).asks, 1);
});

const beside = { ...options, overrides: { "ams-2": { ...REFUSED, ...next("second") } } };
clusterTest("old and refused isolates serve beside each other", beside, async (cluster) => {
  const guest = await visitorInside(cluster, shop);
  await served(cluster);
  assert.equal((await health(cluster, "ams-2")).status, "last_good");
  assert.deepEqual(await health(cluster, "ams-1"), { status: "ok" });
  for (const isolate of ["ams-1", "ams-2"]) {
    await guest.visit({ isolate });
    assert.ok(guest.inside, isolate);
  }
});

const debug = { ...options, colos: { AMS: 1 }, build: "debug" };
clusterTest("a rebuilt instance goes on with it", debug, async (cluster) => {
  await served(cluster);
  await cluster.restart({ ...REFUSED, ...next("second") });
  assert.equal((await health(cluster, "ams-1")).status, "last_good");
  await cluster.send("ams-1", { host: shop.host, path: "/__glance/panic" });
  assert.equal((await health(cluster, "ams-1")).status, "last_good");
  assert.equal(cluster.log.count(LOGGED), 1);
});

/** Visits an isolate until it asks the registry, which then keeps the deployment. */
async function served(cluster) {
  for (let passed = 0; passed < ASKS_WITHIN_MS; passed += 1_000) {
    await look(cluster, "ams-1", { host: "other.example" });
    await cluster.advance(1_000);
  }
  assert.ok((await cluster.calls("Registry")) > 0);
}

async function health(cluster, isolate, status = 200) {
  const answer = await cluster.send(isolate, { host: "admin.example", path: HEALTH });
  assert.equal(answer.status, status, answer.body);
  return JSON.parse(answer.body);
}

async function asked(cluster, isolate, where) {
  const request = { host: "admin.example", path: where, headers: OWNER };
  const answer = await cluster.send(isolate, request);
  return JSON.parse(answer.body);
}

/** All that the objects have stored, as far as it is text. */
function storedIn(folder) {
  const files = fs.readdirSync(folder, { recursive: true }).map((file) => path.join(folder, file));
  const stored = files.filter((file) => /\.sqlite(-wal)?$/.test(file));
  return stored.map((file) => fs.readFileSync(file, "latin1")).join("");
}
