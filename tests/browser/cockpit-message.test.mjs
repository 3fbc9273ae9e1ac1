/**
 * A message to those who wait: written in the cockpit, read on the queue page, taken away and
 * brought back.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { signedIn } from "../harness/owner.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const MESSAGE = "We added a second day.";
const shop = localRoom({ name: "shop", ...FREQUENT_CHECK_INS, session_duration: 30 });

browserTest("those in line read what the owner writes", { rooms: [shop] }, async (arena) => {
  await visitorInside(arena.cluster, shop);
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  await visitor.come();
  // It is said as well.
  const onPage = visitor.page.locator(".notice").getByText(MESSAGE);
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  const field = owner.page.getByLabel("To everybody who waits");
  await owner.reads("About 1 visitor in line will read it at the next check-in.");
  assert.ok(await owner.button("Show").isDisabled());
  await field.fill("é".repeat(2_001));
  await owner.reads("A message has at most 4000 bytes; this one has 4002.");
  assert.ok(await owner.button("Show").isDisabled());

  // Line breaks are spaces: the page shows one paragraph.
  await field.fill("We added\na second day.\n");
  await owner.button("Show").click();
  await owner.reads(`In force: the message “${MESSAGE}”.`);
  await onPage.waitFor();
  // What came of the change lies over the end of the page until it is opened anew.
  await owner.page.reload();
  await owner.reads("It is shown to everybody who waits.");
  await owner.looks("message");

  await owner.button("Take away").click();
  await owner.reads("In force: no message.");
  await onPage.waitFor({ state: "detached" });
  await owner.button(`Undo: back to the message “${MESSAGE}”`).click();
  await onPage.waitFor();
  assert.deepEqual(owner.complaints, []);
});

const other = "a draft replaces no message that somebody else shows meanwhile";
browserTest(other, { rooms: [shop] }, async (arena) => {
  const room = `${ROOMS}/${shop.id}`;
  const stored = async () => (await call(arena.cluster, "GET", room)).result.page_message;
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  const field = owner.page.getByLabel("To everybody who waits");
  await field.fill("Doors open at 8.");
  await call(arena.cluster, "PATCH", room, { page_message: "Cash only." });
  await owner.page.reload();
  await owner.reads(/^Meanwhile somebody else has changed it: “Cash only.” is shown\./);
  await owner.button("Show").click();
  await owner.reads(/^Nothing was changed: meanwhile somebody else has set the message “Cash only/);
  assert.equal(await stored(), "Cash only.");
  await owner.button("Take away").click();
  await owner.reads("In force: no message.");
  assert.equal(await field.inputValue(), "Doors open at 8.", "the draft is lost");

  // What is written for the room is no message of an event.
  const at = (minutes) => new Date(Date.now() + minutes * 60_000).toISOString();
  const times = { event_start_time: at(-5), event_end_time: at(60) };
  const sale = { name: "sale", ...times, page_message: "The sale is on." };
  const { result: event } = await call(arena.cluster, "POST", `${room}/events`, sale);
  await owner.reads("It is the message of the event “sale”.");
  assert.equal(await field.inputValue(), "The sale is on.");
  await call(arena.cluster, "DELETE", `${room}/events/${event.id}`);
  await owner.page.getByText("“sale”").first().waitFor({ state: "detached" });
  assert.equal(await field.inputValue(), "Doors open at 8.");
  await owner.button("Show").click();
  await owner.reads("In force: the message “Doors open at 8.”");
  assert.equal(await stored(), "Doors open at 8.");
  assert.deepEqual(owner.complaints, []);
});
