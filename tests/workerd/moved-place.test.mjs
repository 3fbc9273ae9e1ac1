/**
 * A place in the line moves to another device with a code, once and within a minute. Whatever
 * happens meanwhile, one device has the place and nobody loses it.
 */

import assert from "node:assert/strict";

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { mostInside } from "../harness/measure.mjs";
import { askAsApp, codeOf, giveCode, sendForm } from "../harness/place.mjs";
import { previousEntry } from "../harness/previous.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, pass, visitorInside } from "../harness/visitor.mjs";

const MINUTE_MS = 60_000;
/** A check-in, which comes within 22 s; the newest view; and what a slow machine takes. */
const SOON_MS = 30_000;
/** How long a few visitors wait for their turns at most. */
const PATIENCE_MS = 10 * MINUTE_MS;
const CODE = /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/;
const MOVED = "Your place has moved to another device";
/** So long that a code is over before the first turn comes. */
const SESSION_MS = 2 * MINUTE_MS;
const door = room({
  name: "door",
  total_active_users: 1,
  session_duration: SESSION_MS / MINUTE_MS,
  show_position: true,
});
const rooms = [door];
const options = { rooms, colos: { AMS: 2, NRT: 1 } };

/** Somebody is inside, and three devices wait: the old one, somebody else, and the new one. */
async function threeWait(cluster) {
  await visitorInside(cluster, door);
  const waiting = [];
  for (const name of ["laptop", "else", "phone"]) {
    const colo = name === "phone" ? "NRT" : "AMS";
    const visitor = new Visitor(cluster, { name, host: door.host, colo });
    await visitor.visit();
    assert.ok(visitor.waiting);
    waiting.push(visitor);
    await cluster.advance(2_000);
  }
  return waiting;
}

/** Lets everybody wait until so many have entered; returns who, in order. */
async function entered(cluster, visitors, count) {
  const order = [];
  await pass(cluster, PATIENCE_MS, visitors, () => {
    for (const one of visitors) if (one.inside && !order.includes(one.name)) order.push(one.name);
    return order.length >= count;
  });
  assert.ok(mostInside(await cluster.arrivals(), SESSION_MS) <= 1, "two at a time");
  return order;
}

clusterTestBothWays("a place moves with a code and is counted once", options, async (cluster) => {
  const [laptop, somebody, phone] = await threeWait(cluster);
  await pass(cluster, SOON_MS, [laptop, somebody, phone]);
  const calls = await cluster.calls("GlobalAggregator", door);
  assert.ok(calls > 0);
  const { code, secondsLeft, ...rest } = await askAsApp(laptop, { act: "code" });
  assert.deepEqual([secondsLeft, rest], [60, { status: 200 }]);
  assert.match(code, CODE);
  const page = await laptop.visit();
  assert.ok(page.body.includes(code), "the page does not show the code");
  assert.equal(await giveCode(phone, code.toLowerCase().replace("-", " ")), 200);
  await phone.visit();
  assert.ok(phone.waiting);
  await pass(cluster, SOON_MS, [laptop, somebody, phone]);
  const told = await laptop.visit();
  assert.equal(laptop.dueAt, undefined, "the old page comes again");
  assert.ok(told.body.includes(MOVED) && !told.body.includes(code), told.body);
  // The place is counted once, where it was.
  const ahead = /People ahead of you<\/span> <strong>(\d+)/.exec((await somebody.visit()).body);
  assert.equal(ahead[1], "1");
  assert.deepEqual(await entered(cluster, [laptop, somebody, phone], 2), ["phone", "else"]);
  assert.equal(laptop.dueAt, undefined);
});

clusterTest("without script the forms do it all", options, async (cluster) => {
  const [laptop, somebody, phone] = await threeWait(cluster);
  const made = await sendForm(laptop, { act: "code" });
  assert.deepEqual([made.status, made.headers.location], [303, `http://${door.host}/`]);
  const page = await laptop.visit();
  assert.ok(page.refreshS > 0);
  assert.match(page.body, /Time left: <span [^>]*data-left="\d\d">\d\d s</);
  const [, code] = /<strong class="code" dir="ltr">([^<]+)</.exec(page.body);
  const wrong = await sendForm(phone, { act: "take", code: "0000-0000" });
  assert.equal(wrong.kind, "queue");
  assert.match(wrong.body, /This code is not right/);
  assert.doesNotMatch(wrong.body, /Nothing was submitted/);
  assert.match(wrong.headers.refresh, /; url=http:\/\/door\.example\/$/);
  assert.equal(wrong.headers["set-cookie"], undefined);
  const taken = await sendForm(phone, { act: "take", code });
  assert.deepEqual([taken.status, taken.headers.location], [303, `http://${door.host}/`]);
  assert.equal(taken.headers["cache-control"], "private, no-store");
  await pass(cluster, SOON_MS, [laptop]);
  const used = await sendForm(somebody, { act: "take", code });
  assert.match(used.body, /This code has already been used/);
  const moved = await laptop.visit();
  assert.ok(moved.body.includes(MOVED));
  assert.doesNotMatch(moved.headers["set-cookie"]?.[0] ?? "", /Max-Age=0/);
  const anew = await sendForm(laptop, { act: "anew" });
  assert.equal(anew.status, 303);
  await laptop.visit();
  assert.ok(laptop.waiting, "the visitor cannot join the line again");
});

clusterTest("a code that nobody takes is over, and the place stays", options, async (cluster) => {
  const [laptop, somebody, phone] = await threeWait(cluster);
  const code = await codeOf(laptop);
  await laptop.visit();
  await pass(cluster, MINUTE_MS + 1_000, [laptop, somebody, phone]);
  assert.equal(await giveCode(phone, code), 404, "an old code");
  assert.match((await sendForm(phone, { act: "take", code })).body, /This code has expired/);
  assert.ok(!(await laptop.visit()).body.includes(code));
  const order = await entered(cluster, [laptop, somebody, phone], 3);
  assert.deepEqual(order, ["laptop", "else", "phone"]);
});

clusterTest("whose turn comes meanwhile waits until the code is over", options, async (cluster) => {
  const [laptop, somebody, phone] = await threeWait(cluster);
  const all = [laptop, somebody, phone];
  await pass(cluster, SESSION_MS - 25_000, all);
  await codeOf(laptop);
  await laptop.visit();
  await pass(cluster, MINUTE_MS - 5_000, [laptop]);
  assert.ok(laptop.waiting, "entered although the place may be elsewhere");
  await pass(cluster, SOON_MS + 15_000, [laptop]);
  assert.ok(laptop.inside, "the turn was lost");
});

clusterTest("nobody keeps a place by one code after another", options, async (cluster) => {
  const [laptop, somebody, phone] = await threeWait(cluster);
  await codeOf(laptop);
  const again = async () => (await askAsApp(laptop, { act: "code" })).status;
  // The first visit finds a code that is good; the second one is the check-in.
  for (const then of [409, 200]) {
    await pass(cluster, MINUTE_MS - 15_000, [somebody, phone]);
    assert.equal(await again(), 409, "a code without a check-in");
    await laptop.visit();
    assert.equal(await again(), then);
  }
});

clusterTest("two devices race, and one has the place", options, async (cluster) => {
  const [laptop, somebody, phone] = await threeWait(cluster);
  const code = await codeOf(laptop);
  const both = await Promise.all([giveCode(phone, code), giveCode(somebody, code)]);
  assert.deepEqual(both.toSorted(), [200, 404]);
  const [winner, loser] = both[0] === 200 ? [phone, somebody] : [somebody, phone];
  assert.equal(await giveCode(loser, code), 404, "a used code");
  await pass(cluster, SOON_MS, [laptop]);
  const again = await askAsApp(laptop, { act: "code" });
  assert.deepEqual([again.status, again.code], [409, undefined], "a code for a place that is gone");
  assert.deepEqual(await entered(cluster, [winner, loser], 1), [winner.name]);
});

clusterTest("an answer that is lost is given again, to nobody else", options, async (cluster) => {
  const [laptop, somebody, phone] = await threeWait(cluster);
  const code = await codeOf(laptop);
  const lost = new Visitor(cluster, { name: "lost", host: door.host });
  const headers = { cookie: phone.cookies, accept: "application/json" };
  const first = await sendForm(lost, { act: "take", code }, { headers });
  assert.equal(first.status, 200);
  assert.equal(await giveCode(somebody, code), 404);
  assert.equal(await giveCode(phone, code), 200, "the place is lost with an answer");
});

clusterTest("the object restarts within the minute", options, async (cluster) => {
  const [laptop, somebody, phone] = await threeWait(cluster);
  const code = await codeOf(laptop);
  await cluster.killObjects("GlobalAggregator");
  assert.equal(await giveCode(phone, code), 200);
  await cluster.killObjects("GlobalAggregator");
  assert.equal(await giveCode(somebody, code), 404);
  await pass(cluster, SOON_MS, [laptop]);
  assert.ok((await laptop.visit()).body.includes(MOVED));
});

clusterTest("while the object is silent nobody loses anything", options, async (cluster) => {
  const [laptop, somebody, phone] = await threeWait(cluster);
  const silence = { className: "GlobalAggregator", fail: "before" };
  await cluster.breakCalls(silence);
  assert.equal((await askAsApp(laptop, { act: "code" })).status, 503);
  await cluster.breakCalls();
  const code = await codeOf(laptop);
  await cluster.breakCalls(silence);
  assert.equal(await giveCode(phone, code), 503);
  await laptop.visit();
  await pass(cluster, MINUTE_MS + 5_000, [laptop, somebody, phone]);
  assert.ok(laptop.waiting && laptop.dueAt !== undefined);
  await cluster.breakCalls();
  const order = await entered(cluster, [laptop, somebody, phone], 3);
  assert.deepEqual(order, ["laptop", "else", "phone"]);
});

clusterTest("who has no place, or is inside, moves none", options, async (cluster) => {
  const inside = await visitorInside(cluster, door);
  const stranger = new Visitor(cluster, { name: "stranger", host: door.host });
  for (const visitor of [inside, stranger]) {
    for (const fields of [{ act: "code" }, { act: "take", code: "0000-0000" }, { act: "anew" }]) {
      const arrivals = (await cluster.arrivals()).length;
      assert.equal((await askAsApp(visitor, fields)).status, 409);
      assert.equal((await sendForm(visitor, fields)).status, 303);
      assert.equal((await cluster.arrivals()).length, arrivals, "a form reached the origin");
    }
  }
  await inside.visit();
  assert.ok(inside.inside);
});

const before = { entry: previousEntry() };

clusterTest(
  "beside the version before nobody loses the place",
  { ...options, overrides: { "ams-2": before } },
  async (cluster) => {
    const [laptop, somebody, phone] = await threeWait(cluster);
    await codeOf(laptop, { isolate: "ams-1" });
    for (const isolate of ["ams-2", "ams-1", "ams-2"]) {
      await laptop.visit({ isolate });
      assert.ok(laptop.waiting);
      await cluster.advance(1_000);
    }
    const order = await entered(cluster, [laptop, somebody, phone], 3);
    assert.deepEqual(order, ["laptop", "else", "phone"]);
  },
);
