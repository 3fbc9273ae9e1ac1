/**
 * The built-in page listens where its room has event streams: whose turn has come enters before the
 * page would have come back by itself.
 */

import assert from "node:assert/strict";

import { browserTest } from "../harness/browser-test.mjs";
import { RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

/** The page comes back after 54 to 66 s by itself; browsers know nothing of the moved clock. */
const shop = localRoom({ name: "listening", event_stream_enabled: true, ...RARE_CHECK_INS });
const SESSION_MS = 60_000;

browserTest("a page that listens enters at once", { rooms: [shop] }, async (arena) => {
  const { cluster } = arena;
  await visitorInside(cluster, shop);
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
