/**
 * Rooms made and removed in the owner's cockpit, in a real browser: refusals at their fields, a
 * name before a room goes, on a desktop, a phone, in the dark and with a keyboard.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { ZONE, localRoom } from "../harness/rooms.mjs";

const READ_ONLY = "the-token-for-reading";
const shop = localRoom({ name: "shop" });
const options = { rooms: [shop], vars: { API_TOKEN_READ: READ_ONLY } };

browserTest("a room is made, is there at once, and is removed", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await page.getByRole("link", { name: "New room" }).click();
  await owner.heading("New room").waitFor();
  await fill(page, { Name: "two words", Hostname: "sale example", "Total active users": "5" });
  await page.getByLabel("New users per minute").fill("9");
  await page.getByLabel("New users per minute").press("Enter");
  await page.locator("#field-name-problem").getByText(/^Must be letters, digits/).waitFor();
  await page.locator("#field-host-problem").getByText(/./).waitFor();
  const invalid = page.getByLabel("Name", { exact: true });
  assert.equal(await invalid.getAttribute("aria-invalid"), "true");
  const isFocused = () => invalid.evaluate((field) => field === document.activeElement);
  await owner.browser.until(isFocused, "the first mistake has no focus");
  assert.equal((await call(arena.cluster, "GET", ROOMS)).result.length, 1);

  await fill(page, { Name: "sale", Hostname: "sale.localhost" });
  await page.getByLabel("New users per minute").press("Enter");
  await page.locator("#field-new_users_per_minute-problem").waitFor();
  assert.equal(await page.locator("#field-name-problem").count(), 0);
  await page.getByLabel("New users per minute").fill("3");
  await owner.reads(/at most 5 visitors may be inside sale\.localhost\/, and at most 3 enter/);
  await owner.button("Save").click();
  await owner.heading("sale").waitFor();
  await owner.reads("0 / 5");
  const next = page.getByRole("region", { name: /^It is made/ });
  await next.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Queueing method").waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Now" }).click();
  const [, sale] = (await call(arena.cluster, "GET", ROOMS)).result;
  const { host, path, zone_id: zone, new_users_per_minute: rate, session_duration: minutes } = sale;
  assert.deepEqual([host, path, zone, rate, minutes], ["sale.localhost", "/", ZONE, 3, 5]);

  await owner.button("Delete room").click();
  await owner.answers("shop");
  assert.ok(await page.getByRole("dialog").getByRole("button").first().isDisabled());
  await owner.answers("sale");
  await page.keyboard.press("Enter");
  await owner.heading("Rooms").waitFor();
  await page.getByRole("row", { name: /^sale/ }).waitFor({ state: "detached" });
  assert.equal((await call(arena.cluster, "GET", ROOMS)).result.length, 1);
  assert.deepEqual(owner.complaints, []);
});

browserTest("who only looks is offered no room and no removal", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP, READ_ONLY);
  await owner.reads("0 / 1");
  assert.equal(await owner.page.getByRole("link", { name: "New room" }).count(), 0);
  await owner.open(shop);
  await owner.reads(/^You may only look/);
  assert.equal(await owner.button("Delete room").count(), 0);
});

browserTest("without a room one is made from nothing", { rooms: [] }, async (arena) => {
  const owner = await signedIn(arena, PHONE);
  await owner.reads("There is no room yet, so everybody passes.");
  await owner.page.getByRole("link", { name: "New room" }).click();
  await fill(owner.page, { Name: "first", Hostname: "first.localhost", "Total active users": "2" });
  await fill(owner.page, { "New users per minute": "2" });
  await owner.page.getByLabel("Zone").fill("no zone");
  await owner.button("Save").click();
  await owner.page.getByRole("alert").getByText(/./).waitFor();
  await owner.page.getByLabel("Zone").fill(ZONE);
  await owner.button("Save").click();
  await owner.heading("first").waitFor();
  await owner.reads("0 / 2");
  // One that somebody else deletes says so, and is locked.
  await owner.button("Hold all").waitFor();
  const [{ id }] = (await call(arena.cluster, "GET", ROOMS)).result;
  await call(arena.cluster, "DELETE", `${ROOMS}/${id}`);
  await owner.heading("Room first was deleted").waitFor();
  await owner.reads(/, by owner: its visitors pass, uncounted/);
  assert.equal(await owner.button("Hold all").count(), 0);
});

browserTest("the form of a room is readable by everybody", options, async (arena) => {
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await ownerOf(arena, context);
    await owner.signIn(SECRETS.API_TOKEN);
    await owner.page.getByRole("link", { name: "New room" }).click();
    await owner.page.getByLabel("Hostname").fill("no host");
    await owner.button("Save").click();
    await owner.page.locator("#field-host-problem").waitFor();
    await owner.looks(`new-room-${device}`);
    const name = `made-on-${device}`;
    await fill(owner.page, { Name: name, Hostname: `${name}.localhost` });
    await fill(owner.page, { "Total active users": "2", "New users per minute": "2" });
    await owner.button("Save").click();
    await owner.reads("It is made. What next");
    await owner.reads("0 / 2");
    await owner.looks(`made-room-${device}`);
    assert.deepEqual(owner.complaints, []);
  }
});

/** Fills fields by their labels. */
async function fill(page, values) {
  for (const [label, value] of Object.entries(values)) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
}
