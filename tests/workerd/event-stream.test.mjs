/**
 * An event stream tells a visitor near the head when the turn has come, sooner than the next
 * refresh would, and does nothing else: it admits nobody, sets no cookie, calls no object, and is
 * held open for few and not for long.
 */

import assert from "node:assert/strict";

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { Crowd, inParallel } from "../harness/crowd.mjs";
import { RARE_CHECK_INS, room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

/** One place. Check-ins are so rare that a turn comes long before one. */
const shop = room({
  name: "shop",
  total_active_users: 1,
  ...RARE_CHECK_INS,
  event_stream_enabled: true,
  json_response_enabled: true,
  show_position: true,
});
/** Enough places at once that hundreds of visitors are near the head. */
const big = {
  ...shop,
  id: "b".repeat(32),
  name: "big",
  host: "big.example",
  total_active_users: 200,
  new_users_per_minute: 200,
};
const many = { rooms: [big], colos: { AMS: 1 } };
const one = { rooms: [shop], colos: { AMS: 1 } };
const LIFE_MS = 60_000;
const STREAMS_MAX = 500;
const STREAMS_PER_TICKET_MAX = 4;

/** Somebody is inside for a minute, and so many wait, in this order. */
async function lineOf(cluster, count) {
  await visitorInside(cluster, shop);
  await cluster.advance(20_000);
  const line = [];
  for (let place = 0; place < count; place += 1) {
    const visitor = new Visitor(cluster, { name: `visitor-${place + 1}`, host: shop.host });
    assert.equal((await visitor.visit()).kind, "queue");
    line.push(visitor);
    await cluster.advance(1_000);
  }
  return line;
}

/** The big room is full, and so many wait near its head. */
async function crowdNear(cluster, count) {
  const inside = new Crowd(cluster, { count: 200, host: big.host, label: "inside" });
  await inside.arrive();
  await cluster.advance(20_000);
  const waiting = new Crowd(cluster, { count, host: big.host, label: "waiting" });
  await waiting.arrive();
  await cluster.advance(3_000);
  assert.equal(waiting.waiting.length, count);
  return waiting.visitors;
}

clusterTestBothWays("a turn is told before the refresh is due", one, async (cluster) => {
  const [first, second] = await lineOf(cluster, 2);
  const stream = await first.listen();
  assert.equal(stream.status, 200);
  assert.equal(stream.headers["content-type"], "text/event-stream; charset=utf-8");
  assert.equal(stream.headers["cache-control"], "private, no-store");
  assert.equal(stream.headers["set-cookie"], undefined);

  while (!stream.ended && cluster.clock.now() < first.dueAt) await cluster.advance(500);
  assert.equal(stream.of("turn").length, 1, "the turn was not told before the refresh");
  assert.ok(stream.of("estimate").length >= 1);
  assert.equal((await cluster.arrivals()).length, 1, "a stream admitted somebody");

  // Whoever reloads without being called gains nothing; the one who was told enters.
  assert.equal((await second.visit()).headers["set-cookie"], undefined);
  assert.equal((await first.visit()).kind, "origin");
  // And is not counted among those who wait for as long as the page had promised.
  const next = await second.listen();
  await cluster.advance(LIFE_MS / 2);
  assert.equal((await first.visit()).kind, "origin", "the session goes on");
  assert.equal(next.of("turn").length, 0, "two at once in one place");
});

clusterTest("whoever is far back is told once, and to ask again later", one, async (cluster) => {
  const line = await lineOf(cluster, 3);
  await cluster.advance(12_000);
  const streams = await Promise.all(line.map((visitor) => visitor.listen()));
  await cluster.advance(3_000);
  assert.deepEqual(streams.map(({ ended }) => ended), [false, true, true]);
  const told = streams.map(({ events, retryMs }) => {
    // The first word may come from a view that was made before they came.
    const { kind, data } = events.at(-1);
    return [kind, data.cfWaitingRoom.inWaitingRoom, data.cfWaitingRoom.peopleAhead, retryMs];
  });
  assert.deepEqual(told, [0, 1, 2].map((ahead) => ["estimate", true, ahead, 300_000]));
  // The page says to whom a stream is worth the trouble.
  const json = { headers: { accept: "application/json" } };
  const offered = await Promise.all(line.map((visitor) => visitor.visit(json)));
  const isOffered = ({ body }) => JSON.parse(body).cfWaitingRoom.eventStream === true;
  assert.deepEqual(offered.map(isOffered), [true, false, false]);
  streams.forEach((stream) => stream.close());
});

clusterTest("who does not wait gets no stream from us", one, async (cluster) => {
  const [waiting] = await lineOf(cluster, 1);
  const headers = { accept: "text/event-stream" };
  const stranger = new Visitor(cluster, { name: "stranger", host: shop.host });
  const answer = await stranger.visit({ headers });
  assert.equal(answer.kind, "queue", "a newcomer's request is a visit");
  const both = await waiting.visit({ headers: { accept: "text/event-stream, text/html" } });
  assert.match(both.headers["content-type"], /^text\/html/);
  const posted = await waiting.visit({ headers, method: "POST" });
  assert.match(posted.headers["content-type"], /^text\/html/);
});

clusterTest("streams end by themselves and are few", many, async (cluster) => {
  const [first, ...line] = await crowdNear(cluster, 1 + STREAMS_MAX / STREAMS_PER_TICKET_MAX);
  const streams = [];
  await inParallel([...Array(STREAMS_MAX).keys()], 50, async (at) => {
    streams.push(await line[at % line.length].listen());
  });
  const open = () => streams.filter(({ ended }) => !ended).length;
  await cluster.advance(1_500);
  assert.equal(open(), STREAMS_MAX);
  const beyond = await first.listen();
  await cluster.advance(1_000);
  assert.ok(beyond.ended, "more streams than allowed");
  assert.equal(beyond.of("estimate").length, 1);

  // Their visitors go without a word: others take their places.
  streams.forEach((stream) => stream.close());
  await cluster.advance(15_000);
  const after = await first.listen();
  await cluster.advance(3_000);
  assert.ok(!after.ended, "streams that are gone keep their places");
  await cluster.advance(LIFE_MS);
  assert.ok(after.ended, "a stream has no end");
});

clusterTest("ten times the streams make no more calls", many, async (cluster) => {
  const line = await crowdNear(cluster, 30);
  await cluster.advance(5_000);
  const callsWith = async (count) => {
    const streams = await Promise.all(line.slice(0, count).map((one) => one.listen()));
    const before = await cluster.allCalls();
    await cluster.advance(8_000);
    const calls = (await cluster.allCalls()) - before;
    assert.ok(streams.every(({ ended }) => !ended));
    streams.forEach((stream) => stream.close());
    return calls;
  };
  const few = await callsWith(3);
  const many = await callsWith(30);
  assert.ok(few > 0, "nobody keeps the view fresh");
  assert.ok(many <= few * 2, `${few} calls, then ${many}`);
});
