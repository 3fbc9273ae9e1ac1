/**
 * A page of the owner's whose pictures and styles stand at covered addresses: a browser that waits
 * asks for them like for any other. None takes a place, and none gets a page instead of a picture.
 */

import assert from "node:assert/strict";

import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const SESSION_MS = 60_000;
const PARTS = { "/logo.png": "image", "/style.css": "stylesheet" };
const shop = localRoom({
  name: "shop",
  custom_page_html:
    '<!doctype html><title>Wait</title><link rel="stylesheet" href="/style.css">' +
    '<p>Please wait.<p><img src="/logo.png" alt="logo">',
  ...FREQUENT_CHECK_INS,
});

browserTest("covered parts of a queue page are no visits", { rooms: [shop] }, async (arena) => {
  const { cluster } = arena;
  await visitorInside(cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  const answers = {};
  visitor.page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    const request = response.request();
    if (pathname in PARTS) answers[pathname] = [request.resourceType(), response.status()];
  });
  await visitor.come();
  const parts = Object.entries(PARTS).map(([path, kind]) => [path, [kind, 503]]);
  const haveCome = () => Object.keys(answers).length === parts.length;
  await visitor.until(haveCome, "no parts were asked for");
  assert.deepEqual(answers, Object.fromEntries(parts));
  const width = await visitor.page.locator("img").evaluate((picture) => picture.naturalWidth);
  assert.equal(width, 0, "a page was drawn as a picture");
  // The place that comes free is for the page, and the parts reach the site only with it.
  await cluster.advance(SESSION_MS);
  await visitor.enters();
  const arrivals = await cluster.arrivals();
  const early = arrivals.filter(({ url, at }) => url in PARTS && at < visitor.views.at(-1).at);
  assert.deepEqual(early, []);
});
