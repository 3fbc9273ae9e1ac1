/**
 * The page of a room in the owner's cockpit, in a real browser: written, looked at in its states
 * and languages before it counts, saved and met by a visitor.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const READ_ONLY = "the-token-for-reading";
const LANGUAGES = fs.readdirSync(path.join(ROOT, "templates", "languages")).length;
const MINUTE_MS = 60_000;
/** One pixel. */
const LOGO = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const shop = localRoom({
  name: "shop",
  ...FREQUENT_CHECK_INS,
  session_duration: 30,
  page_message: "The lift is broken.",
});
const options = { rooms: [shop], vars: { API_TOKEN_READ: READ_ONLY } };

browserTest("a page is written, looked at, saved and seen", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  let editors = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/editor.js")) editors += 1;
  });
  await owner.open(shop);
  assert.equal(editors, 0, "only the screens with such a page load the editor");
  await page.getByRole("link", { name: "Page", exact: true }).click();
  const seen = page.frameLocator("iframe");
  const shows = (text) => seen.getByText(text).first().waitFor();
  await shows("shop.localhost");
  await shows(/10 minutes/);
  assert.equal(editors, 1);
  const language = page.getByLabel("Language of the visitor");
  assert.equal(await language.locator("option").count(), LANGUAGES);
  await language.selectOption("de-DE");
  await shows(/10 Minuten/);
  for (const [state, text] of [
    ["The line is full", /voll/],
    ["Before a draw", /Los|ausgelost/],
    ["Waiting", /10 Minuten/],
  ]) {
    await page.getByLabel("State").selectOption({ label: state });
    await shows(text);
  }

  await page.getByLabel("Name").fill("Theatre");
  await page.getByLabel("Text", { exact: true }).fill("Two tickets for each of you.");
  await shows("Theatre");
  await shows("Two tickets for each of you.");
  await page.getByLabel("Colour").fill("red");
  await owner.reads(/^The page below shows what was written before\./);
  await shows("Theatre");
  await owner.button("Save").click();
  await page.locator("#field-page_color-problem").getByText(/#0f766e/).waitFor();
  assert.equal((await stored(arena)).page_name, "");

  await page.getByLabel("Colour").fill("#7a1f5c");
  // As visitors see it: in its colour, with the room's message, and with its script.
  await seen.locator('html[style*="--accent: #7a1f5c"]').waitFor({ state: "attached" });
  await shows("The lift is broken.");
  await losesAnAnswer(owner, shows);
  // What is half written survives a reload, and other screens.
  await page.reload();
  await owner.reads(/^What you had written here is back\./);
  await shows("Theatre");
  await page.getByRole("link", { name: "Now", exact: true }).click();
  await page.goBack();
  assert.equal(await page.getByLabel("Colour").inputValue(), "#7a1f5c");
  const picture = { name: "logo.gif", mimeType: "image/gif", buffer: Buffer.from(LOGO, "base64") };
  await page.getByLabel("Logo").setInputFiles(picture);
  await page.getByAltText("The logo").waitFor();
  await owner.button("Save").click();
  await owner.reads(/stored; visitors see it within 5 s\./);
  const { page_name: name, page_color: color, page_logo: logo } = await stored(arena);
  assert.deepEqual([name, color, logo], ["Theatre", "#7a1f5c", `data:image/gif;base64,${LOGO}`]);
  await visitorInside(arena.cluster, shop);
  await arena.cluster.advance(6_000);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  await visitor.come();
  await visitor.page.getByText("Two tickets for each of you.").waitFor();
  await waitsForTheEvent(owner, arena);
  assert.deepEqual(owner.complaints, []);
});

/** The event that is on has its own text. */
async function waitsForTheEvent(owner, arena) {
  const at = (minutes) => new Date(Date.now() + minutes * MINUTE_MS).toISOString();
  const times = { event_start_time: at(-5), event_end_time: at(60) };
  const event = { name: "sale", page_text: "Hello", ...times };
  await call(arena.cluster, "POST", `${ROOMS}/${shop.id}/events`, event);
  await arena.cluster.advance(6_000);
  await owner.page.getByLabel("Text", { exact: true }).fill("One ticket for each of you.");
  await owner.button("Save").click();
  await owner.reads(/: stored; but the event “sale” has its own until it ends, /);
}

/** A picture that is lost is asked for again: nobody has to type for it. */
async function losesAnAnswer({ browser, page }, shows) {
  await page.route("**/waiting_rooms/preview", (route) => route.abort(), { times: 1 });
  const text = page.getByLabel("Text", { exact: true });
  for (const written of ["Three tickets for each of you.", "Two tickets for each of you."]) {
    await text.fill(written);
    await shows(written);
    browser.complaints.length = 0;
  }
}

browserTest("a page of one's own names its mistakes", options, async (arena) => {
  const owner = await opened(arena, DESKTOP);
  const { page } = owner;
  const own = page.getByLabel("A page of your own");
  await own.fill("<p>Wait {{waitTimes}} minutes");
  await owner.reads(/waitTimes.*waitTime/);
  // At its place: the first line has the mark.
  await page.locator(".cm-gutter-lint .cm-lint-marker").waitFor();
  await own.fill("<p>Wait\n{{waitTime}} minutes\n  {{#queueIsFull}}");
  const lines = page.locator(".cm-lineNumbers .cm-gutterElement:visible");
  const areNumbered = async () => (await lines.allTextContents()).join() === "1,2,3";
  await owner.browser.until(areNumbered, "the lines have other numbers");
  const mistake = page.locator(".cm-lintRange-error, .cm-lintPoint-error");
  const marked = page.locator(".cm-line", { has: mistake });
  await marked.getByText("queueIsFull").waitFor();
  await owner.button("Save").click();
  await page.locator(".editor.invalid").waitFor();
  await page.locator("#field-custom_page_html-problem").getByText(/line 3, column 3/i).waitFor();
  const isFocused = () => own.evaluate((field) => field.matches(":focus"));
  await owner.browser.until(isFocused, "the mistake has no focus");
  await page.keyboard.press("Tab");
  assert.ok(!(await isFocused()), "Tab leaves it");
  await owner.looks("page-mistakes");
  await own.fill("<p>Wait {{waitTime}} minutes{{#queueIsFull}}");
  await owner.reads(/^The page below shows what was written before\./);
  await own.fill("<p>Wait {{waitTime}} minutes");
  const seen = page.frameLocator("iframe");
  await seen.getByText("Wait 10 minutes").waitFor();
  // What a page runs runs here as well, but sees nothing of the owner's.
  const look = "try { x.textContent = parent.document.title } catch { x.textContent = 'loud' }";
  await own.fill(`<p id=x>quiet<script>${look}; sessionStorage.length</script>`);
  await seen.getByText("loud").waitFor();

  // A hidden tab reads nothing: it goes on with the room as it was.
  await owner.hides(true);
  await call(arena.cluster, "PATCH", `${ROOMS}/${shop.id}`, { page_name: "Circus" });
  await page.getByLabel("Name").fill("Theatre");
  await owner.button("Save").click();
  await owner.reads(/meanwhile somebody else has set page_name "Circus"/);
  assert.equal((await stored(arena)).custom_page_html, "");
});

browserTest("what is typed quickly on a slow device stays", options, async (arena) => {
  const owner = await opened(arena, DESKTOP);
  const { page } = owner;
  const own = page.getByLabel("A page of your own");
  await own.click();
  const device = await page.context().newCDPSession(page);
  await device.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  const text = "Please wait until your turn comes, and do not reload the page. ".repeat(4).trim();
  await page.keyboard.type(text);
  const isSettled = async () => (await own.innerText()).trim() === text;
  await owner.browser.until(isSettled, "something that was typed is lost");
});

browserTest("the screen of a page is readable by everybody", options, async (arena) => {
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await opened(arena, context);
    await owner.page.frameLocator("iframe").getByText(/10 minutes/).first().waitFor();
    await owner.looks(`page-${device}`);
    assert.deepEqual(owner.complaints, []);
  }
  const looker = await opened(arena, DESKTOP, READ_ONLY);
  await looker.reads(/^You may only look/);
  await looker.page.frameLocator("iframe").getByText(/10 minutes/).first().waitFor();
});

async function opened(arena, context, token = SECRETS.API_TOKEN) {
  const owner = await ownerOf(arena, context);
  await owner.page.evaluate((hash) => {
    location.hash = hash;
  }, `#/room/${shop.zone_id}/${shop.id}/page`);
  await owner.signIn(token);
  await owner.heading(shop.name).waitFor();
  return owner;
}

async function stored(arena) {
  return (await call(arena.cluster, "GET", `${ROOMS}/${shop.id}`)).result;
}
