/**
 * A turn that is confirmed: the page says so, rings and counts down, and a click enters, with and
 * without script. A form that waits to be sent stays on the page meanwhile.
 */

import assert from "node:assert/strict";

import { barriers } from "../harness/accessibility.mjs";
import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const SESSION_MS = 60_000;
const CONFIRMS = { confirm_turn_minutes: 5, ...FREQUENT_CHECK_INS };
const shop = localRoom({ name: "confirms", ...CONFIRMS });
const options = { rooms: [shop] };
/** More than a minute remains when such a turn comes. */
const long = localRoom({ ...CONFIRMS, name: "confirms-long", session_duration: 2 });
const LONG_SESSION_MS = 2 * SESSION_MS;
const TURN = { name: "It is your turn" };

for (const script of [true, false]) {
  const name = `a turn is confirmed with a click ${script ? "with" : "without"} script`;
  browserTest(name, options, async (arena) => {
    await visitorInside(arena.cluster, shop);
    const context = { ...PHONE, javaScriptEnabled: script };
    const visitor = await arena.visitor({ room: shop, context });
    const { page } = visitor;
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

browserTest("the time left is said three times", { rooms: [long] }, async (arena) => {
  await visitorInside(arena.cluster, long);
  const visitor = await arena.visitor({ room: long, context: PHONE });
  const { page } = visitor;
  const heard = [];
  await page.exposeFunction("hear", (text) => {
    if (text.startsWith("It is your turn")) heard.push(text);
  });
  await visitor.come();
  await page.evaluate(() => {
    const said = document.querySelector(".said");
    new MutationObserver(() => window.hear(said.textContent)).observe(said, { childList: true });
  });
  await arena.cluster.advance(LONG_SESSION_MS);
  const hears = (count) =>
    visitor.until(() => heard.length >= count, () => `it said ${heard}`);
  for (const [count, passes_ms] of [[1, 55_000], [2, 25_000]]) {
    await hears(count);
    visitor.checkIns.length = 0;
    await visitor.until(() => visitor.checkIns.length > 1, "it checks in no more");
    await arena.cluster.advance(passes_ms);
  }
  await hears(3);
  const [first, second, third] = heard.map((text) => Number(text.match(/Time left\s+(\d+) s$/)[1]));
  assert.ok(heard.length === 3 && first > 60 && second <= 60 && third <= 20, `it said ${heard}`);
  assert.deepEqual(visitor.complaints, []);
});

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
