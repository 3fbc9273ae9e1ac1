/**
 * Threat 40, letting the window to confirm a turn pass, in a crowd and again and again: however
 * many do so, they hold a tenth of the rate, and whoever lets it pass stands at the end of the line.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd, inParallel } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";

const PLACES = 20;
/** Most of those who are away whose turn is kept: a tenth of the rate. */
const KEPT = 2;
const TOGETHER = 20;
const MINUTE_MS = 60_000;
const STEP_MS = 2_000;
const ENTER = "/?waiting-room-enter";
const shop = room({ name: "shop", total_active_users: PLACES, confirm_turn: true });
const title = "row 40: who lets the window to confirm pass holds a tenth of the places";

clusterTest(title, { rooms: [shop], colos: { AMS: 2 } }, async (cluster) => {
  const crowd = (label) => new Crowd(cluster, { count: PLACES, host: shop.host, label });
  const [first, hoarders, honest] = ["first", "hoarder", "honest"].map(crowd);
  await first.arrive();
  assert.equal(first.inside.length, PLACES);
  await cluster.advance(3_000);
  await hoarders.arrive();
  await cluster.advance(3_000);
  await honest.arrive();
  assert.equal(hoarders.inside.length + honest.inside.length, 0);
  // The hoarders show each page that they get, and never click; the others click at once.
  let asked = 0;
  const end = cluster.clock.now() + 2 * MINUTE_MS;
  while (cluster.clock.now() < end) {
    await hoarders.wait(STEP_MS);
    const due = honest.waiting.filter(({ dueAt }) => dueAt <= cluster.clock.now());
    await inParallel(due, TOGETHER, async (visitor) => {
      const { body } = await visitor.visit();
      if (!body.includes("<h1>It is your turn")) return;
      asked += 1;
      const clicked = await visitor.visit({ path: ENTER });
      if (clicked.status === 303) await visitor.visit();
    });
  }
  assert.equal(hoarders.inside.length, 0, "nobody enters without a click");
  const inside = honest.inside.length;
  console.log(`# of ${PLACES} others ${inside} are inside, ${asked} were asked`);
  assert.ok(inside >= PLACES - KEPT, `${inside} of ${PLACES} others are inside`);
});
