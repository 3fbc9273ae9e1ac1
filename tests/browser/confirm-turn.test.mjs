/**
 * A turn that is confirmed: the page says so, rings and counts down, and a click enters, with and
 * without script. A form that waits to be sent stays on the page meanwhile.
 */

import assert from "node:assert/strict";

import { AXE, barriers } from "../harness/accessibility.mjs";
import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const SESSION_MS = 60_000;
const shop = localRoom({ name: "confirms", confirm_turn_minutes: 5, ...FREQUENT_CHECK_INS });
const options = { rooms: [shop] };
const TURN = { name: "It is your turn" };

for (const script of [true, false]) {
  const name = `a turn is confirmed with a click ${script ? "with" : "without"} script`;
  browserTest(name, options, async (arena) => {
    await visitorInside(arena.cluster, shop);
    const context = { ...PHONE, javaScriptEnabled: script };
    const visitor = await arena.visitor({ room: shop, context });
    const { page } = visitor;
    await page.addInitScript({ path: AXE });
    await visitor.come();
    await page.getByText("you will have a few minutes to enter").waitFor();
    await arena.cluster.advance(SESSION_MS);
    await page.getByRole("heading", TURN).waitFor();
    assert.ok(!visitor.inside, "it entered by itself");
    assert.equal(await visitor.title(), "It is your turn");
    assert.doesNotMatch(await visitor.text(), /get in automatically|Keep this page open/);
    await visitor.keepScreenshot(`confirm-turn-${script}`, { fullPage: true });
    if (script) {
      const left = () => page.locator("[data-left]").innerText();
      const before = await left();
      const counts = (was) => document.querySelector("[data-left]").innerText !== was;
      await page.waitForFunction(counts, before);
      assert.deepEqual(await barriers(page), []);
      await page.emulateMedia({ colorScheme: "dark" });
      await visitor.keepScreenshot("confirm-turn-dark", { fullPage: true });
    }
    await page.getByRole("button", { name: "Enter now" }).click();
    await visitor.enters();
    assert.ok(!page.url().includes("?"), page.url());
    assert.deepEqual(visitor.complaints, []);
  });
}

browserTest("a turn is confirmed from right to left", options, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: { ...PHONE, locale: "ar-EG" } });
  await visitor.come();
  await arena.cluster.advance(SESSION_MS);
  await visitor.page.locator(".enter button").waitFor();
  await visitor.keepScreenshot("confirm-turn-rtl", { fullPage: true });
  await visitor.page.locator(".enter button").click();
  await visitor.enters();
});

browserTest("a form waits on the page until the turn is confirmed", options, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  const { page } = visitor;
  await visitor.submitForm("/order");
  await page.getByText("Your browser keeps what you filled in.").waitFor();
  await arena.cluster.advance(SESSION_MS);
  await page.getByRole("button", { name: "Enter now" }).click();
  await page.getByRole("button", { name: "Send it now" }).click();
  await visitor.enters();
  const arrivals = await arena.cluster.arrivals();
  const orders = arrivals.filter(({ path }) => path === "/order");
  assert.deepEqual(orders.map(({ method }) => method), ["POST"]);
});
