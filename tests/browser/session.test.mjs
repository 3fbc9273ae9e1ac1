/**
 * The element `<waiting-room-session>` on a page of the site, in a browser before the running
 * Worker: it tells the time left, warns, renews, and lets the visitor leave; and each of its texts
 * tells its language.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { barriers } from "../harness/accessibility.mjs";
import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const SCRIPT = fs.readFileSync(path.join(ROOT, "client", "dist", "session.js"), "utf8");
const shop = localRoom({ name: "shop", session_endpoint: true, ...FREQUENT_CHECK_INS });
const theatre = localRoom({ ...shop, name: "theatre", session_duration: 2 });
const cinema = localRoom({ ...theatre, name: "cinema", disable_session_renewal: true });
/** A page under a strict policy: the element needs no style and no inline script. */
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
<meta name="viewport" content="width=device-width"><main><h1>Shop</h1>
<waiting-room-session></waiting-room-session></main>
<script type="module" src="/session.js"></script>`;
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'";
/**
 * A session lasts for a minute here. The page warns when half of it is over. The rest is the time
 * in which the test looks at the warning.
 */
const LATE_MS = 32_000;
const MINUTE_MS = 60_000;
/** An open warning asks again after so long. */
const SOON_MS = 11_000;

browserTest("the page tells, warns, and lets leave", { rooms: [shop] }, async (arena) => {
  const { cluster } = arena;
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  await visitor.come();
  assert.ok(visitor.inside);
  const { page } = visitor;
  await page.clock.install();
  await opened(page, visitor.address, PAGE);
  const timer = page.getByRole("timer");
  await timer.filter({ hasText: /ends in \d0 seconds\./ }).waitFor();
  assert.equal(await page.getByRole("alertdialog").count(), 0, "no warning at first");

  await cluster.advance(LATE_MS);
  await page.clock.runFor(MINUTE_MS);
  const warning = page.getByRole("alertdialog", { name: /ends in \d0 seconds\. Do you want/ });
  await warning.waitFor();
  await visitor.keepScreenshot("session-warning");
  assert.deepEqual(await barriers(page), []);
  // The keyboard alone: the first button has the focus.
  await page.keyboard.press("Enter");
  await timer.filter({ hasText: /ends in [56]0 seconds\./ }).waitFor();
  assert.equal(await page.getByRole("alertdialog").count(), 0);

  const next = new Visitor(cluster, { name: "next", host: shop.host });
  await next.visit();
  assert.ok(next.waiting, "the place is taken");
  await page.getByRole("button", { name: "Leave" }).click();
  const question = page.getByRole("alertdialog", { name: /Do you want to leave/ });
  await page.keyboard.press("Escape");
  assert.equal(await question.count(), 0, "Escape leaves nothing");
  await page.getByRole("button", { name: "Leave" }).click();
  await question.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("status").filter({ hasText: "You have left" }).waitFor();
  await visitor.keepScreenshot("session-left");
  assert.deepEqual(await page.context().cookies(), [], "the ticket is gone");
  for (let at = 0; at < 90 && !next.inside; at += 1) {
    await cluster.advance(1_000);
    if (cluster.clock.now() >= next.dueAt) await next.visit();
  }
  assert.ok(next.inside, "the place went to the next");
  assert.deepEqual(visitor.complaints, []);
});

const minds = "an open warning goes by what is left, and takes the place of the question";
browserTest(minds, { rooms: [theatre] }, async (arena) => {
  const { cluster } = arena;
  const visitor = await arena.visitor({ room: theatre });
  await visitor.come();
  const { page } = visitor;
  await page.clock.install();
  await opened(page, visitor.address, PAGE);
  await page.getByRole("timer").filter({ hasText: /minutes?\.$|seconds\.$/ }).waitFor();
  const lateAgain = async () => {
    await cluster.advance(LATE_MS * 2);
    await page.clock.runFor(MINUTE_MS);
  };
  await lateAgain();
  const warning = page.getByRole("alertdialog", { name: /Do you want to stay/ });
  const name = await warning.getAttribute("aria-label");
  const left = async () => Number(/\d+/.exec(await warning.getByRole("paragraph").innerText()));
  const before = await left();
  await cluster.advance(MINUTE_MS / 3);
  await page.clock.runFor(SOON_MS);
  await visitor.until(async () => (await left()) <= before - 20, "the warning says the old time");
  assert.equal(await warning.getAttribute("aria-label"), name, "the name changes under the focus");

  // As another tab of the visitor does.
  await page.evaluate(() => fetch(location.href, { method: "HEAD", cache: "no-store" }));
  await page.clock.runFor(SOON_MS);
  await warning.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Leave" }).click();
  const question = page.getByRole("alertdialog", { name: /Do you want to leave/ });
  await question.getByRole("button", { name: "Leave" }).focus();
  await lateAgain();
  await warning.waitFor();
  assert.equal(await question.count(), 0, "one question at a time");
  const focused = await page.evaluate(() => document.activeElement.textContent);
  assert.equal(focused, "Stay", "the focus is lost");
  assert.deepEqual(visitor.complaints, []);
});

const later = "a later page warns by the whole session, and one who is inside again is told so";
browserTest(later, { rooms: [cinema] }, async (arena) => {
  const { cluster } = arena;
  const visitor = await arena.visitor({ room: cinema });
  await visitor.come();
  const { page } = visitor;
  await page.clock.install();
  await opened(page, visitor.address, PAGE);
  // Half of what is left then would be later.
  const atOnce = { timeout: SOON_MS };
  const timer = page.getByRole("timer");
  const warning = page.getByRole("alertdialog", { name: /Do you want to stay/ });
  await timer.filter({ hasText: /ends in/ }).waitFor();
  assert.equal(await warning.count(), 0, "no warning at first");
  const passes = async (ms) => {
    await cluster.advance(ms);
    await page.clock.fastForward(ms);
  };
  await passes(MINUTE_MS + SOON_MS);
  await page.reload();
  await warning.waitFor(atOnce);
  // A tab of its own takes what is left for the whole.
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await timer.filter({ hasText: /ends in/ }).waitFor();
  assert.equal(await warning.count(), 0);

  await passes(MINUTE_MS);
  const over = page.getByRole("status").filter({ hasText: "over" });
  await over.waitFor();
  // As another tab of the visitor does, and then this one is seen again.
  await page.evaluate(() => fetch(location.href, { method: "HEAD", cache: "no-store" }));
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await timer.filter({ hasText: /ends in/ }).waitFor();
  assert.equal(await over.count(), 0, "it is over and goes on");
  assert.equal(await warning.count(), 0, "the new session begins with a warning");
  await passes(MINUTE_MS + SOON_MS);
  await warning.waitFor(atOnce);
  assert.deepEqual(visitor.complaints, []);
});

const words = "each text has its language: the site's own that of the page, others English";
browserTest(words, { rooms: [shop] }, async (arena) => {
  const visitor = await arena.visitor({ room: shop });
  await visitor.come();
  const { page } = visitor;
  const comes = (root, texts) => {
    const html = PAGE.replace('lang="en"', root).replace("-session>", `-session ${texts}>`);
    return opened(page, visitor.address, html);
  };
  const language = (part) => part.evaluate(({ lang, dir }) => [lang, dir]);
  const timer = page.getByRole("timer");
  await comes('lang="de"', 'text-left="Noch {time}"');
  await timer.filter({ hasText: /^Noch \d0 Sekunden$/ }).waitFor();
  assert.deepEqual(await language(timer), ["de", "ltr"]);
  assert.deepEqual(await language(page.getByRole("button", { name: "Leave" })), ["en", "ltr"]);

  await comes('lang="ar" dir="rtl"', 'text-leave="غادر"');
  await timer.filter({ hasText: /^Your session ends in \d0 seconds\.$/ }).waitFor();
  assert.deepEqual(await language(timer), ["en", "ltr"]);
  await page.getByRole("button", { name: "غادر" }).click();
  const question = page.getByRole("alertdialog", { name: /Do you want to leave/ });
  assert.deepEqual(await language(question), ["en", "ltr"]);
  assert.deepEqual(await language(question.getByRole("button", { name: "غادر" })), ["ar", "rtl"]);
  await visitor.keepScreenshot("session-arabic");
  assert.deepEqual(visitor.complaints, []);
});

/** Opens a page that the site would serve, with the script beside it. */
async function opened(page, address, html) {
  await page.route("**/session.js", (route) =>
    route.fulfill({ contentType: "text/javascript", body: SCRIPT }),
  );
  // A `HEAD` is a visit of the page: the Worker sees it.
  await page.route("**/shop.html", (route) => {
    const headers = { "content-security-policy": POLICY, "content-type": "text/html" };
    return route.request().method() === "HEAD"
      ? route.continue()
      : route.fulfill({ headers, body: html });
  });
  await page.goto(new URL("/shop.html", address).href);
}
