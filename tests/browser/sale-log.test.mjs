/**
 * The log of a sale in real browsers: the cockpit shows and downloads it, and the verifier's page
 * checks the file without a network, on a desktop and a phone.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import { barriers } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { fitsItsWidth } from "../harness/every-language.mjs";
import { signedIn } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const READ_ONLY = "the-token-for-reading";
const shop = localRoom({ name: "shop", transparency_log: "owner" });
const options = { rooms: [shop], vars: { API_TOKEN_READ: READ_ONLY } };
const PAGE = path.join(import.meta.dirname, "..", "..", "build", "transparency", "verify.html");
/** How long a receipt may take to be there. */
const TOLD_WITHIN_MS = 60_000;
const POLL_MS = 1_000;

/** The receipt of a visitor inside, as soon as the log has the admission. */
async function receiptOf(visitor) {
  const until = Date.now() + TOLD_WITHIN_MS;
  for (;;) {
    const { status, body } = await visitor.visit({ path: "/_waiting-room/log/receipt" });
    if (status === 200) return body;
    if (Date.now() > until) throw new Error(`no receipt: ${status} ${body}`);
    await sleep(POLL_MS);
  }
}

browserTest("a sale is downloaded, and checked without a network", options, async (arena) => {
  const visitor = await visitorInside(arena.cluster, shop);
  // Somebody waits, so that the room hurries.
  await new Visitor(arena.cluster, { name: "waits", host: shop.host }).visit();
  const receipt = await receiptOf(visitor);
  const owner = await signedIn(arena, DESKTOP, READ_ONLY);
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "History" }).click();
  await owner.button("Show the log").click();
  await owner.reads(/^shop\.localhost\/waiting-room\//);
  await owner.looks("log");
  const downloaded = owner.page.waitForEvent("download");
  await owner.button("Download it").click();
  const file = await (await downloaded).path();
  const sale = fs.readFileSync(file, "utf8");
  for (const context of [DESKTOP, PHONE]) await check(arena, context, sale, receipt);
});

async function check(arena, context, sale, receipt) {
  const opened = await arena.browser.newContext(context);
  const page = await opened.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => complaints.push(message.text()));
  await page.goto(pathToFileURL(PAGE).href);
  await opened.setOffline(true);
  const given = (name, text) => [{ name, mimeType: "text/plain", buffer: Buffer.from(text) }];
  await page.getByLabel(/^The log of the sale/).setInputFiles(given("sale.json", sale));
  await page.getByLabel(/^Receipts of visitors/).setInputFiles(given("receipt", receipt));
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByText("Everything that was checked is right.").waitFor();
  assert.equal(await page.getByText("right: receipt").count(), 1);
  const count = page.locator("dt", { hasText: "count" });
  const isCounted = JSON.parse(sale).counted !== undefined;
  assert.equal(await count.textContent(), isCounted ? "right: count" : "not checked: count");
  const ownKey = page.getByText("The key is the one in the file", { exact: false });
  assert.equal(await ownKey.count(), 1);
  assert.deepEqual(await barriers(page), []);
  assert.ok(await fitsItsWidth(page));
  await page.getByLabel(/^The key of the log/).fill(JSON.parse(sale).vkey);
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByText("the key you gave has signed").waitFor();
  assert.equal(await ownKey.count(), 0);
  const [first] = JSON.parse(sale).entries;
  const forged = Buffer.from(first, "base64").toString("latin1").replace(" open ", " draw ");
  const entries = [Buffer.from(forged, "latin1").toString("base64")];
  const other = { ...JSON.parse(sale), entries };
  await page
    .getByLabel(/^The log of the sale/)
    .setInputFiles(given("forged.json", JSON.stringify(other)));
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByText("Not everything is right.").waitFor();
  assert.equal(await page.getByText("WRONG: tree").count(), 1);
  assert.deepEqual(complaints, []);
  await opened.close();
}
