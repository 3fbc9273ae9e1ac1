/**
 * The page stays: it checks in by itself, says when there is no connection, and goes on when there
 * is one again. The clock of the browser is moved where minutes have to pass.
 */

import assert from "node:assert/strict";

import { barriers } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const SESSION_MS = 60_000;
const MINUTE_MS = 60_000;
/** Longer than it takes to learn that there is no network. */
const QUESTION_MS = 100;

const quick = localRoom({ name: "stays", ...FREQUENT_CHECK_INS });
const rare = localRoom({ name: "stays-still", ...RARE_CHECK_INS });
const lottery = localRoom({
  name: "stays-draw",
  queueing_method: "random",
  ...FREQUENT_CHECK_INS,
});

/** A visitor who waits. */
async function waits(arena, room, context = PHONE) {
  await visitorInside(arena.cluster, room);
  const visitor = await arena.visitor({ room, context });
  await visitor.come();
  assert.ok(!visitor.inside);
  return visitor;
}

const notice = (visitor) => visitor.page.locator(".lost");

browserTest("the page checks in without a reload and enters", { rooms: [quick] }, async (arena) => {
  const visitor = await waits(arena, quick);
  await visitor.page.evaluate(() => {
    document.querySelector("h1").dataset.seen = "before";
  });
  await visitor.until(() => visitor.checkIns.length >= 2, "it did not check in");
  assert.equal(visitor.views.length, 1, "it was loaded again");
  const kept = await visitor.page.getAttribute("h1", "data-seen");
  assert.equal(kept, "before", "what has not changed was replaced");
  await arena.cluster.advance(SESSION_MS);
  await visitor.enters();
  assert.equal(visitor.checkIns.at(-1), 204);
  const arrivals = await arena.cluster.arrivals();
  const ours = arrivals.filter(({ visitor: name, path }) => name === "browser" && path === "/");
  assert.equal(ours.length, 1, "the site was asked once");
  assert.deepEqual(visitor.complaints, []);
});

browserTest("a lost connection is told and found again", { rooms: [quick] }, async (arena) => {
  const visitor = await waits(arena, quick);
  const { page } = visitor;
  const context = page.context();
  await page.clock.install();
  await visitor.come();
  await context.setOffline(true);
  await notice(visitor).waitFor();
  const text = await notice(visitor).innerText();
  assert.match(text, /^No connection\. Your place is kept\. Time left: [45]:\d\d$/);
  const said = page.getByRole("status").filter({ hasText: "No connection." });
  await said.waitFor({ state: "attached" });
  assert.deepEqual(await barriers(page), []);
  await visitor.keepScreenshot("stays-without-connection");
  await page.emulateMedia({ colorScheme: "dark" });
  await visitor.keepScreenshot("stays-without-connection-dark");
  // 20 s with questions that nobody answers.
  for (let asked = 0; asked < 4; asked += 1) {
    await page.clock.runFor(5_000);
    await page.waitForTimeout(QUESTION_MS);
  }
  assert.equal(visitor.views.length, 2, "a page of the browser took the place of ours");
  const before = visitor.checkIns.length;
  await context.setOffline(false);
  await notice(visitor).waitFor({ state: "hidden" });
  assert.ok(visitor.checkIns.length > before);
  assert.equal(visitor.views.length, 2, "loaded by `come` alone");
});

browserTest("minutes without a connection are counted down", { rooms: [rare] }, async (arena) => {
  const visitor = await waits(arena, rare);
  const { page } = visitor;
  await page.clock.install();
  await visitor.come();
  await page.context().setOffline(true);
  await page.clock.fastForward(2 * MINUTE_MS);
  await notice(visitor).waitFor();
  const left = async () => (await notice(visitor).innerText()).match(/Time left: (\d):(\d\d)$/);
  const [, minutes] = await left();
  // The check-in was due after 54 to 66 s, and the place is kept for 5 minutes from then on.
  assert.ok(minutes === "3" || minutes === "4", await notice(visitor).innerText());
  await page.clock.fastForward(3 * MINUTE_MS);
  assert.ok((await left())[1] < 2, await notice(visitor).innerText());
  await page.clock.fastForward(2 * MINUTE_MS);
  await page.clock.runFor(2_000);
  const lost = /^No connection\. You may have lost your place\.$/;
  assert.match(await notice(visitor).innerText(), lost);
  assert.doesNotMatch(await visitor.text(), /Your place is kept/);
  await visitor.keepScreenshot("stays-place-lost");
  await page.context().setOffline(false);
  await page.clock.runFor(2_000);
  await notice(visitor).waitFor({ state: "hidden" });
});

browserTest("a device that slept checks in at once", { rooms: [rare] }, async (arena) => {
  const visitor = await waits(arena, rare);
  const { page } = visitor;
  await page.clock.install();
  await visitor.come();
  await page.clock.runFor(1_000);
  visitor.checkIns.length = 0;
  await page.clock.fastForward(2 * MINUTE_MS);
  await visitor.until(() => visitor.checkIns.length > 0, "it slept on");
  assert.equal(visitor.views.length, 2, "loaded by `come` alone");
  assert.ok(await notice(visitor).isHidden());
});

browserTest("in a draw no place is said to be kept", { rooms: [lottery] }, async (arena) => {
  const visitor = await waits(arena, lottery);
  await visitor.page.context().setOffline(true);
  await notice(visitor).waitFor();
  assert.equal((await notice(visitor).innerText()).trim(), "No connection.");
});

browserTest("two tabs and a form keep what they say", { rooms: [quick] }, async (arena) => {
  const visitor = await waits(arena, quick);
  const second = await visitor.page.context().newPage();
  await second.goto(visitor.address);
  await visitor.until(() => visitor.checkIns.length >= 2, "the first tab did not check in");
  assert.match(await second.locator("body").innerText(), /You are in line/);
  assert.deepEqual(visitor.complaints, []);
});

browserTest("who asks for it is told when it is the turn", { rooms: [quick] }, async (arena) => {
  const visitor = await waits(arena, quick);
  const { page } = visitor;
  const told = [];
  await page.exposeFunction("tellTest", (text) => told.push(text));
  await page.evaluate(() => {
    window.Notification = class {
      static requestPermission = () => window.tellTest("asked");
      constructor(text) {
        window.tellTest(text);
      }
    };
  });
  const button = page.getByRole("button", { name: "Tell me when it is my turn" });
  assert.deepEqual(told, [], "it asked by itself");
  await button.focus();
  await page.keyboard.press("Enter");
  await visitor.keepScreenshot("stays-tells", { fullPage: true });
  assert.deepEqual(await barriers(page), []);
  await arena.cluster.advance(SESSION_MS);
  await visitor.enters();
  await visitor.until(() => told.length > 1, () => `it was told ${told}`);
  assert.deepEqual(told, ["asked", "It is your turn"]);
  assert.deepEqual(visitor.complaints, []);
});

const LOGO = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><path d="M0 20L20 0l20 20z"/></svg>',
).toString("base64");
const branded = localRoom({
  name: "branded",
  session_duration: 30,
  ...FREQUENT_CHECK_INS,
  page_name: "Halle Süd & Söhne",
  page_text: "Tickets for <both> evenings are on sale.",
  page_message: "A second day was added.",
  page_color: "#b4236a",
  page_logo: `data:image/svg+xml;base64,${LOGO}`,
  page_help_url: "https://help.example/",
});

browserTest("a page shows whose it is", { rooms: [branded] }, async (arena) => {
  for (const [device, context] of [["phone", PHONE], ["desktop", DESKTOP]]) {
    const visitor = await arena.visitor({ room: branded, context });
    await visitorInside(arena.cluster, branded).catch(() => {});
    await visitor.come();
    const text = await visitor.text();
    assert.match(text, /^Halle Süd & Söhne\n/);
    assert.match(text, /Tickets for <both> evenings are on sale\./);
    assert.match(text, /A second day was added\./);
    const accent = () =>
      visitor.page.evaluate(() => getComputedStyle(document.querySelector(".you")).fill);
    assert.equal(await accent(), "rgb(180, 35, 106)");
    assert.ok(await visitor.page.evaluate(() => document.querySelector("img").naturalWidth > 0));
    for (const colorScheme of ["light", "dark"]) {
      await visitor.page.emulateMedia({ colorScheme });
      await visitor.keepScreenshot(`stays-branded-${device}-${colorScheme}`, { fullPage: true });
      assert.deepEqual(await barriers(visitor.page), [], `${device} ${colorScheme}`);
    }
    assert.deepEqual(visitor.complaints, []);
    await visitor.leave();
  }
});

const COLORS = ["#ffe600", "#0b1b2b"];

browserTest("no colour of an owner hides what is used", { rooms: [rare] }, async (arena) => {
  const visitor = await waits(arena, rare);
  const { page } = visitor;
  await page.evaluate(() => {
    document.querySelector(".facts").append(document.createElement("progress"));
  });
  for (const color of COLORS) {
    await page.evaluate((own) => {
      document.documentElement.style.setProperty("--accent", own);
    }, color);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const [card, ...used] = await page.evaluate(() => {
        const styleOf = (one) => getComputedStyle(document.querySelector(one));
        const { borderTopColor } = styleOf(".tell[data-turn]");
        return [styleOf(".card").backgroundColor, borderTopColor, styleOf("progress").accentColor];
      });
      for (const one of used) {
        assert.ok(contrast(card, one) >= 3, `${color} ${colorScheme}: ${one} on ${card}`);
      }
    }
  }
});

/** How much one colour differs from another, as WCAG 2.2 measures it. */
function contrast(...colors) {
  const lights = colors.map((color) => {
    const [red, green, blue] = color.match(/\d+/g).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
  return (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
}

const ZOOMED = { viewport: { width: 320, height: 256 } };

browserTest("at 400 % the time is above the fold", { rooms: [rare] }, async (arena) => {
  const visitor = await waits(arena, rare, ZOOMED);
  await visitor.keepScreenshot("stays-zoomed");
  const { y, height } = await visitor.page.locator(".facts strong").first().boundingBox();
  assert.ok(y + height <= ZOOMED.viewport.height, `the time ends at ${y + height}`);
  assert.deepEqual(await barriers(visitor.page), []);
});
