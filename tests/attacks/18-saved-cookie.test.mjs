/**
 * Threat 18, replay: a queued cookie that was saved before its visitor entered gives no second
 * session, in no data center, and nobody in line waits longer for it.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, look, visitorInside } from "../harness/visitor.mjs";

const SESSION_MS = 60_000;
const STEP_MS = 5_000;
const shop = room({ name: "shop", total_active_users: 1 });
const options = { rooms: [shop], colos: { AMS: 1, NRT: 1 } };

clusterTest("row 18: a saved cookie of the line gives one session", options, async (cluster) => {
  await visitorInside(cluster, shop);
  await cluster.advance(3_000);
  const attacker = new Visitor(cluster, { name: "attacker", host: shop.host });
  const honest = new Visitor(cluster, { name: "honest", host: shop.host });
  assert.equal((await attacker.visit()).kind, "queue");
  await cluster.advance(1_000);
  assert.equal((await honest.visit()).kind, "queue");
  const saved = attacker.cookies;

  const began = cluster.clock.now();
  const served = [];
  let enteredAt;
  while (cluster.clock.now() - began < 6 * SESSION_MS && enteredAt === undefined) {
    for (const { name } of cluster.isolates) {
      const headers = { cookie: saved, accept: "text/html", "x-visitor": "attacker" };
      const { kind } = await look(cluster, name, { host: shop.host, path: "/", headers });
      if (kind === "origin") served.push(cluster.clock.now());
    }
    if (honest.dueAt <= cluster.clock.now()) await honest.visit();
    if (honest.inside) enteredAt = cluster.clock.now();
    await cluster.advance(STEP_MS, 1_000);
  }
  assert.ok(served.length > 0, "the attacker never entered");
  const lasted = served.at(-1) - served[0];
  assert.ok(lasted <= SESSION_MS + STEP_MS, `served for ${lasted / 1_000} s`);
  // The first session, what the attacker could use of one, and a session without a renewal.
  const waited = (enteredAt ?? Infinity) - began;
  assert.ok(waited <= 4 * SESSION_MS, `the honest visitor waited ${waited / 1_000} s`);
});
