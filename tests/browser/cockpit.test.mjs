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
/** Some rounds of lines, which are a second apart, or of questions, which are 2 s apart. */
const ROUNDS_MS = 7_000;
/** A page that has asked nothing for so long has asked all that it asks first. */
const SETTLED_MS = 1_500;
/** The page asks for the last half an hour each 30 s. */
const RECENT_MS = 120_000;
/** The room counts everybody within so many steps of a quarter of a second. */
const COUNTS_MAX = 240;
/** A page takes a stream for broken that has said nothing for so long. */
const SILENT_MS = 5_000;

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

browserTest("a tab that is hidden as soon as it is there asks nothing", options, async (arena) => {
  const owner = await ownerOf(arena, DESKTOP);
  let asked = 0;
  owner.page.on("request", () => (asked += 1));
  await owner.page.evaluate(() => {
    const screens = new MutationObserver(() => {
      if (!document.querySelector("header button")) return;
      screens.disconnect();
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    screens.observe(document, { childList: true, subtree: true });
  });
  await owner.signIn(SECRETS.API_TOKEN);
  await owner.button("Sign out").waitFor();
  await owner.isQuiet(SETTLED_MS);
  const before = asked;
  await sleep(ROUNDS_MS);
  assert.equal(asked, before);
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
  await owner.reads(/^This is not a token of this deployment\. It is the secret API_TOKEN/);
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
  await owner.reads(/^This token only looks\. To change the room, sign out/);
  assert.equal(await owner.button("Hold all").count(), 0);
  const lost = { success: false, errors: [{ code: 10_000, message: "lost" }], result: null };
  await page.route("**/audit_log?*", (route) => route.fulfill({ status: 403, json: lost }));
  await owner.reads(/^The token is not accepted any more/);
  await page.getByLabel("Token").waitFor();
});

const many = Array.from({ length: 120 }, (_, at) => localRoom({ name: `room-${at + 1}` }));
browserTest("only what is looked at is asked for", { rooms: many }, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const count = () => arena.cluster.calls("GlobalAggregator");
  /** How many calls of objects are made in a while, and in how many seconds. */
  const callsInAWhile = async () => {
    const [began, before] = [Date.now(), await count()];
    await sleep(ROUNDS_MS);
    const calls = (await count()) - before;
    return { calls, seconds: (Date.now() - began) / 1_000 };
  };
  /** Waits: the Worker notices only after a while that nobody reads the streams of before. */
  const untilCalls = async (areMeant, complaint) => {
    let told;
    const isSo = async () => areMeant((told = await callsInAWhile()));
    await owner.browser.until(isSo, () => `${complaint}: ${JSON.stringify(told)}`);
  };
  await owner.reads("0 / 1");
  const rooms = owner.streams.at(-1);
  assert.ok(rooms.length > 3 && rooms.length < 20, `${rooms.length} rooms`);
  const all = await callsInAWhile();
  const told = `${all.calls} calls for ${rooms.length} rooms`;
  assert.ok(all.calls <= rooms.length * (all.seconds + 2), told);
  await owner.reads("These are the first 100 of 120.");
  await owner.page.getByLabel("Find a room").fill("nothing");
  await owner.reads("No room has “nothing” in its name or host.");
  await owner.page.getByLabel("Find a room").fill("room-7");
  await owner.open(many[6]);
  await owner.reads("0 / 1");
  // The page knows the number from the list; the stream of this room alone comes after it.
  const isAlone = () => owner.streams.at(-1).join() === many[6].id;
  await owner.browser.until(isAlone, () => `others are listened to: ${owner.streams.at(-1)}`);
  const areOfOne = ({ calls, seconds }) => calls >= 2 && calls <= seconds + 2;
  await untilCalls(areOfOne, "one room is not all that is asked for");
  await owner.hides(true);
  await untilCalls(({ calls }) => calls === 0, "a hidden tab asks");
  await owner.hides(false);
  await owner.reads(/^\d s ago$/);
  assert.deepEqual(owner.asked, [], "rooms are asked for one by one beside the stream");
});

browserTest("what visitors change is on the screen within 2 s", options, async (arena) => {
  const { cluster } = arena;
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  await owner.reads("0 / 20");
  const path = `${ROOMS}/${shop.id}/status`;
  const waits = async () => (await call(cluster, "GET", path)).result.estimated_queued_users;
  // From here on the Worker's time is what counts: 1.5 s of it for each change. In the time of the
  // browser a line may come late.
  await waitsLongFor(owner.page, SILENT_MS);
  cluster.clock.stop();
  let coming = 0;
  for (const count of [COMING, 5, 6, 7, 8]) {
    coming += count;
    const crowd = new Crowd(cluster, { count, host: shop.host, label: `of-${coming}` });
    await crowd.arrive();
    for (let counts = 0; (await waits()) !== coming - LIMIT; counts += 1) {
      assert.ok(counts < COUNTS_MAX, `${await waits()} wait of ${coming - LIMIT}`);
      await crowd.wait(250);
    }
    // The stream has the next line within a second of its Worker's clock, and writes it at once.
    await cluster.advance(1_500);
    const told = owner.page.getByText(`about ${coming - LIMIT}`, { exact: true });
    await told.waitFor();
  }
  await owner.reads("20 / 20");
  assert.deepEqual(owner.asked, []);
});

/** Makes timers of so many milliseconds in a page twenty times as long. */
function waitsLongFor(page, meantMs) {
  return page.evaluate((meant) => {
    const { setTimeout: set } = window;
    window.setTimeout = (call, ms, ...rest) => set(call, ms === meant ? 20 * ms : ms, ...rest);
  }, meantMs);
}

browserTest("where streams do not pass numbers are asked for", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  const ways = {
    cut: (route) => route.abort(),
    refused: (route) => route.fulfill({ status: 503, body: "busy" }),
    empty: (route) => route.fulfill({ status: 200, body: "" }),
    "kept back by a proxy": () => {},
  };
  for (const [name, way] of Object.entries(ways)) {
    await page.route(/live\?rooms/, way);
    await page.reload();
    await owner.reads("0 / 20");
    assert.ok(owner.asked.length > 0, `${name}: who has told?`);
    owner.asked.length = 0;
    await owner.reads(/^\d s ago$/);
    const tried = owner.streams.length;
    await page.unroute(/live\?rooms/);
    // It tries again by itself, and asks no more.
    await owner.browser.until(() => owner.streams.length > tried, `${name}: it does not try again`);
    const asksNoMore = async () => {
      owner.asked.length = 0;
      await sleep(ROUNDS_MS / 2);
      return owner.asked.length === 0;
    };
    await owner.browser.until(asksNoMore, `${name}: it goes on asking beside the stream`);
    await owner.reads(/^\d s ago$/);
  }
});

browserTest("without a network numbers grow old and come back", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const context = owner.page.context();
  await owner.open(shop);
  await owner.reads("0 / 20");
  await context.setOffline(true);
  await owner.reads(/no news for \d+ s: The waiting room cannot be reached/);
  await owner.reads(/The settings below are of/);
  assert.ok(await owner.button("Hold all").isDisabled());
  await context.setOffline(false);
  await owner.reads(/^\d s ago$/);
  await owner.page.getByText(/The settings below are of/).waitFor({ state: "detached" });
  assert.ok(await owner.button("Hold all").isEnabled());
});

/** On a phone figures, buttons and what a button does fit the screen; that is read by focus. */
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
