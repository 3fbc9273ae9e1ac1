/**
 * Threat 23, forcing a failure: a Cache API that hangs, rejects or throws, from the start or later,
 * closes nothing and opens nothing. Nobody whom no room covers and nobody inside waits for it.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, look } from "../harness/visitor.mjs";

/** After this time, by the clock of the test, a visit looks for a newer configuration first. */
const STALE_MS = 5_000;
/** How long the Worker waits for a copy, see `src/copies.rs`. */
const COPY_LIMIT_MS = 300;
const LOOKS = 6;

const shop = room({ name: "shop", total_active_users: 1 });
const FAULTS = ["open", "match", "put"].flatMap((method) =>
  ["hang", "reject", "throw"].map((how) => ({ method, how })),
);
const [ams, nrt] = [{ isolate: "ams-1" }, { isolate: "nrt-1" }];

for (const { method, how } of FAULTS) {
  const options = { rooms: [shop], colos: { AMS: 1, NRT: 1 }, platformCache: true };
  const broken = { ...options, vars: { CACHE_FAULT: `${method} ${how}` } };
  clusterTest(`row 23: ${method} ${how}s from the start`, broken, async (cluster) => {
    await keepsServing(cluster, await everybody(cluster));
  });

  clusterTest(`row 23: ${method} ${how}s later, and works again`, options, async (cluster) => {
    const visitors = await everybody(cluster);
    await cluster.breakCaches({ method, how });
    await keepsServing(cluster, visitors);
    await cluster.breakCaches({});
    await keepsServing(cluster, visitors);
  });
}

/** Makes one visitor who is inside and one who waits. */
async function everybody(cluster) {
  const inside = new Visitor(cluster, { name: "inside", host: shop.host });
  await inside.visit(ams);
  assert.ok(inside.inside, "nobody was let into an empty room");
  const waiting = new Visitor(cluster, { name: "waiting", host: shop.host });
  await waiting.visit(nrt);
  assert.ok(waiting.waiting, "a full room let somebody in");
  return { inside, waiting };
}

async function keepsServing(cluster, { inside, waiting }) {
  const tookMs = [];
  for (let at = 0; at < LOOKS; at += 1) {
    await cluster.advance(STALE_MS);
    const { isolate } = at % 2 ? ams : nrt;
    const uncovered = { host: "elsewhere.example", path: "/", headers: {} };
    const began = cluster.clock.now();
    assert.equal((await look(cluster, isolate, uncovered)).kind, "origin");
    await inside.visit({ isolate });
    assert.ok(inside.inside, "somebody who is inside did not reach the origin");
    tookMs.push(cluster.clock.now() - began);
    await waiting.visit({ isolate });
    assert.ok(waiting.waiting, "the line opened, or its page was not the queue page");
  }
  // Each isolate may wait once, for the copy by which it learns that the cache does not answer.
  const waited = tookMs.filter((ms) => ms >= COPY_LIMIT_MS).length;
  assert.ok(waited <= 2, `${tookMs.map(Math.round)} ms`);
}
