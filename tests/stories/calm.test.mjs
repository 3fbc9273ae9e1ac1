/**
 * A room far from its limits lets its objects sleep, a rush wakes them, and no limit is passed on
 * the way: also where isolates, objects or all of them end meanwhile.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostEnteredInAMinute, mostInside } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const LIMIT = 200;
const FEW = 30;
const SESSION_MINUTES = 3;
const SESSION_MS = SESSION_MINUTES * 60_000;
/** How often each visitor inside looks at a page, in milliseconds. */
const BROWSE_MS = 10_000;
/** A room is calm a minute after its first visitors, who came in a rush. */
const FALLS_ASLEEP_MS = 110_000;
const LOOKS_MS = 60_000;
const WORKS_ON_MS = 30_000;
/** Calls of the room's objects for each page view of somebody inside. */
const CALLS_PER_VIEW_MAX = 0.2;
/** So many of all places may stay free after a calm time, since visitors may be uncounted. */
const RESERVED = LIMIT / 200;
/** Until every slot of a calm room has come back: a lease of 49 s, and its write-off. */
const RETURNED_MS = 75_000;

const shop = room({
  name: "shop",
  total_active_users: LIMIT,
  new_users_per_minute: LIMIT,
  session_duration: SESSION_MINUTES,
});
const world = { rooms: [shop], colos: { AMS: 2, NRT: 2, IAD: 1 } };

/** A few visitors are inside for so long that the room is calm. */
async function asleep(cluster) {
  const options = { count: FEW, host: shop.host, label: "few", browseMs: BROWSE_MS };
  const few = new Crowd(cluster, options);
  await few.arrive();
  await few.wait(FALLS_ASLEEP_MS);
  assert.equal(few.inside.length, FEW);
  return few;
}

/** Far more come at once than there are places for, and stay. */
async function rush(cluster, few) {
  const many = new Crowd(cluster, { count: 2 * LIMIT, host: shop.host, browseMs: BROWSE_MS });
  await many.arrive();
  many.visitors.push(...few.visitors);
  await many.wait(RETURNED_MS);
  const arrivals = await cluster.arrivals();
  assert.ok(mostInside(arrivals, SESSION_MS) <= LIMIT, `${mostInside(arrivals, SESSION_MS)}`);
  assert.ok(mostEnteredInAMinute(arrivals, SESSION_MS) <= LIMIT);
  return many;
}

clusterTest("in a calm room a page view hardly calls", world, async (cluster) => {
  const few = await asleep(cluster);
  const calls = await cluster.allCalls(shop);
  const views = (await cluster.arrivals()).length;
  await few.wait(LOOKS_MS);
  const perView =
    ((await cluster.allCalls(shop)) - calls) / ((await cluster.arrivals()).length - views);
  assert.ok(perView > 0, "nobody reported");
  assert.ok(perView <= CALLS_PER_VIEW_MAX, `${perView} calls for each page view`);
  assert.equal(few.inside.length, FEW);
});

clusterTest("in a calm room reports wait for no later visitor", world, async (cluster) => {
  const few = await asleep(cluster);
  await few.wait(BROWSE_MS * 1.5);
  const reports = await cluster.calls("DataCenterAggregator", shop);
  // Nobody comes any more: the last requests work on for up to 24 s.
  await cluster.advance(WORKS_ON_MS);
  assert.ok((await cluster.calls("DataCenterAggregator", shop)) > reports, "nothing was reported");
  assert.equal(cluster.log.count("a report failed"), 0);
});

clusterTest("a rush into a calm room fills its places and no more", world, async (cluster) => {
  const many = await rush(cluster, await asleep(cluster));
  assert.ok(many.inside.length >= LIMIT - RESERVED, `${many.inside.length} inside`);
});

clusterTest("objects that end in their sleep let nobody in too many", world, async (cluster) => {
  const few = await asleep(cluster);
  await cluster.killObjects();
  await few.wait(BROWSE_MS);
  const many = await rush(cluster, few);
  // Slots that died with a counter hold places for a session.
  assert.ok(many.inside.length >= LIMIT * 0.9, `${many.inside.length} inside`);
});

clusterTest("isolates that end in a calm room take nobody's place", world, async (cluster) => {
  const few = await asleep(cluster);
  await few.wait(BROWSE_MS * 1.5);
  await cluster.restart();
  const many = await rush(cluster, few);
  // Half a minute of renewals died: those who were inside may count twice for a session.
  assert.ok(many.inside.length >= LIMIT * 0.9 - FEW, `${many.inside.length} inside`);
  assert.ok(few.visitors.every(({ inside }) => inside), "somebody inside was thrown out");
});
