/** The clock of one isolate is behind for 30 s and set right: the line stays as it is. */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { orderOfEntry } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How far the clock is behind. It stays in its hour: a ticket of the next one opens nowhere. */
const BEHIND_MS = 10 * MINUTE_MS;
const BEGINS_MS = 20 * MINUTE_MS;
/** One after the other enters, each for a minute. */
const PATIENCE_MS = 8 * MINUTE_MS;
/** The longest that any page of this room tells before the next check-in, in seconds. */
const REFRESH_S_MAX = 22;
const shop = room({ name: "shop", total_active_users: 1, session_duration: 1 });
const options = { rooms: [shop], colos: { AMS: 2 } };

clusterTest("an isolate's clock is behind and set right", options, async (cluster) => {
  cluster.clock.jump((HOUR_MS + BEGINS_MS - (cluster.clock.now() % HOUR_MS)) % HOUR_MS);
  const crowd = new Crowd(cluster, { count: 5, host: shop.host });
  const [inside, first, second, ...late] = crowd.visitors;
  const come = async (visitor, isolate) => {
    const { refreshS } = await visitor.visit({ isolate });
    assert.ok(!refreshS || refreshS <= REFRESH_S_MAX, `told to come in ${refreshS} s`);
    await cluster.advance(2_000);
  };
  // Both isolates have a view.
  await come(inside, "ams-1");
  await come(first, "ams-2");
  await come(second, "ams-1");
  await come(first, "ams-1");
  await cluster.skewClock("ams-1", -BEHIND_MS);
  const end = cluster.clock.now() + 30_000;
  while (cluster.clock.now() < end) {
    if (first.dueAt <= cluster.clock.now()) await come(first, "ams-1");
    if (second.dueAt <= cluster.clock.now()) await come(second, "ams-2");
    await cluster.advance(500);
  }
  await cluster.skewClock("ams-1", 0);
  await come(late[0], "ams-1");
  await come(late[1], "ams-2");
  await crowd.wait(PATIENCE_MS);
  const names = crowd.visitors.map(({ name }) => name);
  assert.deepEqual(orderOfEntry(await cluster.arrivals()), names);
});
