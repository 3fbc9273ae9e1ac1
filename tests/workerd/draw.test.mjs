/**
 * A draw can be verified: all isolates tell the same commitment before the start, a new ticket key
 * changes nothing of it, the start reveals the key, and everybody enters by the rank that anyone
 * can compute from it. It stands when its event is deleted.
 */

import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { drawnEvent } from "../harness/draw.mjs";
import { orderOfEntry } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";
import { look } from "../harness/visitor.mjs";

const MINUTE_MS = 60_000;
const COUNT = 6;
const NO_KEY = "0".repeat(64);
const OLD = "1".repeat(64);
const NEW = "2".repeat(64);
const JSON_ONLY = { headers: { accept: "application/json" } };

/** A shop of one place, whose prequeue has begun. */
function shopWithDraw() {
  return room({
    name: "shop",
    total_active_users: 1,
    json_response_enabled: true,
    show_position: true,
    events: [drawnEvent({ disable_session_renewal: true })],
  });
}

const told = async (visitor) => JSON.parse((await visitor.visit(JSON_ONLY)).body).cfWaitingRoom;

/** The event is scheduled when the test begins, not when this file is read. */
function drawTest(name, { deletes, plays = play, ...given }) {
  let shop;
  const options = {
    colos: { AMS: 2, NRT: 1 },
    vars: { TICKET_KEYS: OLD },
    get rooms() {
      shop = shopWithDraw();
      return [shop];
    },
    ...given,
  };
  clusterTest(name, options, (cluster) => plays(cluster, shop, deletes));
}

drawTest("a draw is committed to, revealed and kept to", {});
drawTest("whoever was drawn keeps place and receipt without the event", { deletes: true });
drawTest("a draw is committed to, revealed and kept to (glance off)", { glance: false });
drawTest("whoever was drawn can check the draw once the room rejects", { plays: turnAway });

async function arrived(cluster, { host }) {
  const crowd = new Crowd(cluster, { count: COUNT, host });
  for (const visitor of crowd.visitors) {
    await crowd.arriveOne(visitor);
    await crowd.wait(1_100);
  }
  return crowd;
}

async function turnAway(cluster, shop) {
  const crowd = await arrived(cluster, shop);
  const [{ event_start_time: start, id }] = shop.events;
  await crowd.wait(Date.parse(start) - cluster.clock.now() + 60_000);
  const [visitor] = crowd.waiting;
  const before = await told(visitor);
  assert.match(before.drawRank, /^[0-9a-f]{16}$/);
  const reject = { queueing_method: "reject" };
  await call(cluster, "PATCH", `${ROOMS}/${shop.id}/events/${id}`, reject);
  // A request shows an isolate that it must read the rooms anew.
  for (let passed = 0; passed < 6; passed += 1) {
    for (const { name } of cluster.isolates) await look(cluster, name, { host: shop.host });
    await cluster.advance(1_000);
  }
  const after = await told(visitor);
  assert.deepEqual([after.isRejectQueue, after.refreshIntervalSeconds], [true, 0]);
  for (const key of ["drawCommitment", "drawLot", "drawKey", "drawRank", "reference"]) {
    assert.equal(after[key], before[key], key);
  }
}

async function play(cluster, shop, deletes) {
  const crowd = await arrived(cluster, shop);
  const before = [];
  for (const visitor of crowd.visitors) before.push(await told(visitor));
  const commitments = new Set(before.map(({ drawCommitment }) => drawCommitment));
  assert.equal(commitments.size, 1);
  assert.match([...commitments][0], /^[0-9a-f]{64}$/);
  assert.equal(new Set(before.map(({ drawLot }) => drawLot)).size, COUNT);
  for (const { drawKey, drawRank, peopleAhead } of before) {
    assert.deepEqual([drawKey, drawRank, peopleAhead], [undefined, undefined, undefined]);
  }

  // The keys rotate in the middle of the prequeue, by the steps of `npm run rotate-keys`.
  for (const keys of [`${OLD},opens:${NEW}`, `${NEW},${OLD}`]) {
    await cluster.restart({ vars: { TICKET_KEYS: keys } });
    assert.ok(commitments.has((await told(crowd.visitors[0])).drawCommitment), keys);
  }
  const [{ event_start_time: start, id }] = shop.events;
  await crowd.wait(Date.parse(start) - cluster.clock.now() + 1_000);
  if (deletes) {
    await call(cluster, "DELETE", `${ROOMS}/${shop.id}/events/${id}`);
    await crowd.wait(10_000);
    await cluster.killObjects();
    await cluster.loseCopies();
  }
  const after = [];
  for (const visitor of crowd.visitors) after.push(await told(visitor));
  const ranks = [];
  for (const [at, visitor] of crowd.visitors.entries()) {
    // Whoever has entered meanwhile has no page any more.
    const { drawCommitment, drawLot, drawKey, drawRank } = after[at] ?? {};
    if (drawKey === undefined) continue;
    assert.deepEqual([drawCommitment, drawLot], [before[at].drawCommitment, before[at].drawLot]);
    assert.notEqual(drawKey, NO_KEY, "a key that everybody could guess");
    const key = Buffer.from(drawKey, "hex");
    assert.equal(createHash("sha256").update(key).digest("hex"), drawCommitment);
    const mac = createHmac("sha256", key).update(Buffer.from(drawLot, "hex")).digest("hex");
    assert.equal(drawRank, mac.slice(0, 16));
    ranks.push([visitor.name, drawRank]);
  }
  assert.ok(ranks.length >= COUNT - 1);
  await crowd.wait(COUNT * 1.5 * MINUTE_MS, () => crowd.waiting.length === 0);
  const byRank = ranks.sort(([, one], [, other]) => (one < other ? -1 : 1)).map(([name]) => name);
  const entered = orderOfEntry(await cluster.arrivals());
  assert.deepEqual(entered.slice(-byRank.length), byRank);
}
