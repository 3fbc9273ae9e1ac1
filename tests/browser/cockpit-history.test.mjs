/**
 * What happened in a room, in the owner's cockpit in a real browser: charts, the same as a table
 * and as CSV, by range, closer and further, beside another day, with the keyboard, on a phone and
 * in the dark.
 */

import assert from "node:assert/strict";
import fs from "node:fs";

import { ROOMS, ask, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";

const READ_ONLY = "the-token-for-reading";
const LIMIT = 20;
const COMING = 50;
const CHARTS = 5;
/** The page asks anew every 30 s; only then another day, or a change, may be drawn. */
const DRAWN_MS = 120_000;
/** Somebody was inside at most so many steps before the end, on a slow machine too. */
const STEPS_MAX = 10;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Until all have entered, the last ten after two sessions: on a slow machine too. */
const ENTERED_MS = 300_000;
/** In so many hours all of it happens; as rows of a minute each it is more. */
const HOURS_MAX = 2;
/** Until all of it is told: in a room that has become calm, isolates and data centers take time. */
const TOLD_MS = 45_000;

const shop = localRoom({
  name: "shop",
  total_active_users: LIMIT,
  new_users_per_minute: LIMIT,
  session_duration: 1,
});
const options = { rooms: [shop], vars: { API_TOKEN_READ: READ_ONLY } };

/** Has a crowd come, and enter. Returns how many of it joined the line. */
async function comes(cluster) {
  const crowd = new Crowd(cluster, { count: COMING, host: shop.host });
  await crowd.arrive();
  // Thirty, or more: where the machine rests for half a second nobody waits so long for a slot.
  const joined = crowd.waiting.length;
  await crowd.wait(ENTERED_MS, () => crowd.waiting.length === 0);
  // An isolate tells what is left with its next request: of somebody whose session goes on.
  const { visitor } = (await cluster.arrivals()).at(-1);
  const last = crowd.visitors.find(({ name }) => name === visitor);
  for (const { name } of cluster.isolates) await last.visit({ isolate: name });
  await cluster.advance(TOLD_MS);
  return joined;
}

/** Goes to the history of the room, with the keyboard alone. */
async function opensHistory(owner) {
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "History" }).focus();
  await owner.page.keyboard.press("Enter");
  await owner.page.getByRole("combobox", { name: "The last" }).waitFor();
}

/** Leaves the history, and comes back to it. */
async function opensAgain(owner) {
  await owner.page.getByRole("link", { name: "Now", exact: true }).click();
  await owner.page.getByRole("link", { name: "History" }).click();
}

browserTest("who only looks reads what happened, by range and as CSV", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP, READ_ONLY);
  const { page } = owner;
  await opensHistory(owner);
  await owner.reads(/^Nobody was here\./);
  const joined = await comes(arena.cluster);
  // What there is to see is shown by itself, in the range that fits it.
  await opensAgain(owner);
  await owner.reads(new RegExp(`^${COMING} entered`));
  // The page sets the field after the sentence.
  const chosen = page.getByRole("combobox", { name: "The last" });
  const isChosen = async () => (await chosen.inputValue()) === "30 minutes";
  await owner.browser.until(isChosen, "another range is shown");
  await owner.reads(new RegExp(`^${COMING} entered, ${joined} joined the line`));
  // Who waits is known by a census: whoever comes in its very second may count twice.
  await owner.reads(new RegExp(`${LIMIT} inside, \\d+ waiting`));
  assert.equal(await page.locator(".chart").count(), CHARTS);
  await isDrawn(owner, "--accent", 0);

  const entered = page.locator('.history td[data-label="Entered"]');
  const sum = (texts) => texts.reduce((total, text) => total + Number(text), 0);
  assert.equal(sum(await entered.allTextContents()), COMING);
  await page.getByRole("combobox", { name: "The last" }).selectOption("30 days");
  await page.getByRole("row").nth(HOURS_MAX + 1).waitFor({ state: "detached" });
  assert.equal(sum(await entered.allTextContents()), COMING);

  await isTheSameAsFile(arena.cluster, page);
  // A hold is a mark in the charts, in words too, and told in the sentence.
  await call(arena.cluster, "PATCH", `${ROOMS}/${shop.id}`, { queue_all: true });
  await owner.reads(/: Hold all, by owner$/, DRAWN_MS);
  await page.locator(".chart").first().locator(".changed").first().waitFor({ state: "attached" });
  assert.deepEqual(owner.complaints, []);
});

/** Downloads the hours as a file, which is what the API says at that moment: the hour goes on. */
async function isTheSameAsFile(cluster, page) {
  const path = `${ROOMS}/${shop.id}/history?resolution=hour&format=csv`;
  const asked = async () => (await ask(cluster, "GET", path)).body;
  const downloaded = async () => {
    const coming = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download as CSV" }).focus();
    await page.keyboard.press("Enter");
    const download = await coming;
    assert.equal(download.suggestedFilename(), "history-shop.csv");
    return fs.readFileSync(await download.path(), "utf8");
  };
  let before = await asked();
  for (;;) {
    const csv = await downloaded();
    const after = await asked();
    if (before === after) return assert.equal(csv, after);
    before = after;
  }
}

/** How many dots of the first chart have the colour of a variable of the style sheet. */
function drawn(page, ink) {
  return page.evaluate((name) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const [red, green, blue] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
    probe.remove();
    const canvas = document.querySelector(".chart canvas");
    const { width = 0, height = 0 } = canvas ?? {};
    // The page adds the canvas after its frame.
    if (width === 0 || height === 0) return 0;
    const settings = { willReadFrequently: true };
    const copy = new OffscreenCanvas(width, height).getContext("2d", settings);
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    let dots = 0;
    for (let at = 0; at < data.length; at += 4) {
      const isInk = data[at] === red && data[at + 1] === green && data[at + 2] === blue;
      if (isInk && data[at + 3] === 255) dots += 1;
    }
    return dots;
  }, ink);
}

/** Waits until more dots than so many have a colour. */
async function isDrawn({ browser, page }, ink, most) {
  let dots;
  const isSo = async () => (dots = await drawn(page, ink)) > most;
  const complaint = () => `${dots} dots are ${ink}, not more than ${most}`;
  await browser.until(isSo, complaint, DRAWN_MS);
}

/** The range that is shown, by the fields of its ends. */
async function range(page) {
  const value = (label) => page.getByLabel(label, { exact: true }).inputValue();
  const [from, until] = [await value("From"), await value("To")].map((text) => Date.parse(text));
  return { from, until, minutes: (until - from) / MINUTE_MS };
}

/** Waits until the range that is shown is so long, about, and returns it. */
async function isLong({ browser, page }, [least, most]) {
  let shown;
  const isSo = async () => {
    shown = await range(page);
    return least <= shown.minutes && shown.minutes <= most;
  };
  await browser.until(isSo, () => `${shown.minutes} minutes are shown, not ${least} to ${most}`);
  return shown;
}

/** Drags over the middle half of the first chart. */
async function drags(page) {
  const { x, y, width, height } = await page.locator(".chart .u-over").first().boundingBox();
  await page.mouse.move(x + width / 4, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2, y + height / 2);
  const picked = await page.locator(".chart .u-select").first().boundingBox();
  assert.ok(Math.abs(picked.width - width / 4) < 2, `${picked.width} of ${width} px`);
  await page.mouse.move(x + (width * 3) / 4, y + height / 2);
  await page.mouse.up();
}

/** Goes back step by step until the page tells this. */
async function looksBack({ browser, page }, told) {
  const says = () => page.locator(".looked").innerText();
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    const before = await says();
    await page.keyboard.press("ArrowLeft");
    await browser.until(async () => (await says()) !== before, "a step leads nowhere");
    if (told.test(await says())) return;
  }
  assert.match(await says(), told);
}

browserTest("an owner looks closer, at a moment and at any time", options, async (arena) => {
  await comes(arena.cluster);
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await opensHistory(owner);
  await page.getByRole("combobox", { name: "The last" }).selectOption("6 hours");
  await owner.reads(new RegExp(`^${COMING} entered`));
  const whole = await isLong(owner, [355, 365]);

  await drags(page);
  const half = await isLong(owner, [175, 185]);
  assert.ok(whole.from < half.from && half.until < whole.until);
  await owner.reads(/^Nobody was here\./);
  const choice = page.getByRole("combobox", { name: "The last" });
  assert.equal(await choice.inputValue(), "another range");
  await choice.selectOption("6 hours");
  await owner.reads(new RegExp(`^${COMING} entered`));

  // The end is looked at, and closer by the keyboard alone; one step back is a minute and a half.
  await page.getByLabel("Look at").focus();
  await looksBack(owner, /of 20 inside, \d+ waiting, \d+ entered/);
  await owner.button("Zoom in").focus();
  await page.keyboard.press("Enter");
  await isLong(owner, [80, 110]);
  await owner.reads(new RegExp(`^${COMING} entered`));

  const { from, until } = await range(page);
  const local = (ms) => new Date(ms).toISOString().slice(0, 16);
  await page.getByLabel("From", { exact: true }).fill(local(from - DAY_MS));
  const day = await isLong(owner, [1_500, 1_560]);
  assert.equal(day.until, until);
  await owner.reads(new RegExp(`^${COMING} entered`));
  await page.locator(".chart .u-over").first().dblclick();
  await isLong(owner, [1_435, 1_445]);
  assert.deepEqual(owner.complaints, []);
});

/**
 * Has the API tell of the day before what happened today three hours later, and other numbers of
 * people inside, so that both lines are seen. What is asked for with an end is the day before.
 */
async function happenedTheDayBefore(page) {
  const later = (text, ms) => new Date(Date.parse(text) + ms).toISOString();
  await page.route(/\/history\?.*until=/, async (route) => {
    const url = new URL(route.request().url());
    for (const end of ["from", "until"]) {
      url.searchParams.set(end, later(url.searchParams.get(end), DAY_MS));
    }
    const response = await route.fetch({ url: url.href });
    const json = await response.json();
    const inside = json.result.columns.indexOf("active_max");
    json.result.rows.forEach((row, index) => {
      row[0] = later(row[0], -DAY_MS - 3 * HOUR_MS);
      row[inside] = index % 2 === 0 ? LIMIT / 4 : LIMIT;
    });
    await route.fulfill({ response, json });
  });
}

/** Has the page choose a range as soon as it shows a chart, before it does anything else. */
function choosesWithTheFirstChart(page, range) {
  return page.evaluate((wanted) => {
    const observer = new MutationObserver(() => {
      const select = document.querySelector("main select");
      if (!select || !document.querySelector(".chart")) return;
      observer.disconnect();
      select.value = [...select.options].find(({ text }) => text === wanted).value;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    });
    observer.observe(document.body, { childList: true, subtree: true });
  }, range);
}

browserTest("a range that is chosen as the first one comes stays", options, async (arena) => {
  await comes(arena.cluster);
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  await choosesWithTheFirstChart(owner.page, "6 hours");
  await owner.page.getByRole("link", { name: "History" }).click();
  await isLong(owner, [355, 365]);
  const choice = owner.page.getByRole("combobox", { name: "The last" });
  assert.equal(await choice.inputValue(), "6 hours");
  assert.deepEqual(owner.complaints, []);
});

browserTest("another day lies under the one that is shown", options, async (arena) => {
  await comes(arena.cluster);
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await happenedTheDayBefore(page);
  await opensHistory(owner);
  await page.getByRole("combobox", { name: "The last" }).selectOption("6 hours");
  await owner.reads(new RegExp(`^${COMING} entered`));
  await isLong(owner, [355, 365]);
  await page.getByText(/^─ in grey: from /).waitFor({ state: "detached" });
  await isDrawn(owner, "--accent", 0);
  const before = await drawn(page, "--soft");
  await page.getByLabel("Compare with").selectOption("the day before");
  await owner.reads(/─ in grey: from /);
  await isDrawn(owner, "--soft", before + 20);
  await owner.looks("history-compared");
  assert.equal(await page.getByText(new RegExp(`^${COMING} entered`)).count(), 2);
  assert.deepEqual(owner.complaints, []);
});

browserTest("the history is readable by everybody", options, async (arena) => {
  await comes(arena.cluster);
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await ownerOf(arena, context);
    await owner.signIn(SECRETS.API_TOKEN);
    await opensHistory(owner);
    await owner.page.getByRole("combobox", { name: "The last" }).selectOption("30 minutes");
    await owner.reads(/^50 entered/);
    await owner.looks(`history-${device}`);
    assert.deepEqual(owner.complaints, []);
  }
});
