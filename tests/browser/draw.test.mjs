/**
 * The receipt of a draw as a visitor sees it, and the page that verifies it: with nothing but the
 * file, and no network.
 */

import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes } from "node:crypto";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { barriers } from "../harness/accessibility.mjs";
import { PHONE, browserTest, keepScreenshot } from "../harness/browser-test.mjs";
import { drawnEvent } from "../harness/draw.mjs";
import { localRoom } from "../harness/rooms.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

/** How long before the start the others come, and where the clock goes on to after that. */
const [EARLY_MS, SOON_MS] = [180_000, 20_000];
const DRAWN = /\nkey: [0-9a-f]{64}\nrank: [0-9a-f]{16}\s*$/;
const VERIFIER = pathToFileURL(path.join(ROOT, "templates", "verify-draw.html")).href;

let shop;
const options = {
  get rooms() {
    shop = localRoom({ name: "draw", events: [drawnEvent()] });
    return [shop];
  },
};

browserTest("a visitor's receipt is verified without a network", options, async (arena) => {
  const visitor = await arena.visitor({ room: shop, context: PHONE });
  const { page } = visitor;
  await visitor.come();
  await openReceipt(visitor);
  const before = await page.locator("pre").innerText();
  assert.match(before, /^commitment: [0-9a-f]{64}\nlot: [0-9a-f]{32}\s*$/);
  const early = await followLink(visitor);
  await early.getByText("Not drawn yet").waitFor();
  assert.equal(await early.locator("#published code").innerText(), before.match(/\w{64}/)[0]);
  await visitor.keepScreenshot("draw-receipt-before", { fullPage: true });

  // It is one of a crowd that holds the only place, so that it does not enter at once.
  const start = Date.parse(shop.events[0].event_start_time);
  await arena.cluster.advanceTo(start - EARLY_MS);
  const others = await Promise.all(
    Array.from({ length: 4 }, () => arena.visitor({ room: shop, context: PHONE })),
  );
  for (const other of others) {
    await other.come();
    await openReceipt(other);
    await (await followLink(other)).close();
  }
  const all = [visitor, ...others];
  await arena.cluster.advanceTo(start - SOON_MS);
  // Until one of them holds the place, any of the others might take it in the next moment.
  for (let round = 0; !all.some(({ inside }) => inside); round += 1) {
    assert.ok(round < 10, "nobody enters");
    await arena.cluster.advance(20_000);
    for (const one of all) await one.come();
  }
  const waiting = all.filter(({ inside }) => !inside);
  assert.ok(waiting.length >= 3, "nobody waits");
  const [shown] = waiting;
  // An open receipt stays open, on whichever page: a page may come back while it is looked at.
  let after;
  const isDrawn = async () => DRAWN.test((after = await shown.page.locator("pre").innerText()));
  // A page that came just before the start learns the key at its next check-in.
  await shown.until(isDrawn, () => `the receipt is ${after}`);
  await shown.keepScreenshot("draw-receipt-after", { fullPage: true });

  // Two clicks: the receipt, and its link. The browser has noted the commitment before the start.
  const followed = await followLink(shown);
  const found = followed.locator("ol li");
  const classes = await found.evaluateAll((items) => items.map(({ className }) => className));
  assert.deepEqual(classes, ["good", "good", "good"]);
  await keepScreenshot(followed, "draw-followed", { fullPage: true });

  const verifier = await open(arena);
  const commitment = after.match(/commitment: (\w+)/)[1];
  assert.deepEqual(await verdicts(verifier, after, commitment), ["good", "good", "good"]);
  await keepScreenshot(verifier, "draw-verified", { fullPage: true });
});

browserTest("what was altered does not verify", { rooms: [] }, async (arena) => {
  const key = randomBytes(32);
  const lot = randomBytes(16).toString("hex");
  const commitment = createHash("sha256").update(key).digest("hex");
  const mac = createHmac("sha256", key).update(Buffer.from(lot, "hex")).digest("hex");
  const fields = { commitment, lot, key: key.toString("hex"), rank: mac.slice(0, 16) };
  const verifier = await open(arena);
  const check = async (changes, noted, want) => {
    const lines = Object.entries({ ...fields, ...changes }).map(([name, value]) =>
      value === undefined ? "" : `${name}: ${value}`,
    );
    const found = await verdicts(verifier, lines.join("\n"), noted);
    assert.deepEqual(found, want, JSON.stringify(changes));
  };
  await check({}, "", ["good", "good", "open"]);
  await verifier.getByText("Not checked: no commitment entered").waitFor();
  await check({}, commitment.toUpperCase(), ["good", "good", "good"]);
  await check({}, "0".repeat(64), ["good", "good", "bad"]);
  const other = (text) => (text[0] === "0" ? "1" : "0") + text.slice(1);
  await check({ rank: other(fields.rank) }, "", ["good", "bad", "open"]);
  await keepScreenshot(verifier, "draw-altered", { fullPage: true });
  await check({ commitment: other(commitment) }, "", ["bad", "good", "open"]);
  await check({ lot: other(lot) }, "", ["good", "bad", "open"]);
  await check({ key: other(fields.key) }, "", ["bad", "bad", "open"]);
  await check({ key: undefined, rank: undefined }, "", ["open"]);
  await check({ rank: "short" }, "", ["bad"]);
});

browserTest("the verifier can be used by everybody", { rooms: [] }, async (arena) => {
  const verifier = await open(arena);
  const receipt = verifier.getByLabel("Receipt");
  const button = verifier.getByRole("button");
  assert.deepEqual(await barriers(verifier), []);
  await button.click();
  await verifier.getByRole("status").getByText("The receipt is not complete").waitFor();
  const isFocused = await receipt.evaluate((field) => field === document.activeElement);
  assert.ok(isFocused, "the focus is not where something is missing");
  assert.equal(await receipt.getAttribute("aria-invalid"), "true");
  for (const colorScheme of ["light", "dark"]) {
    await verifier.emulateMedia({ colorScheme });
    assert.deepEqual(await barriers(verifier), [], colorScheme);
  }
  const early = `commitment: ${"0".repeat(64)}\nlot: ${"0".repeat(32)}`;
  assert.deepEqual(await verdicts(verifier, early, ""), ["open"]);
  assert.equal(await receipt.getAttribute("aria-invalid"), "false");
  // Where the system gives the colours, a button has no ground.
  await verifier.emulateMedia({ forcedColors: "active" });
  await keepScreenshot(verifier, "draw-forced-colors", { fullPage: true });
  const border = await button.evaluate((one) => getComputedStyle(one).borderTopStyle);
  assert.equal(border, "solid", "the button has no shape");
});

/** Opens the receipt on a visitor's page. */
async function openReceipt({ page }) {
  await page.getByText("Receipt for the draw").click();
  await page.locator("pre").waitFor();
}

/** Follows the link of an open receipt. */
async function followLink({ page }) {
  const opens = page.waitForEvent("popup");
  await page.getByRole("link", { name: "Check this draw" }).click();
  const opened = await opens;
  await opened.locator("ol li").first().waitFor();
  return opened;
}

/** The verifier from the disk, in a browser without a network. */
async function open({ browser }) {
  const context = await browser.newContext({ ...PHONE, offline: true });
  const page = await context.newPage();
  page.on("request", (request) => assert.ok(request.url().startsWith("file:"), request.url()));
  await page.goto(VERIFIER);
  return page;
}

/** What the verifier says of a receipt, line by line. */
async function verdicts(page, receipt, noted) {
  await page.getByLabel("Receipt").fill(receipt);
  await page.getByLabel(/^The commitment you noted/).fill(noted);
  await page.evaluate(() => document.querySelector("ol").replaceChildren());
  await page.getByRole("button").click();
  await page.locator("ol li").first().waitFor();
  return page.locator("ol li").evaluateAll((items) => items.map(({ className }) => className));
}
