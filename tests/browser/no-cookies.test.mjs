/** Whoever takes no cookies is promised no place, with and without script. */

import assert from "node:assert/strict";

import { barriers } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const shop = localRoom({ name: "shop", ...FREQUENT_CHECK_INS });
/** Longer than a check-in of this room. */
const A_WHILE_MS = 6_000;

const options = { rooms: [shop] };

browserTest("a browser that blocks cookies is told so", options, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: { ...PHONE, colorScheme: "dark" } });
  const { page } = visitor;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setDocumentCookieDisabled", { disabled: true });
  await visitor.come();
  await page.getByRole("heading", { name: "Cookies are blocked" }).waitFor();
  assert.equal(await page.title(), "Cookies are blocked");
  assert.doesNotMatch(await visitor.text(), /place is kept|You are in line|Estimated wait/);
  await visitor.keepScreenshot("no-cookies", { fullPage: true });
  assert.deepEqual(await barriers(page), []);
  await page.waitForTimeout(A_WHILE_MS);
  assert.deepEqual([visitor.views.length, visitor.checkIns], [1, []], "it asks on");
});

browserTest("no place is promised before a cookie has come back", options, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const context = { ...DESKTOP, javaScriptEnabled: false };
  const visitor = await arena.visitor({ room: shop, context });
  const kept = /Your place is kept/;
  for (let visit = 0; visit < 2; visit += 1) {
    await visitor.page.context().clearCookies();
    await visitor.come();
    assert.doesNotMatch(await visitor.text(), kept);
    assert.match(await visitor.text(), /Allow cookies for this site/);
  }
  await visitor.refreshes();
  assert.match(await visitor.text(), kept);
});
