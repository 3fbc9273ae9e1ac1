/**
 * With `turn_kept_minutes` a place stays free for a visitor whose turn comes while away, and then
 * goes to the next.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";

const MINUTE_MS = 60_000;
const KEPT_MINUTES = 3;
/** A session of a minute, its bucket, and until everybody has heard of it. */
const FREE_AFTER_MS = MINUTE_MS + 5_000;
/** A census, a tick, a sync, a reading of the view and a check-in, which may be 22 s away. */
const OFFERED_MS = 45_000;
const door = room({
  name: "door",
  total_active_users: 1,
  new_users_per_minute: 1,
  turn_kept_minutes: KEPT_MINUTES,
});
const options = { rooms: [door], colos: { AMS: 2 } };

/**
 * Three come to a room for one; the second goes away while the first is inside. Returns who waits,
 * and since when the second is away.
 */
async function secondGoesAway(cluster) {
  const crowd = new Crowd(cluster, { count: 3, host: door.host });
  for (const visitor of crowd.visitors) {
    await crowd.arriveOne(visitor);
    await crowd.wait(2_000);
  }
  const [first, away, next] = crowd.visitors;
  first.dueAt = undefined;
  await crowd.wait(MINUTE_MS / 2);
  assert.deepEqual(crowd.inside, [first]);
  const dueAt = away.dueAt;
  away.dueAt = undefined;
  return { crowd, away, next, dueAt };
}

clusterTest("who comes back after two minutes enters at once", options, async (cluster) => {
  const { crowd, away, next } = await secondGoesAway(cluster);
  await crowd.wait(2 * MINUTE_MS);
  assert.ok(next.waiting, "the place was given away");
  await away.visit();
  assert.ok(away.inside, "the place was kept, and the visitor has to wait");
});

clusterTest("then the next enters, and the late one after that", options, async (cluster) => {
  const { crowd, away, next, dueAt } = await secondGoesAway(cluster);
  const keptUntil = dueAt + KEPT_MINUTES * MINUTE_MS;
  await crowd.wait(keptUntil - cluster.clock.now() - 5_000);
  assert.ok(next.waiting, "the place was given away");
  await crowd.wait(5_000 + OFFERED_MS);
  assert.ok(next.inside, "the place was offered to nobody");
  next.dueAt = undefined;
  await away.visit();
  assert.ok(away.waiting);
  const late = new Crowd(cluster, { count: 1, host: door.host, label: "late" });
  await late.arrive();
  const all = new Crowd(cluster, { count: 0, host: door.host });
  all.visitors = [away, ...late.visitors];
  await all.wait(FREE_AFTER_MS + OFFERED_MS, () => all.inside.length > 0);
  assert.deepEqual(all.inside, [away]);
});
