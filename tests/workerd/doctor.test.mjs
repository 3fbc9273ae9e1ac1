/**
 * The doctor asks the built Worker, with several isolates and data centers, and sees what is wrong:
 * a cache that hangs or is not there, a slow object, code of another version, public keys. It
 * disturbs nobody.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";

import { clusterTest } from "../harness/cluster-test.mjs";
import { examine, lineAbout } from "../harness/doctor.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const shop = room({ name: "shop", total_active_users: 2 });
const colos = { AMS: 2, NRT: 1 };
const vars = { TICKET_KEYS: randomBytes(32).toString("hex") };
const options = { rooms: [shop], colos, vars };
const ADMIN = "admin.example";
const turnstile = { TURNSTILE_SITE_KEY: "0x4AAA", TURNSTILE_SECRET: "the-secret-of-the-widget" };
const deployed = {
  ...vars,
  ...turnstile,
  ADMIN_HOSTS: ADMIN,
  ZONES: `${shop.zone_id}=example`,
};
const PUBLIC_KEY = "3f1c5ad2e07b84969d2e41f80a6bc7135e9804d7b21fa36c58ed907142cb6fa8";
const OBJECTS = ["DataCenterCounter", "DataCenterAggregator", "GlobalAggregator"];

/** Lets a visitor enter in each isolate's data center, so that there are objects to look at. */
async function open(cluster) {
  for (const { name } of cluster.isolates) await cluster.send(name, { host: shop.host });
  await cluster.advance(5_000);
}

clusterTest("isolates, data centers, caches and objects are told", options, async (cluster) => {
  await open(cluster);
  const { lines, facts } = await examine(cluster, { requests: 60 });
  const figure = (what) => lineAbout(lines, what).figure;
  assert.equal(figure("Isolates met"), "2 in AMS, 1 in NRT, by 60 requests");
  assert.match(figure("Cache API, localhost"), /^there, .*, [1-9]\d* from another isolate$/);
  assert.match(figure("Stored, shop"), /^data centers AMS, NRT; largest value 0\.0/);
  assert.equal(figure("Route shop.example/"), "leads to room shop");
  for (const name of ["Registry", ...OBJECTS]) lineAbout(lines, name);
  const served = facts.samples.map(({ isolate }) => isolate.served);
  assert.ok(Math.max(...served) < 12, "its own questions count");
  const places = facts.examined.flatMap(({ objects }) => objects.map(({ name }) => name));
  assert.ok(places.some((name) => name.endsWith("/AMS") || name.endsWith("/NRT")), places);
  // A loaded machine is slow.
  const bad = lines.filter(({ verdict, figure: told }) => verdict !== "ok" && !/slow/.test(told));
  assert.deepEqual(bad, []);
});

const where = "it says where objects live, and which keys are set";
clusterTest(where, { ...options, vars: deployed }, async (cluster) => {
  await open(cluster);
  const { lines, facts } = await examine(cluster, { host: ADMIN });
  assert.doesNotMatch(lineAbout(lines, "Registry").figure, /in [A-Z]{3}, /);
  const [{ variables, secrets }] = facts.samples;
  assert.equal(variables.turnstile_site_key, turnstile.TURNSTILE_SITE_KEY);
  assert.equal(secrets.turnstile_secret.characters, turnstile.TURNSTILE_SECRET.length);

  const trace = createServer((_, response) => response.end("fl=1\ncolo=FRA\nwarp=off\n"));
  await new Promise((listening) => trace.listen(0, "127.0.0.1", listening));
  try {
    await cluster.restart({ outside: { "www.cloudflare.com": trace.address().port } });
    const told = await examine(cluster, { host: ADMIN });
    assert.match(lineAbout(told.lines, "Registry").figure, /^in FRA, .* from (?:AMS|NRT)/);
    assert.match(lineAbout(told.lines, "GlobalAggregator").figure, /^in FRA, /);
  } finally {
    trace.close();
  }
});

for (const [how, figure] of [
  ["hang", /unanswered/],
  ["lose", /^not there/],
]) {
  clusterTest(`a Cache API that would ${how}`, options, async (cluster) => {
    await open(cluster);
    await cluster.breakCaches({ method: "match", how });
    const { lines } = await examine(cluster);
    const { verdict, figure: told } = lineAbout(lines, "Cache API, localhost");
    assert.equal(verdict, "look");
    assert.match(told, figure);
    assert.equal(lineAbout(lines, "Cache API in objects").verdict, "look");
    assert.deepEqual(lines.filter((line) => line.verdict === "wrong"), []);
  });
}

clusterTest("an object that is slow, and one that is silent", options, async (cluster) => {
  await open(cluster);
  await cluster.breakCalls({ className: "GlobalAggregator", delayMs: 600 });
  const slow = lineAbout((await examine(cluster)).lines, "GlobalAggregator");
  assert.notEqual(slow.verdict, "ok");
  assert.match(slow.figure, /; (?:far or|too) slow$/);
  assert.doesNotMatch(lineAbout((await examine(cluster)).lines, "Registry").figure, /silent/);
  await cluster.breakCalls({ className: "Registry", delayMs: 3_500 });
  const silent = lineAbout((await examine(cluster)).lines, "Registry");
  assert.deepEqual([silent.verdict, silent.figure], ["wrong", "silent for 3 s"]);
});

const version = (id) => ({ vars: { CF_VERSION_METADATA: { id } } });
const [older, newer] = [version("old-0001"), version("new-0001")];
const overrides = { hub: older, "ams-1": newer, "ams-2": newer };
clusterTest("versions that differ", { ...options, overrides }, async (cluster) => {
  await open(cluster);
  const { lines } = await examine(cluster);
  const isolates = lineAbout(lines, "Version of isolates");
  assert.deepEqual([isolates.verdict, isolates.figure], ["look", "new-0001, not told"]);
  const { verdict, figure } = lineAbout(lines, "Registry");
  assert.equal(verdict, "look");
  assert.match(figure, /runs version old-0001/);
});

const publicKey = { ...options, vars: { ...deployed, TICKET_KEYS: PUBLIC_KEY } };
clusterTest("public keys on a host that is not local", publicKey, async (cluster) => {
  const { lines } = await examine(cluster, { host: ADMIN });
  const visitors = lineAbout(lines, "Visitors");
  assert.deepEqual([visitors.verdict, visitors.figure], ["wrong", "nobody is served"]);
  assert.match(visitors.remedy, /public key of local development/);
  const keys = lineAbout(lines, "TICKET_KEYS");
  assert.deepEqual([keys.verdict, keys.figure], ["wrong", "public"]);
});

const unusable = { ...options, vars: { ...deployed, ZONES: "x" } };
clusterTest("a configuration that cannot be used is examined, too", unusable, async (cluster) => {
  const { lines } = await examine(cluster, { host: ADMIN });
  assert.match(lineAbout(lines, "Visitors").remedy, /^ZONES: /);
  lineAbout(lines, "Isolates met");
});

clusterTest("it disturbs no full room, and wakes no sleeping one", options, async (cluster) => {
  const inside = [await visitorInside(cluster, shop), await visitorInside(cluster, shop)];
  const waiting = new Visitor(cluster, { name: "waiting", host: shop.host });
  assert.equal((await waiting.visit()).kind, "queue");
  await cluster.advance(3_000);
  const arrived = (await cluster.arrivals()).length;
  const calls = await cluster.allCalls();
  const { began } = await cluster.door();
  const start = cluster.clock.now();
  await examine(cluster);
  const syncs = Math.ceil((cluster.clock.now() - start) / 1_000) * 6;
  assert.ok((await cluster.allCalls()) - calls <= syncs, "the doctor called the room's machines");
  const door = await cluster.door();
  assert.deepEqual(door.began, began);
  for (const [name, count] of Object.entries(door.examined)) assert.ok(count <= 3, name);
  assert.equal((await cluster.arrivals()).length, arrived, "the doctor was let in");
  for (const visitor of inside) assert.equal((await visitor.visit()).kind, "origin");

  // Everybody leaves; then the doctor alone wakes nothing but what it asks.
  await cluster.advance(400_000, 2_000);
  const asleep = await cluster.door();
  const visits = await cluster.allCalls();
  await examine(cluster);
  await cluster.advance(10_000);
  const { awakeMs } = await cluster.door();
  const room = Object.keys(awakeMs).filter((name) => name.includes(shop.id));
  assert.ok(room.length > 0);
  for (const name of room) assert.equal(awakeMs[name], asleep.awakeMs[name], `${name} was woken`);
  assert.equal(await cluster.allCalls(), visits);
});

const ahead = { "nrt-1": { vars: { ...vars, CLOCK_SKEW_MS: "4000" } } };
clusterTest("a clock that is ahead", { ...options, overrides: ahead }, async (cluster) => {
  await open(cluster);
  const { verdict, figure } = lineAbout((await examine(cluster)).lines, "Clock of isolates");
  assert.equal(verdict, "look");
  assert.match(figure, /; [34]\.\d s ahead of this machine's$/);
});

clusterTest("what a day costs at the present pace", options, async (cluster) => {
  await open(cluster);
  // Objects that nobody calls for 10 s are put to sleep, and forget what they counted.
  for (let time = 0; time < 24; time += 1) {
    for (const { name } of cluster.isolates) await cluster.send(name, { host: shop.host });
    await cluster.advance(3_000);
  }
  const { lines } = await examine(cluster, { quota: 100_000 });
  const requests = lineAbout(lines, "Requests").figure;
  assert.match(requests, /^[1-9][\d,]+ requests a day at the pace of .* of 100,000$/);
  const calls = lineAbout(lines, "Object calls");
  assert.match(calls.figure, /^[1-9][\d,]+ calls a day/);
});
