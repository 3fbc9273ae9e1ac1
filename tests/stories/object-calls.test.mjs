/**
 * Requests that need no object make no call, and the calls of reports do not grow with the
 * visitors.
 */

import assert from "node:assert/strict";

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { Crowd, inParallel } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const REQUESTS = 300;
/** While the requests run, about a second passes: a sync of 2 s and a report may fall into it. */
const BACKGROUND_CALLS = 6;

/** With the longest session an activity bucket is 6 s wide: so long the ticket stays the same. */
const tiny = room({ name: "tiny", total_active_users: 1, session_duration: 30 });
const one = { rooms: [tiny], colos: { AMS: 1 } };

clusterTestBothWays(
  "an admitted visitor with an unchanged ticket calls no object",
  one,
  async (cluster) => {
    const guest = await visitorInside(cluster, tiny);
    await checkNoCalls(cluster, guest, "origin");
  },
);

clusterTestBothWays("a queued visitor who is not yet due calls no object", one, async (cluster) => {
  await visitorInside(cluster, tiny);
  const waiting = new Visitor(cluster, { name: "waiting", host: tiny.host });
  assert.equal((await waiting.visit()).kind, "queue");
  await checkNoCalls(cluster, waiting, "queue");
});

async function checkNoCalls(cluster, visitor, kind) {
  await cluster.advance(1_000);
  const before = await cluster.allCalls();
  const start = cluster.clock.now();
  for (let request = 0; request < REQUESTS; request += 1) {
    assert.equal((await visitor.visit()).kind, kind);
    // The first refresh is due after 4 s at the earliest: stay within.
    if (cluster.clock.now() - start > 2_000) break;
  }
  const calls = (await cluster.allCalls()) - before;
  assert.ok(calls <= BACKGROUND_CALLS, `${calls} object calls`);
}

const SYNC_S = 2;
/** A report leaves an isolate at the earliest 250 ms after the one before. */
const REPORTS_PER_S_MAX = 4;
/** In a bucket everybody renews once, and that is reported: a period is two of them. */
const BUCKET_S = 6;
/**
 * Ten times the requests may not cost more than this factor in calls. Here it is 1.0 to 1.25: the
 * longer the requests of a round take, the more reports are sent again before they are stored.
 */
const GROWTH_MAX = 2;
/**
 * A renewal is told once and asked about until it is stored: 2 to 3.5 reports, by how long after it
 * the next sync goes. Where it goes at once the few cost less, and the many no more than elsewhere.
 */
const REPORTS_OF_RENEWAL = 3;

const wide = room({ name: "wide", total_active_users: 100_000, session_duration: 30 });

for (const isolates of [1, 16, 64]) {
  const options = { rooms: [wide], colos: { AMS: isolates } };
  clusterTest(
    `calls of the aggregator do not grow with requests, ${isolates} isolates`,
    options,
    async (cluster) => {
      // One each: whether two renewals fall into one report depends on the machine's speed.
      const crowd = new Crowd(cluster, { count: isolates, host: wide.host });
      await crowd.arrive();
      const few = await aggregatorCalls(cluster, crowd, 1);
      const many = await aggregatorCalls(cluster, crowd, 10);
      const most = isolates * (1 / SYNC_S + REPORTS_PER_S_MAX);
      assert.ok(few > 0, "nothing was reported");
      assert.ok(many <= most, `${many} calls a second, at most ${most} allowed`);
      const usual = Math.max(few, (isolates * REPORTS_OF_RENEWAL) / BUCKET_S);
      assert.ok(many <= usual * GROWTH_MAX + 1, `${few} calls a second, then ${many}`);
    },
  );
}

/**
 * Calls a second while each of the crowd makes `requests` requests a second. It begins with a
 * bucket and ends a little after one, and later where the machine is slow: that is why time counts.
 */
async function aggregatorCalls(cluster, crowd, requests) {
  const bucketMs = BUCKET_S * 1_000;
  await cluster.advance(bucketMs - (cluster.clock.now() % bucketMs));
  const before = await cluster.calls("DataCenterAggregator", wide);
  const start = cluster.clock.now();
  const end = start + 2 * bucketMs;
  while (cluster.clock.now() < end) {
    const visits = crowd.visitors.flatMap((visitor) => Array(requests).fill(visitor));
    await inParallel(visits, 50, (visitor) => visitor.visit());
    await cluster.advance(1_000);
  }
  const calls = (await cluster.calls("DataCenterAggregator", wide)) - before;
  return calls / ((cluster.clock.now() - start) / 1_000);
}
