/**
 * What browsers and people do to an open queue page: the back button, the history cache, a second
 * tab, a slow network, a keyboard. Clocks are moved where minutes have to pass.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const SESSION_MS = 60_000;
/** As Chromium's own developer tools simulate a slow 3G network: milliseconds, bytes a second. */
const SLOW_3G = {
  offline: false,
  latency: 2_000,
  downloadThroughput: 50_000,
  uploadThroughput: 50_000,
};

const room = localRoom({
  name: "pauses",
  page_help_url: "https://help.example/",
  ...FREQUENT_CHECK_INS,
});
const rare = localRoom({ name: "pauses-rare", ...RARE_CHECK_INS });
/** A browser under control keeps no page in its history cache unless it is told to. */
const HISTORY_CACHE = { without: ["--disable-back-forward-cache"] };

/** A visitor who waits in this room. */
async function waits(arena, where = room) {
  await visitorInside(arena.cluster, where);
  const visitor = await arena.visitor({ room: where, context: PHONE });
  await visitor.come();
  assert.ok(!visitor.inside);
  return visitor;
}

/** Waits until the page has checked in once more. */
async function checksIn(visitor) {
  const before = visitor.checkIns.length;
  await visitor.until(() => visitor.checkIns.length > before, "it checks in no more");
}

const inLine = (page) => page.getByRole("heading", { name: "You are in line" });

browserTest("back and forth while waiting", { rooms: [room] }, async (arena) => {
  const visitor = await waits(arena);
  const { page } = visitor;
  await page.goto("data:text/html,<title>Elsewhere</title>");
  await page.goBack({ waitUntil: "commit" });
  await inLine(page).waitFor();
  await checksIn(visitor);
  await arena.cluster.advance(SESSION_MS);
  await visitor.enters();
  // The queue page is no step of the history: behind the site's next page stands the site.
  await page.goto(new URL("next", visitor.address).href);
  await page.goBack({ waitUntil: "commit" });
  await visitor.until(() => visitor.inside, "back led to the queue page");
  assert.equal(await inLine(page).count(), 0);
  assert.deepEqual(visitor.complaints, []);
});

const restored = { rooms: [rare], browser: HISTORY_CACHE };

browserTest("a page from the history cache checks in at once", restored, async (arena) => {
  const visitor = await waits(arena, rare);
  const { page } = visitor;
  await page.evaluate(() => {
    addEventListener("pageshow", ({ persisted }) => {
      document.body.dataset.persisted = persisted;
    });
  });
  await page.goto("data:text/html,<title>Elsewhere</title>");
  const views = visitor.views.length;
  visitor.checkIns.length = 0;
  await page.goBack({ waitUntil: "commit" });
  await inLine(page).waitFor();
  await page.locator("body[data-persisted]").waitFor();
  assert.equal(await page.locator("body").getAttribute("data-persisted"), "true");
  await visitor.until(() => visitor.checkIns.length > 0, "it shows what was");
  assert.equal(visitor.views.length, views, "it was loaded again");
  assert.deepEqual(visitor.complaints, []);
});

browserTest("two tabs of a visitor take one place", { rooms: [room] }, async (arena) => {
  const visitor = await waits(arena);
  const second = await visitor.page.context().newPage();
  await second.goto(visitor.address);
  await inLine(second).waitFor();
  await arena.cluster.advance(SESSION_MS);
  await visitor.enters();
  // The room has one place.
  await inLine(second).waitFor({ state: "detached" });
  await second.goto(visitor.address);
  assert.equal(await inLine(second).count(), 0, "the second tab waits on");
});

browserTest("on a slow network the page goes on", { rooms: [room] }, async (arena) => {
  await visitorInside(arena.cluster, room);
  const visitor = await arena.visitor({ room, context: PHONE });
  const { page } = visitor;
  const session = await page.context().newCDPSession(page);
  await session.send("Network.emulateNetworkConditions", SLOW_3G);
  await visitor.come();
  await checksIn(visitor);
  assert.ok(await page.locator(".lost").isHidden(), "it says that there is no connection");
  await arena.cluster.advance(SESSION_MS);
  await visitor.enters();
  assert.deepEqual(visitor.complaints, []);
});

browserTest("a keyboard is enough", { rooms: [room] }, async (arena) => {
  const visitor = await waits(arena);
  const { page } = visitor;
  const focused = () =>
    page.evaluate(() => {
      const { activeElement: at } = document;
      const { outlineStyle } = getComputedStyle(at);
      return `${at.textContent.trim()} ${at.tagName} ${outlineStyle !== "none"}`;
    });
  const stops = [];
  for (let count = 0; count < 3; count += 1) {
    await page.keyboard.press("Tab");
    stops.push(await focused());
  }
  const [move, help, tell] = stops;
  assert.equal(move, "Move your place to another device SUMMARY true");
  assert.match(help, / A true$/);
  assert.equal(tell, "Tell me when it is my turn BUTTON true");
  await page.keyboard.press("Space");
  assert.equal(await page.getByRole("button").getAttribute("aria-pressed"), "true");
  await page.keyboard.press("Shift+Tab");
  // What the page learns meanwhile takes nobody's focus away.
  await checksIn(visitor);
  assert.equal(await focused(), help);
  assert.deepEqual(visitor.complaints, []);
});

browserTest("news take nobody's focus and selection away", { rooms: [room] }, async (arena) => {
  const visitor = await waits(arena);
  const { page } = visitor;
  await page.locator(".ref").click();
  const help = page.getByRole("link", { name: "Help" });
  await help.focus();
  const reference = await page.locator(".ref").innerText();
  for (const news of ["A second day was added.", ""]) {
    await call(arena.cluster, "PATCH", `${ROOMS}/${room.id}`, { page_message: news });
    await page.locator(".news").waitFor({ state: news ? "attached" : "detached" });
    assert.ok(await help.evaluate((link) => link === document.activeElement), `focus: ${news}`);
    assert.equal(await page.evaluate(() => String(getSelection())), reference, `of: ${news}`);
  }
  assert.deepEqual(visitor.complaints, []);
});
