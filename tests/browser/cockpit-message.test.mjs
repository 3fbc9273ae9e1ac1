/**
 * A message to those who wait: written in the cockpit, read on the queue page, taken away and
 * brought back.
 */

import assert from "node:assert/strict";

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
