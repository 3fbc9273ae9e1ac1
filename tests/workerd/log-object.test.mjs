/**
 * The object of a transparency log by itself, with SQLite of Node: what comes twice, comes late, or
 * finds no room; and a storage that fails.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { mock, test } from "node:test";

import { keep, logged } from "../../src/admissions.js";
import { deletesRooms, withoutRest } from "../../src/deleted.js";
import { logAnswer } from "../../src/transparency.js";
import { Log } from "../../transparency/log.js";
import { areThose, bundlesOf, entriesIn, opened } from "../harness/foreign-log.mjs";

const BUILT = path.join(import.meta.dirname, "..", "..", "build", "transparency");
const glue = await import("../../build/transparency/transparency.js");
glue.initSync({ module: fs.readFileSync(path.join(BUILT, "transparency_bg.wasm")) });
const ROOM = "0123456789abcdef0123456789abcdef";
const ORIGIN = `shop.example/waiting-room/${ROOM}`;
const RULES = "500,100,300,0,0";
const START_S = 1_796_061_600;
/** Longer than the log lets data centers alone. */
const LATER_MS = 6_000;

/** The storage of an object, as the platform has it. */
function contextOf() {
  const database = new DatabaseSync(":memory:");
  const exec = (query, ...values) => {
    if (storage.fails) throw new Error("the storage fails");
    const bound = values.map((one) => (one instanceof ArrayBuffer ? new Uint8Array(one) : one));
    const rows = database.prepare(query).all(...bound);
    return { toArray: () => rows, one: () => rows[0], [Symbol.iterator]: () => rows.values() };
  };
  const transactionSync = (work) => {
    database.exec("BEGIN");
    try {
      work();
      database.exec("COMMIT");
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  };
  const storage = { fails: false, sql: { exec }, transactionSync };
  return { storage, waitUntil: () => {} };
}

/** A log, and one aggregator that keeps what `reports` has. */
function fixture() {
  mock.timers.reset();
  mock.timers.enable({ apis: ["Date"], now: START_S * 1_000 });
  const own = contextOf();
  const source = contextOf();
  const lost = { drops: false, fails: 0 };
  const silent = { log: () => new Promise(() => {}) };
  const kept = (question) => {
    if (lost.fails > 0) {
      lost.fails -= 1;
      return Promise.reject(new Error("lost"));
    }
    return keptNow(question);
  };
  const keptNow = (question) =>
    logged(source, {}, lost.drops ? { ...question, drop: [] } : question);
  const stub = { log: (question) => question.ask === "announce" || kept(question) };
  const getByName = (name) => (name.endsWith("/NRT") ? silent : stub);
  const env = { DATA_CENTER_AGGREGATOR: { getByName } };
  const log = new Log(own, env, glue);
  log.announce(`${ROOM}/AMS`);
  const report = (...records) => {
    const admissions = records.map(([visitor, joined, at]) => `${visitor},${joined},${at},0,5`);
    const text = [RULES, ...admissions, ""].join("\n");
    keep(source, { DATA_CENTER_AGGREGATOR: { getByName: () => stub } }, `${ROOM}/AMS`, text);
  };
  const read = async () => {
    mock.timers.tick(LATER_MS);
    const text = await log.checkpoint({ origin: ORIGIN });
    const head = opened(await log.key({ origin: ORIGIN }), text);
    const bundles = bundlesOf(head.size).map((name) => Buffer.from(log.file(name)));
    return { head, entries: bundles.flatMap(entriesIn), text };
  };
  return { own, source, lost, log, report, read };
}

test("a row that comes twice is one entry, and a late one stands behind", async () => {
  const { lost, report, read, log } = fixture();
  report(["b", 11, START_S + 12], ["a", 10, START_S + 10]);
  lost.drops = true;
  const first = await read();
  assert.equal(first.head.size, 3);
  assert.match(String(first.entries[1]), / line 5$/);
  assert.match(String(first.entries[1]), new RegExp(` 10 ${START_S + 10} `), "in their order");
  const again = await read();
  assert.equal(again.text, first.text, "nothing new: the same checkpoint");
  lost.drops = false;
  report(["c", 9, START_S + 11], ["b", 11, START_S + 12]);
  const late = await read();
  assert.equal(late.head.size, 4);
  assert.deepEqual(late.entries.slice(0, 3), first.entries);
  assert.match(String(late.entries[3]), new RegExp(` 9 ${START_S + 11} line 5$`));
  assert.ok(await areThose(late.entries, late.head));
  assert.equal((await log.status({ origin: ORIGIN })).admissions, 3);
});

test("a data center that does not answer holds up no other", { timeout: 20_000 }, async () => {
  const { log, report, read } = fixture();
  log.announce(`${ROOM}/NRT`);
  mock.timers.reset();
  mock.timers.enable({ apis: ["Date", "setTimeout"], now: START_S * 1_000 });
  report(["a", 10, START_S + 10]);
  const reading = read();
  let isOver = false;
  reading.then(() => (isOver = true));
  while (!isOver) {
    await new Promise((turn) => setImmediate(turn));
    mock.timers.tick(100);
  }
  assert.equal((await reading).head.size, 2);
  mock.timers.reset();
});

test("a deleted room's log is gone, with what data centers keep for it", async () => {
  const { own, source, log, report, read } = fixture();
  const rows = (context, table) => context.storage.sql.exec(`SELECT * FROM ${table}`).toArray();
  report(["a", 10, START_S + 10]);
  const { head } = await read();
  const key = await log.key({ origin: ORIGIN });
  assert.equal(head.size, 2);
  report(["b", 11, START_S + 12]);
  await log.delete();
  for (const table of ["log", "log_sources", "log_tiles", "log_entries"]) {
    assert.deepEqual(rows(own, table), [], table);
  }
  assert.deepEqual(rows(source, "admissions"), []);
  // A sync that was on its way.
  report(["c", 12, START_S + 13]);
  log.announce(`${ROOM}/AMS`);
  mock.timers.tick(LATER_MS);
  assert.equal(await log.checkpoint({ origin: ORIGIN }), undefined);
  assert.equal(await log.status({ origin: ORIGIN }), undefined);
  assert.equal(await log.receipt({ origin: ORIGIN, visitor: "a", admitted: START_S }), undefined);
  assert.equal(log.file("tile/0/000.p/1"), undefined);
  // The room was imported again: a log of its own, with another key.
  mock.timers.tick(60_000);
  report(["d", 13, START_S + 90]);
  assert.equal((await read()).head.size, 2);
  assert.notEqual(await log.key({ origin: ORIGIN }), key);
});

test("what was asked for before a log was deleted is not written after it", async () => {
  const { own, lost, log, report } = fixture();
  report(["a", 10, START_S + 10]);
  mock.timers.tick(LATER_MS);
  lost.drops = true;
  const [checkpoint] = await Promise.all([log.checkpoint({ origin: ORIGIN }), log.delete()]);
  assert.equal(checkpoint, undefined);
  assert.deepEqual(own.storage.sql.exec("SELECT * FROM log").toArray(), []);
});

test("a data center that does not answer is asked again to delete", async () => {
  const { own, lost, log } = fixture();
  const waits = [];
  own.waitUntil = (work) => waits.push(work);
  mock.timers.reset();
  mock.timers.enable({ apis: ["Date", "setTimeout"], now: START_S * 1_000 });
  lost.fails = 2;
  await log.delete();
  assert.deepEqual(own.storage.sql.exec("SELECT name FROM log_sources").toArray().length, 1);
  let isOver = false;
  Promise.all(waits).then(() => (isOver = true));
  while (!isOver) {
    await new Promise((turn) => setImmediate(turn));
    mock.timers.tick(100);
  }
  assert.deepEqual(own.storage.sql.exec("SELECT name FROM log_sources").toArray(), []);
  mock.timers.reset();
});

test("a room that could not be deleted keeps all, and what stays of another is told", async () => {
  const path = "/_waiting-room/client/v4/zones/z/waiting_rooms";
  const body = JSON.stringify({ result: [{ id: ROOM }], success: true, errors: [], messages: [] });
  const after = async (status, left, log, drop = log) => {
    const asked = [];
    const remember = (question) => asked.push(question.ask) && log();
    const global = { drop: () => asked.push("drop") && drop() };
    const env = {
      DATA_CENTER_AGGREGATOR: { getByName: () => ({ log: remember }) },
      GLOBAL_AGGREGATOR: { getByName: (name) => name === ROOM && global },
    };
    const url = `https://shop.example${path}`;
    const count = left.includes("of many") ? 1_001 : left.length;
    const list = { result: left.map((id) => ({ id })), result_info: { total_count: count } };
    const many = Array.from({ length: 1_001 }, (_, at) => ({ id: `${at}` }));
    const ask = (of) => {
      if (left.length > 1) return { body: "no JSON" };
      if (!left.includes("of pages")) return { body: JSON.stringify(list) };
      const result = of.endsWith("&page=1") ? many.slice(0, 1_000) : many.slice(1_000);
      return { body: JSON.stringify({ result, result_info: { total_count: many.length } }) };
    };
    const answer = await withoutRest(url, { status, body }, ask, env);
    return [asked, JSON.parse(answer.body).messages.map(({ code }) => code)];
  };
  const works = () => Promise.resolve(true);
  const both = ["delete", "drop"];
  assert.deepEqual(await after(200, [], works), [both, []]);
  assert.deepEqual(await after(200, ["another"], works), [both, []]);
  assert.deepEqual(await after(403, [], works), [[], []], "not deleted");
  assert.deepEqual(await after(200, [ROOM], works), [[], []], "an old answer: it is there again");
  assert.deepEqual(await after(200, [ROOM, "another"], works), [[], [1001]], "nobody knows");
  assert.deepEqual(await after(200, ["of many"], works), [[], [1001]], "a part of the list");
  assert.deepEqual(await after(200, ["of pages"], works), [both, []], "more than one page");
  const fails = () => Promise.reject(new Error("it fails"));
  assert.deepEqual(await after(200, [], fails), [both, [1001]]);
  assert.deepEqual(await after(200, [], works, fails), [both, [1001]], "the object of the room");
  assert.ok(deletesRooms("DELETE", path) && deletesRooms("DELETE", `${path}/${ROOM}`));
  assert.ok(!deletesRooms("GET", path) && !deletesRooms("DELETE", `${path}/${ROOM}/events`));
});

test("a log that fails or does not answer is told in a sentence", { timeout: 20_000 }, async () => {
  const visitor = `a ${START_S}`;
  const asking = (log, path) => {
    const env = { DATA_CENTER_AGGREGATOR: { getByName: () => ({ log }) } };
    return logAnswer({ room: ROOM, host: "shop", isPublic: true, visitor, path }, "GET", env);
  };
  const fails = () => Promise.reject(new Error("it fails"));
  for (const path of ["receipt", "checkpoint", "key", "tile/0/000"]) {
    const { status, body } = await asking(fails, path);
    assert.deepEqual([status, body], [503, "The log does not answer now.\n"], path);
  }
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  const silent = asking(() => new Promise(() => {}), "receipt");
  await new Promise((turn) => setImmediate(turn));
  mock.timers.tick(8_000);
  assert.equal((await silent).status, 503);
  mock.timers.reset();
});

test("many bundles are whole, and a write that fails leaves the log as it was", async () => {
  const { own, source, report, read } = fixture();
  const many = (from, count) =>
    report(
      ...Array.from({ length: count }, (_, at) => {
        const number = from + at;
        return [number.toString(16), number, START_S + Math.floor(number / 10)];
      }),
    );
  many(1, 300);
  const first = await read();
  assert.equal(first.head.size, 301);
  many(301, 700);
  own.storage.fails = true;
  await assert.rejects(read());
  own.storage.fails = false;
  const second = await read();
  assert.equal(second.head.size, 1_001);
  assert.ok(await areThose(second.entries, second.head));
  assert.deepEqual(second.entries.slice(0, 301), first.entries);
  // What an aggregator cannot store waits for its next sync.
  source.storage.fails = true;
  report(["fa11", 1, START_S + 200]);
  source.storage.fails = false;
  report(["fa12", 1, START_S + 201]);
  assert.equal((await read()).head.size, 1_003);
});
