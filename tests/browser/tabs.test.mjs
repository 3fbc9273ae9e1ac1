/**
 * Several tabs that wait with one place, and what browsers ask for beside a page: each tab loads
 * the site once, and the console stays empty.
 */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const SESSION_MS = 60_000;
/** How long the site takes for a page: longer than the longest interval near the head. */
const SLOW_MS = 7_000;
const shop = localRoom({ name: "tabs", ...FREQUENT_CHECK_INS });
/** A page of its owner, without a picture. */
const plain = localRoom({ name: "plain", custom_page_html: "<p>{{waitTime}}</p>" });

/** A visitor who waits in two tabs; the second one's complaints are those of the first. */
async function inTwoTabs(arena) {
  await visitorInside(arena.cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  await visitor.come();
  const second = await visitor.page.context().newPage();
  second.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) visitor.complaints.push(message.text());
  });
  await second.goto(visitor.address);
  return { visitor, second };
}

browserTest("each tab loads the site once", { rooms: [shop] }, async (arena) => {
  const { visitor, second } = await inTwoTabs(arena);
  await arena.cluster.advance(SESSION_MS);
  await visitor.enters();
  await second.locator("main").waitFor({ state: "detached" });
  // Time for one more check-in of a tab that would go on.
  await second.waitForTimeout(6_000);
  const arrivals = await arena.cluster.arrivals();
  const pages = arrivals.filter(({ visitor: name, path }) => name === "browser" && path === "/");
  assert.equal(pages.length, 2, JSON.stringify(pages));
  assert.deepEqual(visitor.complaints, []);
});

browserTest("two tabs told at once load the site once each", { rooms: [shop] }, async (arena) => {
  const { visitor, second } = await inTwoTabs(arena);
  await arena.cluster.advance(SESSION_MS);
  const tabs = [visitor.page, second];
  const asked = await Promise.all(tabs.map((tab) => checkIn(tab, visitor.address)));
  const requests = [];
  for (const tab of tabs) tab.on("request", (request) => requests.push(request));
  await Promise.all(asked.map((route) => route.fulfill({ status: 204 })));
  await Promise.all(tabs.map((tab) => tab.locator("main").waitFor({ state: "detached" })));
  const { pathname } = new URL(visitor.address);
  const ofPage = requests.filter((request) => new URL(request.url()).pathname === pathname);
  assert.deepEqual(ofPage.map((request) => request.isNavigationRequest()), [true, true]);
});

/** Waits for the next check-in of a tab, and leaves it unanswered. After it the site is slow. */
function checkIn(tab, address) {
  return new Promise((resolve) => {
    tab.route(new URL("/", address).href, async (route) => {
      if (route.request().headers()["waiting-room-check-in"]) return resolve(route);
      // Each tab still shows its own page, hears of the other, and could check in.
      await sleep(SLOW_MS);
      await route.continue();
    });
  });
}

browserTest("a tab that meets the site logs nothing of it", { rooms: [shop] }, async (arena) => {
  const { visitor, second } = await inTwoTabs(arena);
  // The site answers the check-in, as where another tab has entered and could not say so.
  const body =
    '<style>p { color: red }</style>' +
    '<p style="color: blue" onclick="x()">Inside the shop</p>';
  let asked = 0;
  await second.route(new URL("/", visitor.address).href, async (route) => {
    asked += 1;
    await route.fulfill({ contentType: "text/html", body });
  });
  await second.getByText("Inside the shop").waitFor();
  assert.equal(asked, 2, "once by the check-in, once to show it");
  assert.deepEqual(visitor.complaints, []);
});

browserTest("a click selects the whole number to quote", { rooms: [shop] }, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  await visitor.come();
  const reference = visitor.page.locator(".ref");
  await reference.click();
  await visitor.keepScreenshot("number-to-quote", { fullPage: true });
  const selected = await visitor.page.evaluate(() => String(getSelection()).trim());
  assert.equal(selected, (await reference.innerText()).trim());
  assert.match(selected, /^\w{5}-\w{5}$/);
});

browserTest("the icon of a full room is no error", { rooms: [plain] }, async (arena) => {
  await visitorInside(arena.cluster, plain);
  const visitor = await arena.visitor({ room: plain, context: PHONE });
  await visitor.come();
  const icon = await visitor.page.evaluate(async () => {
    const picture = new Image();
    picture.src = "/favicon.ico";
    await new Promise((loaded) => { picture.onload = picture.onerror = loaded });
    return (await fetch("/favicon.ico", { method: "HEAD" })).status;
  });
  assert.notEqual(icon, 503);
  assert.deepEqual(visitor.complaints, []);
});
