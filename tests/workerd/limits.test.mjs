/**
 * An owner changes the limits in the middle of a queue: more enter at once, and nobody inside is
 * thrown out.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { mostInside, orderOfEntry } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const SESSION_MS = 60_000;
/** A learning global aggregator (5.4 s), a view of 2 s, and the refresh of a visitor far behind. */
const NOTICED_MS = 30_000;
/** Who may be called beyond the free places, by those who enter in a refresh of this line. */
const AHEAD_MAX = 1;
const BROWSE_MS = 15_000;

/** The shop with room for `places`; the minute never limits. */
const shop = (places) => room({ name: "shop", total_active_users: places });
const colos = { AMS: 2, NRT: 2 };

clusterTest(
  "a higher limit lets the next in line enter",
  { rooms: [shop(4)], colos },
  async (cluster) => {
    const crowd = await crowdOf(cluster, 20, 4);
    await cluster.restart({ rooms: [shop(12)] });
    // A renewal that the restart lost holds its place twice, until the older session ends.
    await crowd.wait(SESSION_MS + NOTICED_MS, () => crowd.inside.length === 12);
    assert.equal(crowd.inside.length, 12);
    assert.ok(mostInside(await cluster.arrivals(), SESSION_MS) <= 12);
    // Eight places become free at once, so those eight may enter in any order. Whoever checked in
    // just before the restart is missing in the census until the next check-in, and nobody is
    // called instead.
    const names = crowd.visitors.map(({ name }) => name);
    const called = names.slice(0, 12 + AHEAD_MAX);
    const entered = orderOfEntry(await cluster.arrivals());
    assert.ok(
      entered.every((name) => called.includes(name)),
      `entered: ${entered}`,
    );
  },
);

clusterTest(
  "a lower limit throws nobody out and lets nobody in",
  { rooms: [shop(8)], colos },
  async (cluster) => {
    const crowd = await crowdOf(cluster, 12, 8);
    await cluster.restart({ rooms: [shop(4)] });
    await crowd.wait(NOTICED_MS);
    assert.equal(crowd.inside.length, 8);

    // Six of the eight leave: at their end two are inside, and two of the waiting four may follow.
    for (const visitor of crowd.inside.slice(2)) visitor.dueAt = undefined;
    await crowd.wait(SESSION_MS + NOTICED_MS);
    const now = cluster.clock.now();
    const recent = (await cluster.arrivals()).filter(({ at }) => at > now - SESSION_MS);
    assert.equal(new Set(recent.map(({ visitor }) => visitor)).size, 4);
  },
);

/** A crowd that came one after the other and of which `inside` entered; those inside browse on. */
async function crowdOf(cluster, count, inside) {
  const crowd = new Crowd(cluster, { count, host: shop(0).host, browseMs: BROWSE_MS });
  for (const visitor of crowd.visitors) {
    await crowd.arriveOne(visitor);
    await crowd.wait(1_500);
  }
  assert.equal(crowd.inside.length, inside);
  return crowd;
}
