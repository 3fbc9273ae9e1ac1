/**
 * A site whose hosts have no Cache API, as behind Cloudflare Access: each of its isolates asks the
 * registry itself. Two hundred of them ask so seldom that it can answer thousands, and what the
 * owner changes counts in all of them all the same.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { look } from "../harness/visitor.mjs";

const ISOLATES = 200;
const SECONDS = 24;
/** A request to each of them every so often, in milliseconds. */
const EVERY_MS = 1_000;
/** How many requests are under way at once. */
const AT_ONCE = 25;
/** What each asks in a second at most (`room-core/src/machines/freshness.rs`). */
const ASKED_PER_S = 0.25;
/** After this time a change counts, in milliseconds. */
const IN_FORCE_MS = 5_000;

const LIMITS = { total_active_users: 10, new_users_per_minute: 10 };
const shop = room({ name: "shop" });
const SALE = { name: "sale", host: "sale.example", queue_all: true, ...LIMITS };
const elsewhere = { host: SALE.host, path: "/", headers: {} };
const options = { rooms: [shop], colos: { AMS: ISOLATES }, vars: { CACHE_FAULT: "match lose" } };

clusterTest("two hundred isolates without a cache", options, async (cluster) => {
  await everybody(cluster);
  const [before, began] = [await registryCalls(cluster), cluster.clock.now()];
  for (let ms = 0; ms < SECONDS * 1_000; ms += EVERY_MS) {
    await cluster.advance(EVERY_MS);
    await everybody(cluster);
  }
  // The clock goes on between the steps too.
  const seconds = (cluster.clock.now() - began) / 1_000;
  const asked = ((await registryCalls(cluster)) - before) / seconds / ISOLATES;
  assert.ok(asked > 0 && asked <= ASKED_PER_S, `${asked} questions a second from each`);

  await call(cluster, "POST", ROOMS, SALE);
  for (let ms = 0; ms < IN_FORCE_MS; ms += EVERY_MS) {
    await cluster.advance(EVERY_MS);
    await everybody(cluster);
  }
  const kinds = await everybody(cluster);
  assert.deepEqual([...new Set(kinds)], ["queue"], "a change does not count everywhere");
});

/** Visits every isolate once, and returns what each answered. */
async function everybody(cluster) {
  const kinds = [];
  for (let at = 0; at < ISOLATES; at += AT_ONCE) {
    const some = cluster.isolates.slice(at, at + AT_ONCE);
    const answers = await Promise.all(some.map(({ name }) => look(cluster, name, elsewhere)));
    kinds.push(...answers.map(({ kind }) => kind));
  }
  return kinds;
}

async function registryCalls(cluster) {
  const { calls } = await cluster.door();
  const named = Object.entries(calls).filter(([name]) => name.startsWith("Registry "));
  return named.reduce((all, [, count]) => all + count, 0);
}
