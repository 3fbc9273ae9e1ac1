/**
 * The owner's cockpit in a browser: signing in, watching a line, steering and undoing, by keyboard.
 */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";

const READ_ONLY = "the-token-for-reading";
const LIMIT = 20;
const COMING = 50;
/** Until the aggregators have counted everybody who waits. */
const COUNTED_MS = 15_000;
/** The page asks for the last half an hour each 30 s. */
const RECENT_MS = 120_000;

/** Nobody presses a button for so long, but holds it. */
const HELD_MS = 1_500;

const shop = localRoom({
  name: "shop",
  ...RARE_CHECK_INS,
  total_active_users: LIMIT,
  new_users_per_minute: LIMIT,
  session_duration: 30,
});
const tickets = localRoom({ name: "tickets", description: "Tickets of the theatre" });
const options = { rooms: [shop, tickets], vars: { API_TOKEN_READ: READ_ONLY } };

browserTest("an owner watches a line, steers it and undoes", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  const row = page.getByRole("row", { name: /^shop/ });
  await row.getByText("Not queueing").waitFor();
  await row.getByText(`0 / ${LIMIT}`).waitFor();
  await comes(arena.cluster);
  await row.getByText(`${LIMIT} / ${LIMIT}`).waitFor();
  await row.getByText("Queueing", { exact: true }).waitFor();
  await row.getByText(`about ${COMING - LIMIT}`).waitFor();
  await owner.open(shop);
  await owner.reads("20 / 20");
  await owner.reads(/^Next enters in about (29|30) min ·/);

  await owner.reads("2 more visitors may enter.");
  await owner.button("Limit +10 %, to 22").click();
  await owner.reads(/In force: total active users 22\. Stored and read back/);
  await owner.reads("20 / 22");
  assert.equal((await stored(arena)).total_active_users, 22);
  await owner.button("Limit +10 %, to 24").waitFor();

  await owner.reads("Nobody new enters. The 20 inside go on; about 30 in line keep their places.");
  await owner.button("Hold all").click();
  await owner.reads(/In force: Hold all\./);
  await page.locator(".status").getByText("Hold all").waitFor();
  assert.equal((await stored(arena)).queue_all, true);
  // Visitors are told no time, and so is the owner. What was done is told where it was.
  await page.getByText("no time: held", { exact: true }).waitFor();
  const held = page.getByRole("listitem").filter({ hasText: "Hold all" });
  await held.getByText(/In force: Hold/).waitFor();
  await covers(page, ".outcome");
  // The last half an hour is a picture, with the hold as a mark.
  const marks = page.locator(".recent .changed");
  await marks.first().waitFor({ state: "attached", timeout: RECENT_MS });
  await owner.reads(/^At most 20 inside and \d+ waiting at one time; 20 entered\./, RECENT_MS);
  const limit = page.getByLabel("Total active users");
  await limit.fill("19");
  await page.reload();
  assert.equal(await limit.inputValue(), "19", "what was half written is lost");
  await owner.button("Cancel").click();
  await owner.button("Undo: back to nobody held").click();
  await owner.reads(/In force: nobody held\./);
  assert.equal((await stored(arena)).queue_all, false);
  await owner.button("Undo: back to Hold all").waitFor();
  await owner.button("Undo: back to total active users 20").click();
  await owner.reads("20 / 20");
  const { total_active_users: total, new_users_per_minute: rate } = await stored(arena);
  assert.deepEqual([total, rate], [LIMIT, LIMIT]);
  assert.deepEqual(owner.complaints, []);
});

const held = "on a phone a button that is held is read and not pressed";
browserTest(held, options, async (arena) => {
  const owner = await signedIn(arena, PHONE);
  const { page } = owner;
  await owner.open(shop);
  await owner.reads("0 / 20");
  const hold = owner.button("Hold all");
  const { x, y, width, height } = await hold.boundingBox();
  const finger = await page.context().newCDPSession(page);
  const at = { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };
  const tap = { ...at, duration: HELD_MS, gestureSourceType: "touch" };
  const does = page.locator("#does-hold");
  const isRead = async () => {
    await sleep(HELD_MS);
    assert.ok(await does.isVisible(), "what was read is gone");
    assert.equal((await stored(arena)).queue_all, false);
    await owner.heading(shop.name).focus();
  };
  await Promise.all([does.waitFor(), finger.send("Input.synthesizeTapGesture", tap)]);
  await isRead();
  // Not every screen ends a hold without a click.
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await sleep(HELD_MS);
  await page.mouse.up();
  await isRead();
  await hold.focus();
  await page.keyboard.press("Enter");
  await owner.reads(/In force: Hold all\./);
  await owner.button("Open").tap();
  await owner.reads(/In force: nobody held/);
  assert.deepEqual(owner.complaints, []);
});

browserTest("what disturbs people inside asks for the name", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  const drain = owner.button("Drain");
  await drain.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Drain" });
  await dialog.getByText(/^Nobody new enters, and sessions are not renewed/).waitFor();
  await owner.answers("tickets");
  await page.keyboard.press("Enter");
  assert.ok(await dialog.getByRole("button", { name: "Drain" }).isDisabled());
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.ok(await drain.evaluate((button) => button === document.activeElement), "lost focus");
  assert.equal((await stored(arena)).maintenance, "off");

  await page.keyboard.press("Enter");
  await owner.answers("shop");
  await page.keyboard.press("Enter");
  await owner.reads(/In force: Drain\./);
  assert.equal((await stored(arena)).maintenance, "drain");
  await owner.button("Maintenance").click();
  await owner.answers("shop");
  await page.keyboard.press("Enter");
  await owner.reads(/In force: Maintenance\./);
  assert.equal((await stored(arena)).maintenance, "hold");
  // To undo the end of a maintenance is to begin it again.
  await owner.button("Open").click();
  await owner.reads(/In force: nobody held, no maintenance\./);
  await owner.button("Undo: back to Maintenance").click();
  await dialogOf(page, "Undo: back to Maintenance").waitFor();
  assert.equal((await stored(arena)).maintenance, "off");
  assert.deepEqual(owner.complaints, []);
});

browserTest("changes by others are seen, and none is overwritten", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  await owner.reads("0 / 20");
  await change(arena, { total_active_users: 200, new_users_per_minute: 40 });
  await owner.reads("0 / 200");
  await owner.button("Undo: back to total active users 20, new users per minute 20").waitFor();

  await page.getByLabel("Total active users").fill("300");
  await change(arena, { total_active_users: 250 });
  await owner.reads("The room has changed meanwhile: now 250, and 40 a minute.");
  await owner.reads("300 more visitors may enter.");
  await page.getByLabel("New users per minute").fill("301");
  await owner.reads("New users per minute cannot be more than total active users.");
  assert.ok(await owner.button("Apply").isDisabled());
  await page.getByLabel("New users per minute").fill("30");
  await owner.button("Apply").click();
  await owner.reads(/In force: total active users 300, new users per minute 30\./);

  // In a hidden tab nothing is read, so its button is about limits of before.
  await owner.button("Limit −10 %, to 270").waitFor();
  await owner.hides(true);
  await change(arena, { total_active_users: 100 });
  await owner.button("Limit −10 %, to 270").click();
  await owner.reads(/Nothing was changed: meanwhile somebody else has set total active users 100/);
  assert.equal((await stored(arena)).total_active_users, 100);
  assert.deepEqual(owner.complaints, []);
});

browserTest("an event's limits are changed while it counts", options, async (arena) => {
  const at = (minutes) => new Date(arena.cluster.clock.now() + minutes * 60_000).toISOString();
  const sale = {
    name: "sale",
    event_start_time: at(-1),
    event_end_time: at(60),
    total_active_users: 50,
    new_users_per_minute: 10,
  };
  const path = `${ROOMS}/${shop.id}/events`;
  const { id } = (await call(arena.cluster, "POST", path, sale)).result;
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  await owner.reads("0 / 50");
  await owner.reads('55 more visitors may enter. It is the limit of the event "sale".');
  await owner.button("Limit +10 %, to 55").click();
  await owner.reads("0 / 55");
  const event = (await call(arena.cluster, "GET", `${path}/${id}`)).result;
  assert.deepEqual([event.total_active_users, event.new_users_per_minute], [55, 10]);
  assert.equal((await stored(arena)).total_active_users, LIMIT);
  await owner.button("Undo: back to total active users 50").click();
  await owner.reads("0 / 50");
});

browserTest("a token is asked for, kept by the tab and told to nobody", options, async (arena) => {
  const owner = await ownerOf(arena, DESKTOP);
  const { page } = owner;
  const field = page.getByLabel("Token");
  await field.waitFor();
  await page.keyboard.press("Enter");
  await owner.reads("Enter the token.");
  await owner.signIn("guessed");
  await owner.reads(/^This is not a token that counts here\. It is one made under People/);
  for (let guess = 0; guess < 20; guess += 1) {
    await owner.signIn(`guess ${guess}`);
    await owner.button("Sign in").waitFor();
  }
  await owner.reads(/^This token is wrong, as were many of this network before\./);
  const before = owner.browser.complaints.length;
  await owner.signIn(SECRETS.API_TOKEN);
  await owner.heading("Rooms").waitFor();
  // Whoever enters the right one is refused nothing.
  assert.deepEqual(owner.browser.complaints.slice(before), []);
  await page.goto(`${page.url().split("#")[0]}#/room/${shop.zone_id}/${shop.id}`);
  await owner.heading("shop").waitFor();
  await page.reload();
  await owner.button("Hold all").waitFor();
  assert.ok(!page.url().includes(SECRETS.API_TOKEN));
  assert.deepEqual(await page.context().cookies(), []);
  const another = await page.context().newPage();
  await another.goto(page.url());
  await another.getByLabel("Token").waitFor();
  await owner.button("Sign out").click();
  await field.waitFor();
  await page.reload();
  await field.waitFor();
  assert.deepEqual(owner.complaints, []);
});

browserTest("a token that only reads says so, a lost one too", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP, READ_ONLY);
  const { page } = owner;
  await owner.open(tickets);
  await owner.reads("0 / 1");
  await owner.reads(/^You may only look\. To change the room, sign out/);
  assert.equal(await owner.button("Hold all").count(), 0);
  const lost = { success: false, errors: [{ code: 10_000, message: "lost" }], result: null };
  await page.route("**/audit_log?*", (route) => route.fulfill({ status: 403, json: lost }));
  await owner.reads(/^The token is not accepted any more/);
  await page.getByLabel("Token").waitFor();
});

async function isOneScreen(owner, height) {
  const { page } = owner;
  const does = page.locator("#does-drain");
  assert.ok(!(await does.isVisible()), "sentences are folded");
  await owner.button("Drain").focus();
  await page.evaluate(() => scrollTo(0, 0));
  await does.waitFor({ state: "visible" });
  const { y, height: tall } = await does.boundingBox();
  await owner.browser.keepScreenshot("cockpit-room-phone-focused");
  assert.ok(y + tall <= height, `what Drain does ends at ${y + tall} px of ${height}`);
}

/** Where the system gives the colours, the bar, its ground and the mark of the limit differ. */
async function showsItsBar({ page, browser }) {
  await page.emulateMedia({ forcedColors: "active" });
  await browser.keepScreenshot("cockpit-room-forced-colors");
  const parts = page.locator("section > .bar, section > .bar *");
  const colors = await parts.evaluateAll((all) =>
    all.map((part) => getComputedStyle(part).backgroundColor),
  );
  assert.equal(new Set(colors).size, 3, `the bar has the colours ${colors}`);
  await page.emulateMedia({ forcedColors: "none" });
}

browserTest("every screen is readable by everybody", options, async (arena) => {
  await comes(arena.cluster);
  await change(arena, { total_active_users: 21 });
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await ownerOf(arena, context);
    await owner.page.getByLabel("Token").waitFor();
    await owner.looks(`sign-in-${device}`);
    await owner.signIn(SECRETS.API_TOKEN);
    await owner.page.getByRole("cell", { name: /\d+ \/ 21/ }).waitFor();
    await owner.looks(`rooms-${device}`);
    await owner.open(shop);
    await owner.reads(/\d+ \/ 21/);
    await owner.looks(`room-${device}`);
    await showsItsBar(owner);
    if (device === "phone") await isOneScreen(owner, context.viewport.height);
    await owner.button("Maintenance").click();
    await owner.page.getByRole("dialog").waitFor();
    await owner.looks(`question-${device}`);
    await owner.page.keyboard.press("Escape");
    assert.deepEqual(owner.complaints, []);
  }
});

/** Lets a crowd come to the shop: some are inside, the others wait. */
async function comes(cluster) {
  const crowd = new Crowd(cluster, { count: COMING, host: shop.host });
  await crowd.arrive();
  await crowd.wait(COUNTED_MS);
}

async function stored(arena) {
  return (await call(arena.cluster, "GET", `${ROOMS}/${shop.id}`)).result;
}

/** Changes the shop as somebody else. */
async function change(arena, fields) {
  await call(arena.cluster, "PATCH", `${ROOMS}/${shop.id}`, fields);
}

/** Nothing of these elements lies over a field. */
async function covers(page, selector) {
  const covered = await page.evaluate((over) => {
    const fields = [...document.querySelectorAll("input, textarea, select")];
    return fields.filter((field) => {
      field.scrollIntoView({ block: "end" });
      const { left, top, width, height } = field.getBoundingClientRect();
      const found = document.elementFromPoint(left + width / 2, top + height / 2);
      return found?.closest(over);
    }).length;
  }, selector);
  assert.equal(covered, 0, `${selector} covers a field`);
}

function dialogOf(page, name) {
  return page.getByRole("dialog", { name });
}
