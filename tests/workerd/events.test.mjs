/**
 * Events begin and end at their very moment, everywhere and without any call: the prequeue holds
 * whoever comes, the start lets them in by their order up to the event's limits, and the end brings
 * the room's own limits back and throws nobody out.
 */

import assert from "node:assert/strict";

import { ROOMS, call, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { orderOfEntry } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, asRead, look } from "../harness/visitor.mjs";

const MINUTE_MS = 60_000;
const SESSION_MS = MINUTE_MS;
const BROWSE_MS = 15_000;
/** A census, a view of 2 s, and the refresh of a visitor far behind. */
const NOTICED_MS = 30_000;
const COUNTS_AFTER_MS = 5_000;
const PAGE = "<p>{{isEventActive}} {{isEventPrequeueing}} {{timeUntilEventStart}}</p>";

/** An event whose moments are so many milliseconds from now. */
function eventOf({ prequeueIn, startIn, endIn, ...fields }) {
  const text = (ms) => new Date(Date.now() + ms).toISOString();
  return {
    name: "sale",
    prequeue_start_time: prequeueIn === undefined ? null : text(prequeueIn),
    event_start_time: text(startIn),
    event_end_time: text(endIn),
    ...fields,
  };
}

/** The shop of two places, with its event. */
function shopWith(event) {
  const id = "e".repeat(32);
  return room({ name: "shop", total_active_users: 2, events: [{ id, ...eventOf(event) }] });
}

/**
 * A test of the shop, whose event is scheduled when the test begins and not when this file is read:
 * the tests before it take minutes.
 *
 * @param {string} name
 * @param {object} event as `eventOf` takes it
 * @param {object} options of `startCluster`
 * @param {(cluster: object, shop: object) => Promise<void>} body
 */
function eventTest(name, event, options, body) {
  let shop;
  const scheduled = {
    ...options,
    get rooms() {
      shop = shopWith(event);
      return [shop];
    },
  };
  clusterTest(name, scheduled, (cluster) => body(cluster, shop));
}

/** The same test as the Worker runs, and with `glance` switched off. */
function eventTestBothWays(name, event, options, body) {
  eventTest(name, event, options, body);
  eventTest(`${name} (glance off)`, event, { ...options, glance: false }, body);
}

/** Lets the clock of the cluster reach `moment` while the crowd does what its pages say. */
const reach = (cluster, crowd, moment) => crowd.wait(Date.parse(moment) - cluster.clock.now());

/** Who was at the origin before `moment`: a visit of the last step may be answered after it. */
async function enteredBefore(cluster, moment) {
  const arrivals = await cluster.arrivals();
  return orderOfEntry(arrivals.filter(({ at }) => at < Date.parse(moment)));
}

const everywhere = { colos: { AMS: 2, NRT: 2 } };
const whole = {
  prequeueIn: MINUTE_MS,
  startIn: 6.5 * MINUTE_MS,
  endIn: 9 * MINUTE_MS,
  total_active_users: 6,
  new_users_per_minute: 6,
  custom_page_html: PAGE,
};

const story = "an event from its prequeue to after its end";
eventTestBothWays(story, whole, everywhere, async (cluster, shop) => {
  const [event] = shop.events;
  const crowd = new Crowd(cluster, { count: 9, host: shop.host, browseMs: BROWSE_MS });
  const [guest, ...line] = crowd.visitors;
  await crowd.arriveOne(guest);
  assert.ok(guest.inside);

  await reach(cluster, crowd, event.prequeue_start_time);
  for (const visitor of line) {
    await crowd.arriveOne(visitor);
    await crowd.wait(1_500);
  }
  assert.deepEqual(crowd.inside, [guest], "somebody entered in the prequeue");
  const { body, refreshS } = await line[0].visit();
  assert.match(body, /^<p>true true [56]<\/p>$/);
  assert.ok(refreshS > 0);
  await reach(cluster, crowd, event.event_start_time);
  assert.deepEqual(await enteredBefore(cluster, event.event_start_time), [guest.name]);

  await crowd.wait(NOTICED_MS);
  const names = crowd.visitors.map(({ name }) => name);
  // Five places come free at once, so those five may enter in any order.
  assert.deepEqual(orderOfEntry(await cluster.arrivals()).sort(), names.slice(0, 6));
  const waiting = crowd.waiting[0];
  assert.match((await waiting.visit()).body, /^<p>true false 0<\/p>$/);

  await reach(cluster, crowd, event.event_end_time);
  await crowd.wait(NOTICED_MS);
  assert.equal(crowd.inside.length, 6, "somebody was thrown out or let in");
  assert.match((await waiting.visit()).body, /You are in line/);
  // Five of the six leave: the room has two places again, and one of them is taken.
  for (const visitor of crowd.inside.slice(1)) visitor.dueAt = undefined;
  await crowd.wait(SESSION_MS + NOTICED_MS);
  // Which of those in line it is, is up to the tests of the order.
  const entered = orderOfEntry(await cluster.arrivals());
  assert.deepEqual(entered.slice(0, 6).sort(), names.slice(0, 6));
  assert.equal(entered.length, 7);
});

const lots = {
  prequeueIn: -4 * MINUTE_MS,
  startIn: 2 * MINUTE_MS,
  endIn: 9 * MINUTE_MS,
  total_active_users: 6,
  new_users_per_minute: 6,
  shuffle_at_event_start: true,
};

eventTestBothWays("lots are drawn at the start", lots, everywhere, async (cluster, shop) => {
  const [event] = shop.events;
  const early = new Crowd(cluster, { count: 14, host: shop.host, label: "early" });
  for (const visitor of early.visitors) {
    await early.arriveOne(visitor);
    await early.wait(1_500);
  }
  const { body } = await early.visitors[0].visit();
  assert.match(body, /gets a place at random/);
  await reach(cluster, early, event.event_start_time);
  assert.deepEqual(await enteredBefore(cluster, event.event_start_time), []);
  const late = new Crowd(cluster, { count: 2, host: shop.host, label: "late" });
  await late.arrive();

  const all = new Crowd(cluster, { count: 0, host: shop.host });
  all.visitors = [...early.visitors, ...late.visitors];
  await all.wait(NOTICED_MS);
  const first = orderOfEntry(await cluster.arrivals());
  const inOrder = early.visitors.slice(0, 6).map(({ name }) => name);
  assert.equal(first.length, 6);
  // By chance once in 3,003 draws.
  assert.notDeepEqual([...first].sort(), [...inOrder].sort(), "the first six came first");
  await all.wait(SESSION_MS + NOTICED_MS);
  const next = orderOfEntry(await cluster.arrivals()).slice(0, 12);
  assert.equal(next.length, 12);
  assert.ok(next.every((name) => name.startsWith("early")), `${next}`);
});

const held = { prequeueIn: -MINUTE_MS, startIn: 5 * MINUTE_MS, endIn: 10 * MINUTE_MS };

eventTestBothWays(
  "whoever waits for the start and is not due calls no object",
  held,
  { colos: { AMS: 1 } },
  async (cluster, { host }) => {
    const early = new Visitor(cluster, { name: "early", host });
    const first = await early.visit();
    assert.match(first.body, /It has not started yet/);
    assert.match(first.body, /Starts in<\/span> <strong>5 minutes/);
    await cluster.advance(1_000);
    const before = await cluster.allCalls();
    for (let request = 0; request < 100; request += 1) {
      assert.equal((await early.visit()).kind, "queue");
    }
    // A sync of 2 s and a report may fall into this moment; see object-calls.test.mjs.
    const calls = (await cluster.allCalls()) - before;
    assert.ok(calls <= 6, `${calls} object calls`);
  },
);

const night = { startIn: MINUTE_MS, endIn: 4 * MINUTE_MS, queue_all: true };

const ends = "an event that holds everybody ends by itself";
eventTest(ends, night, everywhere, async (cluster, shop) => {
  const [event] = shop.events;
  const crowd = new Crowd(cluster, { count: 2, host: shop.host, browseMs: BROWSE_MS });
  const [guest, late] = crowd.visitors;
  await crowd.arriveOne(guest);
  await reach(cluster, crowd, event.event_start_time);
  await crowd.arriveOne(late);
  await crowd.wait(NOTICED_MS);
  assert.deepEqual(crowd.inside, [guest], "somebody entered, or who was inside was put out");
  const { result } = await call(cluster, "GET", `${ROOMS}/${shop.id}/status`);
  const until = new Date(event.event_end_time).toISOString();
  assert.deepEqual([result.held_by, result.held_until], ["event", until]);
  await reach(cluster, crowd, event.event_end_time);
  assert.deepEqual(await enteredBefore(cluster, event.event_end_time), [guest.name]);
  await crowd.wait(NOTICED_MS);
  assert.deepEqual(crowd.inside, [guest, late]);
});

const drained = { prequeueIn: MINUTE_MS, startIn: 6.5 * MINUTE_MS, endIn: 9 * MINUTE_MS };

const empty = "a room drained in its prequeue starts empty, and nobody in line loses the place";
eventTest(empty, drained, everywhere, async (cluster, shop) => {
  const [event] = shop.events;
  const crowd = new Crowd(cluster, { count: 4, host: shop.host, browseMs: BROWSE_MS });
  const [guests, line] = [crowd.visitors.slice(0, 2), crowd.visitors.slice(2)];
  for (const guest of guests) await crowd.arriveOne(guest);
  await reach(cluster, crowd, event.prequeue_start_time);
  for (const visitor of line) {
    await crowd.arriveOne(visitor);
    await crowd.wait(1_500);
  }
  await crowd.wait(SESSION_MS + NOTICED_MS);
  assert.deepEqual(crowd.inside, guests, "the prequeue put somebody out");
  const maintain = (maintenance) =>
    call(cluster, "PATCH", `${ROOMS}/${shop.id}`, { maintenance });
  await maintain("drain");
  await crowd.wait(SESSION_MS + NOTICED_MS);
  assert.deepEqual(crowd.inside, []);
  await maintain("off");
  await reach(cluster, crowd, event.event_start_time);
  assert.deepEqual(crowd.inside, [], "somebody entered in the prequeue");
  await crowd.wait(NOTICED_MS);
  assert.deepEqual(crowd.inside, line);
});

for (const copies of ["kept", "lost"]) {
  eventTest(
    `everything restarts in a prequeue, copies ${copies}, and nobody loses the place`,
    held,
    everywhere,
    async (cluster, { host, events: [event] }) => {
      const crowd = new Crowd(cluster, { count: 5, host });
      for (const visitor of crowd.visitors) {
        await crowd.arriveOne(visitor);
        await crowd.wait(2_000);
      }
      await crowd.wait(20_000);
      await cluster.restart({}, copies);
      await cluster.killObjects();
      assert.equal(crowd.inside.length, 0);
      await reach(cluster, crowd, event.event_start_time);
      assert.deepEqual(await enteredBefore(cluster, event.event_start_time), []);
      const everybody = () => crowd.inside.length === crowd.visitors.length;
      await crowd.wait(4 * (SESSION_MS + NOTICED_MS), everybody);
      const names = crowd.visitors.map(({ name }) => name);
      const order = orderOfEntry(await cluster.arrivals());
      // Two places are free at the start, so the first two may enter in any order.
      assert.deepEqual(order.slice(0, 2).sort(), names.slice(0, 2));
      assert.deepEqual([...order].sort(), names);
    },
  );
}

const plain = room({ name: "plain", total_active_users: 100 });

/** So much later than at the start of the cluster: syncs and looks at the configuration differ. */
for (const laterMs of [0, 800, 1_600, 2_400]) {
  clusterTest(
    `an event made over the API counts on every isolate within 5 s, ${laterMs} ms later`,
    { rooms: [plain], ...everywhere },
    (cluster) => madeOverTheApi(cluster, laterMs),
  );
}

async function madeOverTheApi(cluster, laterMs) {
  const path = `${ROOMS}/${plain.id}/events`;
  const seen = async () => {
    const kinds = [];
    for (const { name } of cluster.isolates) {
      kinds.push((await look(cluster, name, { host: plain.host })).kind);
    }
    return kinds;
  };
  const all = (kind) => cluster.isolates.map(() => kind);
  assert.deepEqual(await seen(), all("origin"));
  const event = eventOf({
    prequeueIn: -MINUTE_MS,
    startIn: 20 * MINUTE_MS,
    endIn: 30 * MINUTE_MS,
  });
  const { id } = (await call(cluster, "POST", path, event)).result;
  await pass(cluster);
  assert.deepEqual(await seen(), all("queue"));
  await cluster.advance(laterMs);
  const { result } = await call(cluster, "GET", `${ROOMS}/${plain.id}/status`);
  assert.deepEqual([result.status, result.event_id], ["event_prequeueing", id]);
  await call(cluster, "PATCH", `${path}/${id}`, { suspended: true });
  await pass(cluster);
  assert.deepEqual(await seen(), all("origin"));
  await call(cluster, "PATCH", `${path}/${id}`, { suspended: false });
  await pass(cluster);
  assert.deepEqual(await seen(), all("queue"));
  await call(cluster, "DELETE", `${path}/${id}`);
  await pass(cluster);
  assert.deepEqual(await seen(), all("origin"));
}

clusterTest(
  "the page shows the event, and news reach everybody who waits within 5 s",
  { rooms: [plain], ...everywhere },
  async (cluster) => {
    const path = `${ROOMS}/${plain.id}`;
    const times = { prequeueIn: -MINUTE_MS, startIn: 20 * MINUTE_MS, endIn: 30 * MINUTE_MS };
    const event = eventOf({ ...times, name: "spring_sale", shuffle_at_event_start: true });
    const made = (await call(cluster, "POST", `${path}/events`, event)).result;
    const { id, draw_commitment: commitment } = made;
    await pass(cluster);
    await publishes(cluster, path, { id, commitment });
    const waiting = new Visitor(cluster, { name: "waiting", host: plain.host });
    const pages = async () => {
      const all = [];
      for (const { name } of cluster.isolates) {
        all.push((await waiting.visit({ isolate: name })).body);
      }
      return all;
    };
    for (const page of await pages()) {
      assert.match(page, />spring sale</);
      assert.doesNotMatch(page, /Your place is kept\.<|They hold your place|You are in line/);
    }
    const inGerman = { headers: { "accept-language": "de", "sec-fetch-mode": "navigate" } };
    const news = { page_message: "Doors open <b>early</b> [de] Einlass [b] jetzt [fr] Entrée" };
    await call(cluster, "PATCH", path, news);
    const named = { page_event_name: "Frühling", page_name: "The sale" };
    await call(cluster, "PATCH", `${path}/events/${id}`, named);
    await pass(cluster);
    for (const page of await pages()) {
      assert.match(page, /dir="auto">Doors open &lt;b&gt;early&lt;\/b&gt;</);
      assert.match(asRead(page), />Frühling</);
      assert.match(page, />The sale</);
    }
    assert.match((await waiting.visit(inGerman)).body, /dir="auto">Einlass \[b\] jetzt</);
    // The event's own counts, and an empty one is none.
    await call(cluster, "PATCH", `${path}/events/${id}`, { page_message: "" });
    await pass(cluster);
    for (const page of await pages()) assert.doesNotMatch(page, /Doors open/);
    const wrong = { page_message: "two\nlines" };
    const { errors } = await refused(cluster, 400, "PATCH", `${path}/events/${id}`, wrong);
    assert.deepEqual(errors.map(({ source }) => source.pointer), ["/page_message"]);
  },
);

/** The API tells what every page of the room tells, from the moment the event is made. */
async function publishes(cluster, path, { id, commitment }) {
  const isolate = cluster.isolates[0].name;
  const asJson = { accept: "application/json" };
  const page = { host: plain.host, path: "/?waiting-room-draw", headers: asJson };
  const { draws } = JSON.parse((await look(cluster, isolate, page)).body);
  assert.match(commitment, /^[0-9a-f]{64}$/);
  assert.deepEqual(draws.map((draw) => draw.commitment), [commitment]);
  const read = async (rest) => (await call(cluster, "GET", `${path}/events${rest}`)).result;
  const told = [(await read(""))[0], await read(`/${id}`), await read(`/${id}/details`)];
  assert.deepEqual(told.map((event) => event.draw_commitment), Array(3).fill(commitment));
  const sent = { draw_commitment: "0".repeat(64) };
  const kept = (await call(cluster, "PATCH", `${path}/events/${id}`, sent)).result;
  assert.equal(kept.draw_commitment, commitment, "it was written");
  const moved = { event_start_time: new Date(cluster.clock.now() + 21 * MINUTE_MS) };
  const { result } = await call(cluster, "PATCH", `${path}/events/${id}`, moved);
  assert.notEqual(result.draw_commitment, commitment, "one draw stands for another");
}

/** Time passes while every isolate has a visitor now and then, who is covered by no room. */
async function pass(cluster) {
  for (let passed = 0; passed < COUNTS_AFTER_MS; passed += 1_000) {
    for (const { name } of cluster.isolates) await look(cluster, name, { host: "other.example" });
    await cluster.advance(1_000);
  }
}
