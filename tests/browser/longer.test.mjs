/**
 * A wait that becomes longer than it was told: the page tells it and says why, in a sentence. The
 * owner lowers the limit meanwhile, which is the plainest reason.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const APART_MS = 200_000;
const LONGER = /^The wait is longer than we estimated: /;
const shop = localRoom({
  name: "shop",
  total_active_users: 2,
  new_users_per_minute: 2,
  session_duration: 5,
  ...FREQUENT_CHECK_INS,
});

browserTest("a page that reads longer says so, and why", { rooms: [shop] }, async (arena) => {
  const { cluster } = arena;
  // The first place comes free long before the second.
  await visitorInside(cluster, shop);
  await cluster.advance(APART_MS);
  await visitorInside(cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  await visitor.come();
  const { page } = visitor;
  const told = () => visitor.title().then((title) => Number(/^About (\d+) min/.exec(title)?.[1]));
  await visitor.until(async () => (await told()) >= 1, "no wait was shown");
  const before = await told();
  assert.equal(await page.getByText(LONGER).count(), 0, "it says so of the first wait");
  // Now both must leave before this visitor may enter.
  const limits = { total_active_users: 1, new_users_per_minute: 1 };
  await call(cluster, "PATCH", `${ROOMS}/${shop.id}`, limits);
  await visitor.until(async () => (await told()) > before, "the wait did not grow");
  await page.getByText(LONGER).waitFor();
  await visitor.keepScreenshot("longer");
  assert.deepEqual(visitor.complaints, []);
});
