/**
 * The transparency log of a room: each admission is in it once, whatever restarts and repeats; what
 * was signed never changes; receipts prove it, to our verifier and to another's.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";

import { countedBy, saleFrom } from "../../transparency/download.js";
import { OWNER, ROOMS, call, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import {
  areOfOneLog,
  areThose,
  bundlesOf,
  entriesIn,
  opened,
  proved,
} from "../harness/foreign-log.mjs";
import { FREQUENT_CHECK_INS, room } from "../harness/rooms.mjs";
import { glue, verified } from "../harness/verify.mjs";
import { Visitor, look, pass, visitorInside } from "../harness/visitor.mjs";

const ROOT = path.join(import.meta.dirname, "..", "..");
const shop = room({
  name: "shop",
  total_active_users: 4,
  new_users_per_minute: 4,
  transparency_log: "public",
  ...FREQUENT_CHECK_INS,
});
const alone = room({
  name: "alone",
  total_active_users: 1,
  new_users_per_minute: 1,
  session_duration: 2,
  transparency_log: "public",
  ...FREQUENT_CHECK_INS,
});
const brief = room({ name: "brief", total_active_users: 10, transparency_log: "public" });
const own = room({ name: "own", total_active_users: 3, transparency_log: "owner" });
const none = room({ name: "none" });
const event = {
  id: "1".repeat(32),
  name: "sale",
  event_start_time: "2020-01-01T00:00:00Z",
  event_end_time: "2099-01-02T00:00:00Z",
  transparency_log: "public",
};
const sold = room({ name: "sold", events: [event] });
const options = { rooms: [shop, alone, brief, own, none, sold], colos: { AMS: 1, NRT: 1 } };
/** Reports, syncs, and the time for which a checkpoint is told again. */
const TOLD_MS = 12_000;
const MINUTES_MS = 190_000;
/** The time for which a minute of the history adds late reports, and a minute. */
const COUNTED_MS = 360_000;
const DAY_MS = 86_400_000;

/** Reads a file of a public log; nothing if it is not there. */
async function file(cluster, { host }, name) {
  const { status, body } = await ask(cluster, host, name);
  return status === 200 ? Buffer.from(body, "latin1") : undefined;
}

function ask(cluster, host, name) {
  const asked = { host, path: `/_waiting-room/log/${name}`, encoding: "latin1" };
  return cluster.send(cluster.isolates[0].name, asked);
}

/** Asks for a file of a log as its owner. */
function owners(cluster, { id }, name) {
  const path = `/_waiting-room/client/v4/${ROOMS}/${id}/transparency_log/${name}`;
  const asked = { host: "localhost", path, headers: OWNER, encoding: "latin1" };
  return cluster.send(cluster.isolates[0].name, asked);
}

const statusOf = async (cluster, { id }) =>
  (await call(cluster, "GET", `${ROOMS}/${id}/transparency_log`)).result;

/** The sale in one file, as the cockpit and the command read it. */
const saleOf = async (cluster, of, counted) =>
  JSON.stringify(await saleFrom((name) => file(cluster, of, name), { counted }));

const checked = (sale, receipts = [], checkpoints = [], key = "") =>
  JSON.parse(glue.check(sale, key, receipts, checkpoints));

const wrongIn = ({ checks }) => checks.filter(({ good }) => !good).map(({ name }) => name);

/** What the check of the count says; nothing if it could not be checked. */
function countIn({ checks }) {
  const { checked: isChecked, says } = checks.find(({ name }) => name === "count");
  return isChecked ? says : "";
}

const receiptOf = async (visitor) =>
  visitor.visit({ path: "/_waiting-room/log/receipt", isolate: visitor.cluster.isolates[0].name });

/** The entries of a public log, read as others would. */
async function entriesOf(cluster, of, size) {
  const bundles = await Promise.all(bundlesOf(size).map((name) => file(cluster, of, name)));
  return bundles.flatMap(entriesIn);
}

clusterTest("each admission is logged once, whatever restarts", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 14, host: shop.host });
  await crowd.arrive();
  await crowd.wait(70_000);
  const early = opened(await keyOf(cluster), String(await file(cluster, shop, "checkpoint")));
  const earlyText = String(await file(cluster, shop, "checkpoint"));
  await cluster.killObjects();
  await cluster.loseCopies();
  await crowd.wait(MINUTES_MS, () => crowd.waiting.length === 0);
  await cluster.killObjects("DataCenterAggregator");
  await cluster.advance(COUNTED_MS);
  const entered = crowd.visitors.filter(({ inside }) => inside).length;
  assert.equal(entered, 14);
  const told = await statusOf(cluster, shop);
  assert.equal(told.admissions, entered, "each visitor was admitted once");
  assert.equal(told.left_out, 0);
  assert.deepEqual(told.data_centers, ["AMS", "NRT"]);
  const key = await keyOf(cluster);
  assert.equal(told.verifier_key, key);
  const head = opened(key, String(await file(cluster, shop, "checkpoint")));
  assert.equal(head.size, told.size);
  const entries = await entriesOf(cluster, shop, head.size);
  assert.ok(await areThose(entries, head), "another implementation finds the same tree");
  assert.ok(early.size > 1 && early.size < head.size, `${early.size} of ${head.size}`);
  assert.ok(await areThose(entries.slice(0, early.size), early), "what was signed has not changed");
  await refusesChanged(entries, head);
  const sale = await saleOf(cluster, shop, countedBy(told));
  const report = checked(sale, [], [earlyText], key);
  assert.deepEqual(wrongIn(report), [], JSON.stringify(report.checks, null, 1));
  assert.match(countIn(report), /^from \d+ until \d+ the room counted [1-9]\d*, /);
  const hashes = glue.consistency(sale, early.size, head.size).trim().split("\n");
  assert.ok(await areOfOneLog(early, head, hashes));
  const others = [Buffer.alloc(32, 1).toString("base64"), ...hashes.slice(1)];
  assert.ok(!(await areOfOneLog(early, head, others)), "other hashes prove nothing");
});

clusterTest("nobody who slept through a turn is told to be overtaken", options, async (cluster) => {
  await visitorInside(cluster, alone);
  const [sleeper, later] = [new Visitor(cluster, alone), new Visitor(cluster, alone)];
  await sleeper.visit();
  await pass(cluster, 5_000, [sleeper]);
  await later.visit();
  await pass(cluster, 40_000, [sleeper, later]);
  await pass(cluster, 10 * MINUTES_MS, [later], () => later.inside);
  await pass(cluster, 10_000, []);
  await sleeper.visit();
  await pass(cluster, 10 * MINUTES_MS, [sleeper], () => sleeper.inside);
  assert.ok(later.inside && sleeper.inside);
  await cluster.advance(TOLD_MS);
  const report = checked(await saleOf(cluster, alone));
  assert.deepEqual(wrongIn(report), [], JSON.stringify(report.checks, null, 1));
});

const once = "limits that were in force for a second are told, and nobody is wrong by them";
clusterTest(once, options, async (cluster) => {
  for (let count = 0; count < 10; count += 1) {
    const visitor = new Visitor(cluster, { name: `${count}`, host: brief.host, colo: "AMS" });
    await visitor.visit();
    assert.ok(visitor.inside);
  }
  const lower = { total_active_users: 5, new_users_per_minute: 5 };
  await call(cluster, "PATCH", `${ROOMS}/${brief.id}`, lower);
  for (let count = 0; count < 12; count += 1) {
    await cluster.advance(5_000);
    for (const { name } of cluster.isolates) await look(cluster, name, { host: brief.host });
  }
  const sale = await saleOf(cluster, brief);
  const report = checked(sale);
  assert.deepEqual(wrongIn(report), [], JSON.stringify(report.checks, null, 1));
  const bundles = JSON.parse(sale).entries.map((text) => Buffer.from(text, "base64"));
  const entries = bundles.flatMap(entriesIn).map(String);
  const rules = entries.filter((entry) => entry.startsWith("rules "));
  const limits = rules.map((entry) => entry.split(" ").slice(2, 4).join(" "));
  assert.deepEqual(limits.slice(0, 2), ["10 10", "5 5"]);
});

/** Another implementation finds one forged, left out or reordered entry. */
async function refusesChanged(entries, { root }) {
  const [first, second, ...rest] = entries;
  const forged = Buffer.from(`${second}`.replace(/\d$/, (digit) => 9 - digit));
  assert.ok(!forged.equals(second));
  const changed = { forged: [first, forged, ...rest], reordered: [first, ...rest, second] };
  for (const [what, others] of Object.entries({ ...changed, "left out": [first, ...rest] })) {
    assert.ok(!(await areThose(others, { root, size: others.length })), `one is ${what}`);
  }
}

const keyOf = async (cluster) => String(await file(cluster, shop, "key")).trim();

clusterTest("a visitor inside has a receipt, and nobody else", options, async (cluster) => {
  const visitor = await visitorInside(cluster, shop);
  const soon = await receiptOf(visitor);
  assert.equal(soon.status, 404);
  assert.equal(soon.headers["retry-after"], "10");
  await cluster.advance(TOLD_MS);
  const { status, body, headers } = await receiptOf(visitor);
  assert.equal(status, 200, body);
  assert.match(headers["cache-control"], /no-store/);
  const proof = await proved(await keyOf(cluster), body);
  assert.ok(proof.isThere, "another implementation finds the entry in the tree");
  assert.match(proof.leaf, /^admission \S{44} \d+ \d+ open 0$/);
  const sale = await saleOf(cluster, shop);
  assert.deepEqual(wrongIn(checked(sale, [body])), []);
  assert.ok(!sale.includes(proof.reference) && !sale.includes(proof.salt));
  const stranger = new Visitor(cluster, { name: "stranger", host: shop.host });
  assert.equal((await receiptOf(stranger)).status, 403);
  const inside = await visitorInside(cluster, own);
  await cluster.advance(TOLD_MS);
  assert.equal((await receiptOf(inside)).status, 200, "also where the log is the owner's");
});

clusterTest("who may read a log, and what is none", options, async (cluster) => {
  for (const one of [own, none, sold]) await visitorInside(cluster, one);
  await cluster.advance(TOLD_MS);
  assert.equal((await ask(cluster, own.host, "checkpoint")).status, 404);
  const path = "/_waiting-room/log/checkpoint";
  const visitor = new Visitor(cluster, { name: "reader", host: none.host });
  assert.equal((await visitor.visit({ path })).kind, "origin", "a room without one has no path");
  assert.equal((await statusOf(cluster, own)).admissions, 1);
  assert.ok(await file(cluster, sold, "checkpoint"), "an event has said so");
  const of = `${ROOMS}/${own.id}/transparency_log`;
  await refused(cluster, 404, "GET", `${ROOMS}/${none.id}/transparency_log`);
  await refused(cluster, 403, "GET", of, undefined, {});
  await refused(cluster, 404, "GET", `${ROOMS}/${"0".repeat(32)}/transparency_log`);
  const get = (name) => owners(cluster, own, name);
  assert.match((await get("checkpoint")).body, /^own\.example\/waiting-room\/[0-9a-f]{32}\n2\n/);
  assert.equal((await get("tile/0/000.p/2")).status, 200);
  for (const name of ["tile/0/000", "tile/0/000.p/3", "tile/9/000", "tile/x/000", "other"]) {
    assert.equal((await get(name)).status, 404, name);
  }
});

clusterTest("deleting its event closes a public log", options, async (cluster) => {
  const visitor = await visitorInside(cluster, sold);
  await cluster.advance(TOLD_MS);
  assert.equal((await receiptOf(visitor)).status, 200);
  await call(cluster, "DELETE", `${ROOMS}/${sold.id}/events/${event.id}`);
  await cluster.advance(TOLD_MS);
  assert.match((await ask(cluster, sold.host, "checkpoint")).body, /"method":"GET"/, "the site's");
  assert.equal((await receiptOf(visitor)).kind, "origin");
  assert.equal((await statusOf(cluster, sold)).admissions, 1);
  assert.equal((await owners(cluster, sold, "checkpoint")).status, 200, "the owner still reads it");
});

const title = "a flood of questions ends before the objects, and newcomers who wait make no entry";
clusterTest(title, options, async (cluster) => {
  await visitorInside(cluster, shop);
  const strangers = new Crowd(cluster, { count: 40, host: shop.host, label: "stranger" });
  await strangers.arrive();
  await cluster.advance(TOLD_MS);
  const { admissions } = await statusOf(cluster, shop);
  assert.equal(admissions, 1 + strangers.inside.length);
  await cluster.advance(TOLD_MS);
  const head = opened(await keyOf(cluster), String(await file(cluster, shop, "checkpoint")));
  const before = await cluster.allCalls(shop);
  const answers = await Promise.all(
    Array.from({ length: 300 }, () => ask(cluster, shop.host, `tile/0/000.p/${head.size}`)),
  );
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)].toSorted(), [200, 429]);
  assert.deepEqual(await cluster.allCalls(shop), before, "no object that visitors need was asked");
  assert.equal((await receiptOf(strangers.inside[0])).status, 429);
  const answer = await owners(cluster, shop, `tile/0/000.p/${head.size}`);
  assert.equal(answer.status, 200, "the owner's questions are counted apart");
  await cluster.advance(TOLD_MS);
  assert.equal((await receiptOf(strangers.inside[0])).status, 200);
});

clusterTest("a deleted room has no log, also once it is there again", options, async (cluster) => {
  await visitorInside(cluster, shop);
  await visitorInside(cluster, own);
  await cluster.advance(TOLD_MS);
  const key = await keyOf(cluster);
  assert.equal((await statusOf(cluster, own)).admissions, 1);
  const rooms = (await call(cluster, "GET", "waiting_rooms/file")).result;
  assert.deepEqual((await call(cluster, "DELETE", `${ROOMS}/${shop.id}`)).messages, []);
  const items = [{ id: own.id }, { id: none.id }];
  assert.deepEqual((await call(cluster, "DELETE", ROOMS, { items })).messages, []);
  await refused(cluster, 404, "GET", `${ROOMS}/${shop.id}/transparency_log`);
  await cluster.advance(TOLD_MS);
  const { body } = await ask(cluster, shop.host, "checkpoint");
  assert.match(body, /"method":"GET"/, "from the origin");
  await call(cluster, "PUT", "waiting_rooms/file", rooms);
  await cluster.advance(TOLD_MS);
  for (const { id } of [shop, own]) {
    const { errors } = await refused(cluster, 404, "GET", `${ROOMS}/${id}/transparency_log`);
    assert.match(errors[0].message, /logged no admission/);
  }
  await cluster.advance(MINUTES_MS);
  await visitorInside(cluster, shop);
  await cluster.advance(TOLD_MS);
  assert.equal((await statusOf(cluster, shop)).admissions, 1);
  assert.notEqual(await keyOf(cluster), key, "a log of its own");
});

/** Lets so many visitors enter one after another, and passes the time until they are counted. */
async function enter(cluster, of, count) {
  for (let number = 0; number < count; number += 1) await visitorInside(cluster, of);
  await cluster.advance(COUNTED_MS);
}

/** What the checks find about the count in the owner's file, and whether all is right. */
async function countOf(cluster, of) {
  const told = await statusOf(cluster, of);
  const read = async (name) => Buffer.from((await owners(cluster, of, name)).body, "latin1");
  const report = checked(JSON.stringify(await saleFrom(read, { counted: countedBy(told) })));
  assert.deepEqual(wrongIn(report), [], JSON.stringify(report.checks, null, 1));
  return countIn(report);
}

const WIDE = { total_active_users: 90, new_users_per_minute: 90, ...FREQUENT_CHECK_INS };
const owned = room({ name: "owned", transparency_log: "owner", ...WIDE });
const wide = room({ name: "wide", ...WIDE });
const counting = { rooms: [owned, wide], colos: { AMS: 1 } };

clusterTest("only while the log was on is the count compared", counting, async (cluster) => {
  const set = (readers) =>
    call(cluster, "PATCH", `${ROOMS}/${owned.id}`, { transparency_log: readers });
  await enter(cluster, owned, 1);
  await enter(cluster, owned, 3);
  assert.match(await countOf(cluster, owned), /the room counted 3, the log has 3$/);
  await set("off");
  await cluster.advance(TOLD_MS);
  await enter(cluster, owned, 2);
  assert.match(await countOf(cluster, owned), /the room counted 3, the log has 3$/);
  await set("owner");
  await cluster.advance(TOLD_MS);
  assert.equal(await countOf(cluster, owned), "");
  await cluster.advance(COUNTED_MS);
  await enter(cluster, owned, 4);
  assert.match(await countOf(cluster, owned), /the room counted 4, the log has 4$/);
  await cluster.advance(32 * DAY_MS, DAY_MS / 4);
  await enter(cluster, owned, 5);
  assert.match(await countOf(cluster, owned), /the room counted 5, the log has 5$/);
});

clusterTest("the count of an event ends with the event", counting, async (cluster) => {
  const moment = (minutes) => {
    const time = new Date(cluster.clock.now() + minutes * 60_000);
    return `${time.toISOString().slice(0, 19)}Z`;
  };
  await call(cluster, "POST", `${ROOMS}/${wide.id}/events`, {
    ...{ name: "sale", event_start_time: moment(1), event_end_time: moment(20) },
    transparency_log: "owner",
  });
  await cluster.advance(90_000);
  await enter(cluster, wide, 1);
  await enter(cluster, wide, 6);
  await cluster.advance(10 * 60_000);
  await enter(cluster, wide, 2);
  assert.match(await countOf(cluster, wide), /the room counted 6, the log has 6$/);
});

clusterTest("npm run verify says what is wrong", options, async (cluster) => {
  const visitor = await visitorInside(cluster, shop);
  await visitorInside(cluster, shop);
  await cluster.advance(TOLD_MS);
  const sale = await saleOf(cluster, shop, countedBy(await statusOf(cluster, shop)));
  const receipt = (await receiptOf(visitor)).body;
  const files = { "sale.json": sale, "receipt.tlog-proof": receipt, key: await keyOf(cluster) };
  const all = ["sale.json", "--key", "key", "--receipt", "receipt.tlog-proof"];
  const good = verified(files, ...all);
  assert.equal(good.status, 0, good.says);
  assert.match(good.says, /^ok +receipt .*\nok +rules .*\nok +admissions .*2 open/m);
  const { entries, ...rest } = JSON.parse(sale);
  const [first, ...others] = entriesIn(Buffer.from(entries[0], "base64"));
  const changed = Buffer.concat(
    [first, ...others.toReversed()].map((entry) =>
      Buffer.concat([Buffer.from([0, entry.length]), entry]),
    ),
  );
  const forged = JSON.stringify({ ...rest, entries: [changed.toString("base64")] });
  const bad = verified({ ...files, "sale.json": forged }, ...all);
  assert.equal(bad.status, 1);
  assert.match(bad.says, /^WRONG +tree .*reordered$/m);
  assert.equal(verified({ "sale.json": "{}" }, "sale.json").status, 1);
  assert.match(verified({}, "--page", "verify.html").wrote, /<title>Check the log of a sale/);
  const bench = spawnSync("node", [path.join(ROOT, "bench", "log.mjs"), "1000"]);
  assert.match(String(bench.stdout), /ms for 1,000 .*\n0\.\d+ rows/);
  const marked = Object.entries(files).map(([name, text]) => [
    name,
    `\uFEFF${name === "sale.json" ? text : text.replaceAll("\n", "\r\n")}`,
  ]);
  const edited = verified(Object.fromEntries(marked), ...all);
  assert.equal(edited.status, 0, edited.says);
  const silent = "http://127.0.0.1:9/log";
  assert.match(verified({}, silent).says, /^\s*http:\S+ cannot be read: \S.*\s*$/);
  assert.match(verified({}, ".").says, /^\s*\. cannot be read, EISDIR: name a file\s*$/);
  const nowhere = /cannot be written, ENOENT: name a file in a folder that is there\s*$/;
  for (const flag of ["--save", "--page"]) {
    assert.match(verified(files, "sale.json", flag, "none/file").says, nowhere, flag);
  }
});
