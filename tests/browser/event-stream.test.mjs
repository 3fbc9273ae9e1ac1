/**
 * The built-in page listens where its room has event streams: whose turn has come enters before the
 * page would have come back by itself.
 */

import assert from "node:assert/strict";

import { browserTest } from "../harness/browser-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

/** The page comes back after 54 to 66 s by itself; browsers know nothing of the moved clock. */
const shop = room({
  name: "listening",
  host: "listening.localhost",
  total_active_users: 1,
  refresh_interval_seconds: 300,
  near_head_refresh_interval_seconds: 60,
  event_stream_enabled: true,
});
const SESSION_MS = 60_000;

browserTest("a page that listens enters at once", { rooms: [shop] }, async (arena) => {
  const { cluster } = arena;
  const first = new Visitor(cluster, { name: "first", host: shop.host });
  await first.visit();
  assert.ok(first.inside);
  await cluster.advance(SESSION_MS / 3);
  const visitor = await arena.visitor({ room: shop });
  await visitor.come();
  assert.ok(!visitor.inside);
  await cluster.advance(SESSION_MS);
  // Sooner than the page would come back: `enters` is patient for 40 s.
  await visitor.enters();
  assert.equal(visitor.views.length, 2, "one page, then the site");
  assert.deepEqual(visitor.complaints, []);
});
