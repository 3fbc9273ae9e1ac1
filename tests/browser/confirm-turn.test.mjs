/**
 * A turn that has to be confirmed: the page says so and rings, and a click enters, with and without
 * script. A form that waits to be sent stays on the page meanwhile.
 */

import assert from "node:assert/strict";

import { AXE, barriers } from "../harness/accessibility.mjs";
import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const SESSION_MS = 60_000;
const shop = localRoom({ name: "confirms", confirm_turn: true, ...FREQUENT_CHECK_INS });
const options = { rooms: [shop] };

for (const script of [true, false]) {
  const name = `a turn is confirmed with a click ${script ? "with" : "without"} script`;
  browserTest(name, options, async (arena) => {
    await visitorInside(arena.cluster, shop);
    const context = { ...PHONE, javaScriptEnabled: script };
    const visitor = await arena.visitor({ room: shop, context });
    const { page } = visitor;
    await page.addInitScript({ path: AXE });
    await visitor.come();
    await page.getByText("you will have 5 minutes to enter").waitFor();
    const reference = await page.locator(".ref").innerText();
    assert.match(reference, /^\w{5}-\w{5}$/);
    await arena.cluster.advance(SESSION_MS);
    await page.getByRole("heading", { name: "It is your turn" }).waitFor();
    await visitor.refreshes(2);
    assert.ok(!visitor.inside, "it entered by itself");
    assert.equal(await visitor.title(), "It is your turn");
    assert.equal(await page.locator(".ref").innerText(), reference);
    assert.doesNotMatch(await visitor.text(), /automatically get|Keep this page open/);
    await visitor.keepScreenshot(`confirm-turn-${script}`, { fullPage: true });
    if (script) {
      assert.deepEqual(await barriers(page), []);
      await page.emulateMedia({ colorScheme: "dark" });
      await visitor.keepScreenshot("confirm-turn-dark", { fullPage: true });
    }
    await page.getByRole("link", { name: "Enter now" }).click();
    await visitor.enters();
    assert.ok(!page.url().includes("?"), page.url());
    assert.deepEqual(visitor.complaints, []);
  });
}

browserTest("a click copies the whole number to quote", options, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  await visitor.come();
  const reference = visitor.page.locator(".ref");
  await reference.click();
  const selected = await visitor.page.evaluate(() => String(getSelection()).trim());
  assert.equal(selected, (await reference.innerText()).trim());
});

browserTest("a form waits on the page until the turn is confirmed", options, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  const { page } = visitor;
  await visitor.submitForm("/order");
  await page.getByText("Your browser keeps what you filled in.").waitFor();
  await arena.cluster.advance(SESSION_MS);
  await page.getByRole("link", { name: "Enter now" }).click();
  await page.getByRole("button", { name: "Send it now" }).click();
  await visitor.enters();
  const arrivals = await arena.cluster.arrivals();
  const orders = arrivals.filter(({ path }) => path === "/order");
  assert.deepEqual(orders.map(({ method }) => method), ["POST"]);
});
