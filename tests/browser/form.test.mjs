/**
 * A form that is sent into a full room: the browser keeps what was filled in, and sends it when
 * somebody who is inside asks for that; never by itself, and for no other site.
 */

import assert from "node:assert/strict";

import { barriers } from "../harness/accessibility.mjs";
import { PHONE, browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const SESSION_MS = 60_000;
/** How often a page is loaded again, and how long after one that could not be, in milliseconds. */
const TRIES = 5;
const QUIET_MS = 200;
const TYPED = "Row 7 & 8, by the window";
const FILE = { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("by the door") };

const shop = localRoom({ name: "forms", ...FREQUENT_CHECK_INS });
const options = { rooms: [shop] };

/** A visitor who has filled in a form and sent it, and now waits. */
async function sends(arena, context = PHONE) {
  await visitorInside(arena.cluster, shop);
  const visitor = await arena.visitor({ room: shop, context });
  const { page } = visitor;
  const form = new URL("page-with-a-form", visitor.address).href;
  const body =
    // Without a picture of its own the browser would ask the full room for one.
    '<link rel="icon" href="data:,">' +
    '<form method="post" action="order" enctype="multipart/form-data">' +
    '<input name="seat"><input type="file" name="note"><button>Order</button></form>';
  const shows = (route) => route.fulfill({ contentType: "text/html", body });
  await page.route(form, shows, { times: 1 });
  await page.goto(form);
  await page.locator("[name=seat]").fill(TYPED);
  await page.locator("[name=note]").setInputFiles(FILE);
  await page.getByRole("button", { name: "Order" }).click();
  await page.locator("#unsent").waitFor();
  return visitor;
}

/** What reached the site at the address of the form: the methods. */
async function orders(cluster) {
  const arrivals = await cluster.arrivals();
  return arrivals.filter(({ path }) => path === "/order").map(({ method }) => method);
}

browserTest("what was typed is sent when somebody asks for it", options, async (arena) => {
  const { cluster } = arena;
  const visitor = await sends(arena);
  const { page } = visitor;
  await page.getByText("Your browser keeps what you filled in.").waitFor();
  await visitor.keepScreenshot("form-kept", { fullPage: true });
  await visitor.until(() => visitor.checkIns.length > 1, "it did not check in");
  assert.ok(await page.getByText("Your browser keeps what you filled in.").isVisible());
  await cluster.advance(SESSION_MS);
  await page.getByRole("heading", { name: "It is your turn" }).waitFor();
  assert.deepEqual(await orders(cluster), [], "it was sent by itself");
  assert.deepEqual(await barriers(page), []);
  await visitor.keepScreenshot("form-offered", { fullPage: true });
  await page.emulateMedia({ colorScheme: "dark" });
  await visitor.keepScreenshot("form-offered-dark", { fullPage: true });
  await page.keyboard.press("Enter");
  await visitor.until(() => visitor.inside, "it was not sent");
  assert.deepEqual(await orders(cluster), ["POST"]);
  // The site answers with what it got.
  const got = await visitor.text();
  for (const part of [TYPED, FILE.name, FILE.buffer.toString()]) assert.ok(got.includes(part), got);
  assert.deepEqual(visitor.complaints, []);
});

browserTest("who does not send it goes on to the form", options, async (arena) => {
  const visitor = await sends(arena, { ...PHONE, locale: "ar-EG" });
  const { page } = visitor;
  await arena.cluster.advance(SESSION_MS);
  const away = page.locator("#offer a");
  await away.waitFor();
  await visitor.keepScreenshot("form-offered-from-right-to-left", { fullPage: true });
  await away.click();
  await visitor.until(() => visitor.inside, "it leads nowhere");
  assert.equal(new URL(page.url()).pathname, "/page-with-a-form");
  assert.deepEqual(await orders(arena.cluster), []);
  assert.deepEqual(visitor.complaints, []);
});

browserTest("without script the browser sends it again", options, async (arena) => {
  const visitor = await sends(arena, { ...PHONE, javaScriptEnabled: false });
  const { page } = visitor;
  await page.getByText("go back with your browser").waitFor();
  await visitor.keepScreenshot("form-without-script", { fullPage: true });
  await arena.cluster.advance(SESSION_MS);
  await visitor.enters();
  assert.deepEqual(await orders(arena.cluster), []);
  // The page of the answer was not kept: the browser asks, and loading again says yes.
  await page.goBack().catch(() => {});
  for (let tries = 0; tries < TRIES && (await orders(arena.cluster)).length === 0; tries += 1) {
    await page.reload().catch(() => page.waitForTimeout(QUIET_MS));
  }
  assert.deepEqual(await orders(arena.cluster), ["POST"]);
});
