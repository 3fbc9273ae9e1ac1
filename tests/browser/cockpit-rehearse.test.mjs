/**
 * The cockpit's screen *Rehearse* in a real browser, with a stand-in for the simulator: what it
 * refuses, how it is cancelled, and what it says where a deployment brings no simulator. With the
 * simulator itself: tests/rehearsal.
 */

import assert from "node:assert/strict";

import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";

const READ_ONLY = "the-token-for-reading";
const THREAD = "**/_waiting-room/rehearsal.js";
/** A thread that would play all visitors of a plan, comes to 41 % of it and no further. */
const STUCK = `onmessage = ({ data: { plan, onlyCheck } }) => {
  postMessage(onlyCheck ? { expected: { played: plan.visitors } } : { part: 0.41 });
};`;
const shop = localRoom({ name: "shop", total_active_users: 200, new_users_per_minute: 50 });
const options = { rooms: [shop], vars: { API_TOKEN_READ: READ_ONLY } };

async function opensRehearse(owner) {
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "Rehearse" }).focus();
  await owner.page.keyboard.press("Enter");
}

/** Answers for the file of the thread, and counts how often it was asked for. */
async function standIn(page, answer) {
  const asked = { count: 0 };
  await page.route(THREAD, (route) => {
    if (route.request().method() === "GET") asked.count += 1;
    return route.fulfill({ contentType: "text/javascript", ...answer });
  });
  return asked;
}

browserTest("a rehearsal is refused at its fields, and cancelled", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP, READ_ONLY);
  const { page } = owner;
  const asked = await standIn(page, { body: STUCK });
  await opensRehearse(owner);
  const visitors = page.getByLabel("How many visitors come");
  await visitors.fill("200001");
  await owner.reads(/^Limits: 50 a minute and 200 inside, as the room has them\. Beside them: /);
  await owner.button("Rehearse").click();
  const problem = page.locator("#field-visitors-problem");
  await problem.getByText(/^Over 200,000 would be .*npm run rehearse -- --url http/).waitFor();
  assert.ok(await visitors.evaluate((field) => field === document.activeElement));
  assert.equal(asked.count, 1, "only the thread that checks the plan begins");
  await owner.looks("rehearse-refused");

  await visitors.fill("2000");
  await page.keyboard.press("Enter");
  // As many of the three limits as there are processors.
  await owner.reads(/^(13|27|41) %$/);
  assert.ok(asked.count > 2);
  await owner.looks("rehearse-playing");
  await owner.button("Cancel").click();
  await owner.reads(/^Cancelled/);
  assert.equal(await page.getByRole("progressbar").count(), 0);
  assert.equal(await visitors.inputValue(), "2000");
  assert.deepEqual(owner.complaints, []);
});

browserTest("without the simulator it says which command brings it", options, async (arena) => {
  const owner = await ownerOf(arena, PHONE);
  await owner.signIn(SECRETS.API_TOKEN);
  await standIn(owner.page, { status: 404, body: "" });
  await opensRehearse(owner);
  await owner.reads("npm run rehearse -- examples/rehearsal/ticket-drop.json");
  assert.equal(await owner.button("Rehearse").count(), 0);
  await owner.looks("rehearse-missing-phone");
});
