/**
 * Copies of one waiting ticket: wherever and however often they are used, they take one place and
 * bring one session, and after it they are worth nothing.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, look } from "../harness/visitor.mjs";

const PLACES = 20;
/** A session and the bucket in which it counts, and the news of a renewal that did not come. */
const SESSION_MS = 65_000;
/** Reports, the sync under way and the next one. */
const SYNCED_MS = 5_000;
/** An isolate asks for so many copies of a ticket without an answer (docs/algorithm.md). */
const ASKED_MAX = 4;

const shop = room({ name: "shop", total_active_users: PLACES });
const TEN = ["AMS", "CDG", "FRA", "GRU", "HKG", "IAD", "JNB", "LAX", "NRT", "SYD"];

const tenCenters = {
  rooms: [shop],
  colos: Object.fromEntries(TEN.map((colo) => [colo, 1])),
};
const ten = "one waiting ticket in ten data centers takes one place and has one session";
clusterTest(ten, tenCenters, async (cluster) => {
  const cookie = await waitingTicket(cluster);
  const useAll = () => Promise.all(cluster.isolates.map(({ name }) => use(cluster, name, cookie)));
  assert.deepEqual(await useAll(), Array(TEN.length).fill("origin"));
  await cluster.advance(SYNCED_MS);
  assert.equal(await inside(cluster), 1);
  await cluster.advance(SESSION_MS);
  assert.equal(await inside(cluster), 0);

  // The room is empty, and its line has places for newcomers only.
  assert.deepEqual(await useAll(), Array(TEN.length).fill("queue"));
  await cluster.advance(SYNCED_MS);
  assert.equal(await inside(cluster), 0);
});

const many = "200 uses of one waiting ticket at once take one place";
clusterTest(many, { rooms: [shop], colos: { AMS: 4, NRT: 1 } }, async (cluster) => {
  const cookie = await waitingTicket(cluster);
  const near = cluster.isolates.filter(({ colo }) => colo === "AMS");
  const uses = Array.from({ length: 200 }, (_, index) => near[index % near.length].name);
  const seen = await Promise.all(uses.map((name) => use(cluster, name, cookie)));
  // An isolate asks for four of them before an answer; what comes meanwhile checks in again.
  const entered = seen.filter((kind) => kind === "origin").length;
  assert.ok(entered >= near.length * ASKED_MAX, `${entered} of ${seen.length}`);
  await cluster.advance(SYNCED_MS);
  const later = await Promise.all(near.map(({ name }) => use(cluster, name, cookie)));
  assert.deepEqual(new Set(later), new Set(["origin"]));
  assert.equal(await inside(cluster), 1);
});

/** The cookie of somebody who waited while the room was full; it is empty now. */
async function waitingTicket(cluster) {
  for (let number = 0; number < PLACES; number += 1) {
    const guest = new Visitor(cluster, { name: `guest ${number}`, host: shop.host });
    await guest.visit();
    assert.ok(guest.inside, `${number}`);
  }
  const waits = new Visitor(cluster, { name: "waits", host: shop.host });
  await waits.visit();
  assert.ok(waits.waiting);
  await cluster.advance(SESSION_MS);
  assert.equal(await inside(cluster), 0);
  return waits.cookies;
}

async function use(cluster, isolate, cookie) {
  const headers = { cookie, "x-visitor": "copy", accept: "text/html" };
  return (await look(cluster, isolate, { host: shop.host, path: "/", headers })).kind;
}

async function inside(cluster) {
  const { result } = await call(cluster, "GET", `${ROOMS}/${shop.id}/status`);
  return result.estimated_total_active_users;
}
