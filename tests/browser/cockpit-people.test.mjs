/**
 * People in the owner's cockpit, in a real browser: tokens are made, shown once, used by others
 * with fewer rights, given another value and revoked; on a desktop, a phone and in the dark.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { ZONE, localRoom } from "../harness/rooms.mjs";

const OTHER_ZONE = "f".repeat(32);
const shop = localRoom({ name: "shop" });
const other = localRoom({ name: "other", zone_id: OTHER_ZONE });
const options = { rooms: [shop, other] };

/** An owner at the screen People. */
async function atPeople(arena, device) {
  const owner = await signedIn(arena, device);
  await owner.page.getByRole("link", { name: "People", exact: true }).click();
  await owner.heading("People").waitFor();
  return owner;
}

/** Makes a token on the screen and returns its value. */
async function make({ page, button, heading }, { name, may, place }) {
  await button("New token").click();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("May", { exact: true }).selectOption(may);
  if (place) await page.getByLabel("For", { exact: true }).selectOption({ label: place });
  await button("Make").click();
  await heading(`Token of ${name}`).waitFor();
  return page.getByText(/^wr_/).textContent();
}

const ofOwner = (owner) => ({
  page: owner.page,
  button: (name) => owner.button(name),
  heading: (name) => owner.heading(name),
});

browserTest("a token is made, shown once, and revoked", options, async (arena) => {
  const owner = await atPeople(arena, DESKTOP);
  const { page } = owner;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await owner.reads(/^No token yet/);
  await owner.button("New token").click();
  await page.getByLabel("Name").fill("owner");
  await owner.button("Make").click();
  await page.locator("#field-name-problem").getByText(/must be 1 to 120 bytes/i).waitFor();
  await owner.looks("new-token");
  await owner.button("Cancel").click();

  const value = await make(ofOwner(owner), { name: "Anna", may: "steer", place: "Room shop" });
  await owner.reads(/presses the buttons of a sale.*, in room shop\./);
  await owner.button("Copy").click();
  await owner.reads("Copied.");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), value);
  await owner.looks("people");
  await page.reload();
  await owner.reads("Anna");
  assert.equal(await page.getByText(/^wr_/).count(), 0, "the value is shown once");

  await owner.button("New value: Anna").click();
  await owner.button("Make the old one void: Anna").click();
  await owner.reads("The old value of Anna counts no more.");
  assert.notEqual(await page.getByText(/^wr_/).textContent(), value);
  await owner.button("Revoke: Anna").click();
  await owner.button("Keep: Anna").click();
  assert.equal((await call(arena.cluster, "GET", "user/tokens")).result.length, 1);
  await owner.button("Revoke: Anna").click();
  await owner.button("Revoke for ever: Anna").click();
  await owner.reads(/^Anna is revoked/);
  await owner.reads(/^No token yet/);
  await page.getByRole("link", { name: "Health" }).click();
  await owner.reads("Token Anna deleted");
  assert.deepEqual(owner.complaints, []);
});

const steers = "who steers one room is offered that, and the log has the name";
browserTest(steers, options, async (arena) => {
  const { cluster } = arena;
  const fields = { name: "Anna", role: "steer", rooms: [shop.id] };
  const { value, id } = (await call(cluster, "POST", "user/tokens", fields)).result;
  const anna = await signedIn(arena, PHONE, value);
  const { page } = anna;
  await anna.reads(/^You may steer: .* That is for some zones or rooms; you see no others\.$/);
  assert.equal(await page.getByRole("link", { name: "other", exact: true }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "People", exact: true }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "New room" }).count(), 0);
  await anna.open(shop);
  await anna.button("Hold all").click();
  await anna.reads(/In force: Hold all\./);
  // On a phone the buttons stand side by side, and what came of one has the width of both.
  const [told, all] = await page.evaluate(() =>
    [".outcome:has(p:not(:empty))", ""].map(
      (part) => document.querySelector(`.steering .actions ${part}`).clientWidth,
    ),
  );
  assert.equal(told, all);
  const [entry] = (await call(cluster, "GET", "waiting_rooms/audit_log?per_page=5")).result;
  assert.deepEqual([entry.actor, entry.token], ["Anna", id]);
  await sellsOutAndAgain(anna, cluster);
  assert.equal(await anna.button("Delete room").count(), 0);
  await anna.looks("steers");
  for (const [screen, absent] of [["Rules", "New rule"], ["Webhooks", "New webhook"]]) {
    await page.getByRole("link", { name: screen, exact: true }).click();
    await anna.reads(/^No (rule|webhook) yet/);
    assert.equal(await anna.button(absent).count(), 0, screen);
  }
  await page.getByRole("link", { name: "Events", exact: true }).click();
  await anna.reads(/^No event yet/);
  assert.equal(await anna.button("New event").count(), 0);
  await page.getByRole("link", { name: "Health" }).click();
  await anna.reads(/Room shop changed: Hold all/);
  await page.getByRole("link", { name: "Settings" }).first().click();
  await anna.heading(`Zone ${ZONE}`).waitFor();
  assert.deepEqual(anna.complaints, []);

  await call(cluster, "DELETE", `user/tokens/${id}`);
  await anna.reads(/^The token is not accepted any more: it was changed, revoked/);
  const again = await ownerOf(arena, DESKTOP);
  await again.signIn(value);
  await again.reads(/^This is not a token that counts here/);
  assert.equal((await call(cluster, "GET", `${ROOMS}/${shop.id}`)).result.queue_all, true);
});

/**
 * Sells out in a hold, and takes it back: each asks for the room's name. On a phone a slow click
 * could be one that only reads, so these buttons are pressed by a keyboard.
 */
async function sellsOutAndAgain(owner, cluster) {
  const method = async () =>
    (await call(cluster, "GET", `${ROOMS}/${shop.id}`)).result.queueing_method;
  await owner.button("Sold out").press("Enter");
  await owner.page.getByRole("dialog").getByText(/^Nobody enters while you /).waitFor();
  await owner.page.keyboard.press("Escape");
  assert.equal(await method(), "fifo");
  await owner.button("Sold out").press("Enter");
  await owner.answers(shop.name);
  await owner.page.keyboard.press("Enter");
  await owner.reads(/In force: queueing method “Nobody new enters \(sold out\)”\./);
  assert.equal(await method(), "reject");
  // A second Enter presses nothing: the button that had the focus is gone.
  await owner.button("Sell again").waitFor();
  await owner.page.keyboard.press("Enter");
  await owner.button("Sell again").press("Enter");
  await owner.page.getByRole("dialog").getByText(/Then visitors enter by the method/).waitFor();
  assert.equal(await method(), "reject");
  await owner.answers(shop.name);
  await owner.page.keyboard.press("Enter");
  await owner.reads(/In force: queueing method “First come, first served”\./);
  assert.equal(await method(), "fifo");

  const undo = owner.button(/^Undo: back to queueing method “Nobody new enters/);
  await undo.click();
  await owner.page.getByRole("dialog").getByText(/When that method counts, whoever /).waitFor();
  await owner.page.keyboard.press("Escape");
  assert.equal(await method(), "fifo");
  await undo.click();
  await owner.answers(shop.name);
  await owner.page.keyboard.press("Enter");
  await owner.button(/^Undo: back to queueing method “First come/).click();
  await owner.page.getByRole("dialog").getByText(/Whoever waited has the place for 5/).waitFor();
  assert.equal(await method(), "reject");
  await owner.answers(shop.name);
  await owner.page.keyboard.press("Enter");
  await owner.button("Sold out").waitFor();
  assert.equal(await method(), "fifo");
}
