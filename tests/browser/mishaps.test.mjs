/**
 * The queue page when something goes wrong around it: a server in between answers with errors, the
 * clock of the device is set back, a form was sent too late, the turn must be heard.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const HELP = "https://help.example/";
const quick = localRoom({ name: "quick", page_help_url: HELP, ...FREQUENT_CHECK_INS });
const confirms = localRoom({
  name: "confirms",
  confirm_turn_minutes: 1,
  session_duration: 1,
  ...FREQUENT_CHECK_INS,
});
/** The page says what is new half a second after it has come. */
const SAID_MS = 900;

const options = { rooms: [quick] };
const outlasts = "minutes of errors in between cost nobody the page";
browserTest(outlasts, options, async (arena) => {
  const visitor = await waiting(arena, quick);
  const { page } = visitor;
  let errors = 0;
  await page.route(/quick\.localhost/, async (route) => {
    errors += 1;
    const body = "<h1>502 Bad Gateway</h1>";
    await route.fulfill({ status: 502, contentType: "text/html", body });
  });
  await visitor.until(() => errors >= 5, "it does not go on asking");
  await page.locator(".lost").waitFor();
  await page.unroute(/quick\.localhost/);
  await page.locator(".lost").waitFor({ state: "hidden" });
  await page.getByRole("heading", { name: "You are in line" }).waitFor();
});

browserTest("who was away too long hears of the new place", options, async (arena) => {
  const visitor = await waiting(arena, quick);
  const { page } = visitor;
  const notice = page.locator("#anew");
  const reference = () => page.locator(".ref").innerText();
  const before = await reference();
  await page.route(/quick\.localhost/, (route) => route.abort());
  await arena.cluster.advance(20 * 60_000);
  await visitorInside(arena.cluster, quick);
  await page.locator(".lost").waitFor();
  await page.evaluate(() => {
    const now = Date.now.bind(Date);
    Date.now = () => now() + 20 * 60_000;
  });
  assert.ok(!(await notice.isVisible()));
  await page.unroute(/quick\.localhost/);
  await notice.waitFor();
  assert.notEqual(await reference(), before);
  await page.waitForTimeout(SAID_MS);
  assert.match(await page.locator(".said").textContent(), /Your earlier place could not be kept/);
  await visitor.refreshes(2);
  assert.ok(await notice.isVisible(), "it stays");
});

const loads = "an address that answers with a download loads it twice at most";
browserTest(loads, options, async (arena) => {
  const visitor = await waiting(arena, quick);
  const { page } = visitor;
  let downloads = 0;
  await page.route(/quick\.localhost/, async (route) => {
    const isCheckIn = route.request().headers()["waiting-room-check-in"];
    if (isCheckIn) return route.fulfill({ status: 204 });
    downloads += 1;
    const headers = { "content-disposition": "attachment; filename=ticket.pdf" };
    return route.fulfill({ status: 200, contentType: "application/pdf", headers, body: "%PDF" });
  });
  // A minute later the page would load it again.
  await page.evaluate(() => {
    const wait = globalThis.setTimeout;
    globalThis.setTimeout = (call, ms) => wait(call, ms / 20);
  });
  await visitor.until(() => downloads === 2, "it does not load it");
  await page.waitForTimeout(10_000);
  assert.equal(downloads, 2);
});

browserTest("a clock that is set back holds up no check-in", options, async (arena) => {
  const visitor = await waiting(arena, quick);
  await visitor.page.evaluate(() => {
    const now = Date.now.bind(Date);
    Date.now = () => now() - 30 * 60_000;
  });
  await visitor.refreshes(2);
});

browserTest("check-ins take away nothing that is read", options, async (arena) => {
  await visitorInside(arena.cluster, quick);
  const visitor = await arena.visitor({ room: quick, context: PHONE });
  const { page } = visitor;
  await visitor.submitForm("order");
  await visitor.refreshes(2);
  await page.getByRole("link", { name: "Help" }).focus();
  await page.evaluate(() => {
    getSelection().selectAllChildren(document.querySelector(".ref"));
  });
  const held = () =>
    page.evaluate(() => [document.activeElement.tagName, String(getSelection()).length > 5]);
  assert.deepEqual(await held(), ["A", true]);
  await visitor.refreshes(2);
  assert.deepEqual(await held(), ["A", true]);
  assert.ok((await visitor.text()).includes("Nothing was submitted."));
});

browserTest("the turn is heard, and the owner's news", { rooms: [confirms] }, async (arena) => {
  await visitorInside(arena.cluster, confirms);
  const visitor = await arena.visitor({ room: confirms, context: PHONE });
  const { page } = visitor;
  await page.addInitScript(() => {
    globalThis.heard = [];
    addEventListener("DOMContentLoaded", () => {
      const said = document.querySelector(".said");
      const note = () => globalThis.heard.push(said.textContent);
      const all = { childList: true, characterData: true, subtree: true };
      new MutationObserver(note).observe(said, all);
    });
  });
  await visitor.come();
  await visitor.refreshes(1);
  const heard = async () => (await page.evaluate(() => globalThis.heard)).join("\n");
  const path = `${ROOMS}/${confirms.id}`;
  await call(arena.cluster, "PATCH", path, { page_message: "Doors at eight" });
  await page.locator(".news").getByText("Doors at eight").waitFor();
  await page.waitForTimeout(SAID_MS);
  assert.match(await heard(), /Doors at eight/);
  await arena.cluster.advance(60_000);
  await page.getByRole("heading", { name: "It is your turn" }).waitFor();
  await page.waitForTimeout(SAID_MS);
  assert.match(await heard(), /It is your turn/);
  await page.setViewportSize({ width: 667, height: 320 });
  const button = await page.getByRole("button", { name: "Enter now" }).boundingBox();
  assert.ok(button.y + button.height <= 320, "on a phone held sideways it is in sight");
});

async function waiting(arena, room) {
  await visitorInside(arena.cluster, room);
  const visitor = await arena.visitor({ room, context: PHONE });
  await visitor.come();
  await visitor.refreshes(1);
  return visitor;
}
