/**
 * Settings of zones and of rooms in the owner's cockpit, in a real browser, and what it tells of
 * tokens and keys: whether they are set and never what they are; on a desktop, a phone and in the
 * dark.
 */

import assert from "node:assert/strict";
import fs from "node:fs";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { signedIn } from "../harness/owner.mjs";
import { RARE_CHECK_INS, ZONE, localRoom } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

const READ_ONLY = "the-token-for-reading";
const OTHER_ZONE = "f".repeat(32);
/** Until who has come is counted. */
const COUNTED_MS = 8_000;
const MINUTE_MS = 60_000;
const shop = localRoom({ name: "shop" });
const other = localRoom({ name: "other", zone_id: OTHER_ZONE });
const vars = { API_TOKEN_READ: READ_ONLY, TURNSTILE_SECRET: "the-secret-of-the-widget" };
const options = { rooms: [shop, other], vars };

browserTest("settings of a zone are changed, and taken back", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await open(owner);
  const zone = page.getByRole("region", { name: `Zone ${ZONE}` });
  const crawlers = zone.getByLabel("Search engines pass");
  const https = zone.getByLabel("HTTPS");
  await crawlers.check();
  await https.selectOption("Always");
  await zone.getByRole("button", { name: "Save" }).click();
  const done = /In force: crawlers of search engines pass, always HTTPS\. Stored and read back/;
  await owner.reads(done);
  const settings = async (of) =>
    (await call(arena.cluster, "GET", `zones/${of}/waiting_rooms/settings`)).result;
  const both = ({ search_engine_crawler_bypass: bypass, always_use_https: https }) =>
    [bypass, https];
  assert.deepEqual(both(await settings(ZONE)), [true, true]);
  assert.deepEqual(both(await settings(OTHER_ZONE)), [false, null]);

  // What somebody else changes takes nothing away that is being filled in; and what was seen before
  // is not written over it.
  await crawlers.uncheck();
  const isNewer = async (answer) =>
    answer.url().endsWith(`${ROOMS}/settings`) &&
    (await answer.json()).result.always_use_https === false;
  const isRead = page.waitForResponse(isNewer);
  await call(arena.cluster, "PATCH", `${ROOMS}/settings`, { always_use_https: false });
  await isRead;
  await owner.hides(true);
  assert.equal(await crawlers.isChecked(), false, "what was filled in is gone");
  await zone.getByRole("button", { name: "Save" }).click();
  await owner.reads(/Nothing was changed: meanwhile somebody else has set not always HTTPS/);
  await https.and(page.locator("select:has(option[value=false]:checked)")).waitFor();
  assert.equal(await crawlers.isChecked(), true, "what is stored is shown");
  await owner.hides(false);
  await page.getByRole("link", { name: "Health" }).click();
  await owner.reads(/Settings of a zone changed: not always HTTPS, before: always HTTPS/);
  await owner.button("Undo: back to always HTTPS").click();
  await owner.reads(/In force: always HTTPS\./);
  assert.deepEqual(both(await settings(ZONE)), [true, true]);
  assert.deepEqual(owner.complaints, []);
});

browserTest("every setting of a room can be changed", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  await tab(page).click();
  const path = `${ROOMS}/${shop.id}`;
  await page.getByLabel("Turn kept (minutes)").fill("9");
  await page.getByLabel("Check in every (seconds)").fill("");
  await owner.button("Save").click();
  await page.locator("#field-turn_kept_minutes-problem").getByText(/0 to 5/).waitFor();
  await page.locator("#field-refresh_interval_seconds-problem").waitFor();
  await page.getByLabel("Turn kept (minutes)").fill("3");
  await page.getByLabel("Check in every (seconds)").fill("30");
  await page.getByLabel("Description").fill("the shop");
  await page.getByLabel("Queueing method").selectOption("Lottery");
  await page.getByLabel("Cookie: SameSite").selectOption("Lax");
  await page.getByLabel("The site may end sessions").check();
  await owner.button("Save").click();
  await owner.reads(/In force: .*turn_kept_minutes 3/);
  const stored = async () => (await call(arena.cluster, "GET", path)).result;
  const { turn_kept_minutes: kept, description, queueing_method: method, ...rest } = await stored();
  assert.deepEqual([kept, description, method], [3, "the shop", "random"]);
  const { cookie_attributes: cookie, enabled_origin_commands: commands } = rest;
  assert.deepEqual([cookie, commands], [{ samesite: "lax", secure: "auto" }, ["revoke"]]);
  assert.equal(rest.refresh_interval_seconds, 30);

  // What people notice asks for the name; nothing is changed by who thinks better of it.
  await page.getByLabel("Cookie suffix").fill("two");
  await owner.button("Save").click();
  await owner.reads(/Everybody is a new visitor/);
  await page.keyboard.press("Escape");
  await owner.reads("Nothing was changed.");
  assert.equal((await stored()).cookie_suffix, "");
  await owner.button("Save").click();
  await owner.answers("shop");
  await page.keyboard.press("Enter");
  await owner.reads(/In force: cookie_suffix "two"/);
  await page.getByLabel("More places").fill("shop.localhost/more\nelse.localhost");
  await page.getByLabel("Turn kept (minutes)").fill("4");
  await call(arena.cluster, "PATCH", path, { turn_kept_minutes: 5 });
  await owner.button("Save").click();
  await owner.answers("shop");
  await page.keyboard.press("Enter");
  await owner.reads(/Nothing was changed: meanwhile somebody else has set turn_kept_minutes 5/);
  await page.getByLabel("Turn kept (minutes)").fill("3");
  await owner.button("Save").click();
  await owner.answers("shop");
  await page.keyboard.press("Enter");
  await owner.reads(/In force: additional_routes/);
  assert.deepEqual((await stored()).additional_routes, [
    { host: "shop.localhost", path: "/more" },
    { host: "else.localhost", path: "/" },
  ]);
  assert.deepEqual(owner.complaints, []);
});

/** Whoever waits counts for a minute after a visit, on a slow machine too. */
const full = localRoom({
  name: "full",
  ...RARE_CHECK_INS,
  total_active_users: 1,
  new_users_per_minute: 1,
});
const rejects = "who lets nobody new in is asked, with how many lose their places by it";
browserTest(rejects, { ...options, rooms: [shop, full] }, async (arena) => {
  const visitors = ["inside", "waits", "waits too"].map(
    (name) => new Visitor(arena.cluster, { name, host: full.host }),
  );
  for (const visitor of visitors) await visitor.visit();
  await arena.cluster.advance(COUNTED_MS);
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  const path = `${ROOMS}/${full.id}`;
  const method = async () => (await call(arena.cluster, "GET", path)).result.queueing_method;
  await owner.open(full);
  await owner.reads("about 2");
  await tab(page).click();
  await page.getByLabel("Queueing method").selectOption("Nobody new enters (sold out)");
  await owner.button("Save").click();
  await owner.reads(/^About 2 in line lose their places, unless .* within 5 minutes/);
  await page.keyboard.press("Escape");
  await owner.reads("Nothing was changed.");
  assert.equal(await method(), "fifo");
  await owner.button("Save").click();
  await owner.answers("full");
  await page.keyboard.press("Enter");
  await owner.reads(/In force: queueing method “Nobody new enters \(sold out\)”/);
  assert.equal(await method(), "reject");

  // The event that is on has its own: what is saved counts when it ends.
  const at = (minutes) => new Date(Date.now() + minutes * MINUTE_MS).toISOString();
  const times = { event_start_time: at(-5), event_end_time: at(60) };
  const event = { name: "sale", queueing_method: "fifo", ...times };
  await call(arena.cluster, "POST", `${path}/events`, event);
  await arena.cluster.advance(COUNTED_MS);
  await page.getByLabel("Queueing method").selectOption("Lottery");
  await owner.button("Save").click();
  await owner.reads(/“Lottery”; but the event “sale” has its own until it ends, /);
  assert.deepEqual(owner.complaints, []);
});

const invites = localRoom({ name: "fans", invitation_groups: [{ name: "fans", enters: "first" }] });
const links = "many invitations are made at once, to copy and as a file";
browserTest(links, { ...options, rooms: [invites] }, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(invites);
  await tab(page).click();
  await page.getByLabel("Links", { exact: true }).fill("10001");
  await owner.button("Make links").click();
  await owner.reads("1 to 10,000 links are made at once.");
  await page.getByLabel("Links", { exact: true }).fill("25");
  await owner.button("Make links").click();
  await owner.reads("25 links for “fans” are made. No other screen shows them again.");
  const made = (await page.getByLabel("One a line").inputValue()).split("\n");
  assert.deepEqual([made.length, new Set(made).size], [25, 25]);
  const coming = page.waitForEvent("download");
  await owner.button("Download as CSV").click();
  const download = await coming;
  assert.equal(download.suggestedFilename(), "fans-invitations.csv");
  const rows = fs.readFileSync(await download.path(), "utf8").trim().split("\r\n");
  assert.deepEqual(rows, ["link", ...made].map((text) => `"${text}"`));
  await owner.looks("invitations");
  assert.deepEqual(owner.complaints, []);
});

browserTest("everything is saved into a file and restored from it", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await open(owner);
  const coming = page.waitForEvent("download");
  await owner.button("Save everything").click();
  const download = await coming;
  assert.match(download.suggestedFilename(), /^waiting-room-\d{4}-\d\d-\d\d\.json$/);
  await owner.reads(/\d rooms?.* saved\./);
  const file = JSON.parse(fs.readFileSync(await download.path(), "utf8"));
  const restore = async (content) => {
    const buffer = Buffer.from(JSON.stringify(content));
    const chosen = { name: "saved.json", mimeType: "application/json", buffer };
    await page.getByLabel("Restore from a file").setInputFiles(chosen);
  };
  await restore(file);
  await owner.reads(/of saved\.json are in force; 0 of them changed\./);
  const change = (fields) => ({
    ...file,
    rooms: file.rooms.map((one) => (one.id === shop.id ? { ...one, ...fields } : one)),
  });
  await restore(change({ description: "restored" }));
  await owner.reads(/are in force; 1 of them changed\./);
  const path = `${ROOMS}/${shop.id}`;
  assert.equal((await call(arena.cluster, "GET", path)).result.description, "restored");
  await restore(change({ total_active_users: 0 }));
  await owner.reads(/room "shop", total_active_users: must be/);
  await owner.reads(/refused \(400\), nothing was changed/);
});

browserTest("it tells which secrets are set, and none of them", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  await open(owner);
  const line = (name) =>
    owner.page.getByRole("listitem").filter({ has: owner.page.getByText(name, { exact: true }) });
  const set = ["API_TOKEN", "API_TOKEN_READ", "TICKET_KEYS", "TURNSTILE_SECRET"];
  for (const name of set) await line(name).getByText("Set", { exact: true }).waitFor();
  await line("ORIGIN_LOCK_SECRET").getByText("Not set").waitFor();
  await line("TICKET_KEYS").getByText("npm run rotate-keys").waitFor();
  await line("API_TOKEN_READ").getByText(/^Looks only|: Looks only/).waitFor();
  await owner.reads(/You are signed in with API_TOKEN\./);
  const html = await owner.page.content();
  for (const secret of [...Object.values(SECRETS), ...Object.values(vars)]) {
    assert.ok(!html.includes(secret), "a secret is on the page");
  }
});

browserTest("settings are readable by everybody", options, async (arena) => {
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await signedIn(arena, context);
    await open(owner);
    await owner.reads("ORIGIN_LOCK_SECRET");
    await owner.looks(`settings-${device}`);
    await owner.page.getByRole("link", { name: "Waiting room" }).click();
    await owner.open(shop);
    await tab(owner.page).click();
    await owner.page.getByLabel("Cookie suffix").waitFor();
    await owner.looks(`room-settings-${device}`);
    assert.deepEqual(owner.complaints, []);
  }
  const reader = await signedIn(arena, DESKTOP, READ_ONLY);
  await open(reader);
  await reader.reads(/You are signed in with API_TOKEN_READ\./);
  assert.ok(await reader.button("Save").first().isDisabled());
});

/** The tab with the settings of a room. */
function tab(page) {
  return page.getByRole("navigation").getByRole("link", { name: "Settings" });
}

async function open(owner) {
  await owner.page.getByRole("banner").getByRole("link", { name: "Settings" }).click();
  await owner.heading("Settings").waitFor();
  await owner.page.getByRole("heading", { name: `Zone ${ZONE}` }).waitFor();
}
