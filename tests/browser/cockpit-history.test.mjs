/**
 * What happened in a room, in the owner's cockpit in a real browser: charts, the same as a table
 * and as CSV, by range, with the keyboard, on a phone and in the dark.
 */

import assert from "node:assert/strict";
import fs from "node:fs";

import { ROOMS, ask } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";

const READ_ONLY = "the-token-for-reading";
const LIMIT = 20;
const COMING = 50;
/** Until the second twenty have entered, after a session. */
const ENTERED_MS = 150_000;

const shop = localRoom({
  name: "shop",
  total_active_users: LIMIT,
  new_users_per_minute: LIMIT,
  session_duration: 1,
});
const options = { rooms: [shop], vars: { API_TOKEN_READ: READ_ONLY } };

async function comes(cluster) {
  const crowd = new Crowd(cluster, { count: COMING, host: shop.host });
  await crowd.arrive();
  await crowd.wait(ENTERED_MS, () => crowd.waiting.length === 0);
}

/** Goes to the history of the room, with the keyboard alone. */
async function opensHistory(owner) {
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "History" }).focus();
  await owner.page.keyboard.press("Enter");
  await owner.page.getByLabel("The last").waitFor();
}

browserTest("who only looks reads what happened, by range and as CSV", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP, READ_ONLY);
  const { page } = owner;
  await opensHistory(owner);
  await owner.reads(/^Nobody was here\./);
  await comes(arena.cluster);
  await page.getByLabel("The last").selectOption("30 minutes");
  await owner.reads(new RegExp(`^${COMING} entered, ${COMING - LIMIT} joined the line`));
  await owner.reads(new RegExp(`${LIMIT} inside, ${COMING - LIMIT} waiting`));
  assert.equal(await page.locator(".chart").count(), 4);
  const drawn = page.locator(".chart").first().locator("polyline.line");
  assert.match(await drawn.first().getAttribute("points"), /^[\d.]+,[\d.]+ [\d.]+,[\d.]+/);

  const entered = page.locator('.history td[data-label="Entered"]');
  const sum = (texts) => texts.reduce((total, text) => total + Number(text), 0);
  assert.equal(sum(await entered.allTextContents()), COMING);
  await page.getByLabel("The last").selectOption("30 days");
  await page.getByRole("row").nth(2).waitFor({ state: "detached" });
  assert.equal(sum(await entered.allTextContents()), COMING);

  const coming = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download as CSV" }).focus();
  await page.keyboard.press("Enter");
  const download = await coming;
  assert.equal(download.suggestedFilename(), "history-shop.csv");
  const csv = fs.readFileSync(await download.path(), "utf8");
  const path = `${ROOMS}/${shop.id}/history?resolution=hour&format=csv`;
  assert.equal(csv, (await ask(arena.cluster, "GET", path)).body);
  assert.deepEqual(owner.complaints, []);
});

browserTest("the history is readable by everybody", options, async (arena) => {
  await comes(arena.cluster);
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await ownerOf(arena, context);
    await owner.signIn(SECRETS.API_TOKEN);
    await opensHistory(owner);
    await owner.page.getByLabel("The last").selectOption("30 minutes");
    await owner.reads(/^50 entered/);
    await owner.looks(`history-${device}`);
    assert.deepEqual(owner.complaints, []);
  }
});
