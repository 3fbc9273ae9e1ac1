/**
 * An owner's first hour, in a few minutes of real time, with what `npm start` runs: signs in, makes
 * a room, sees people queue in it, steers it, prepares an event and a rule, and looks back; the
 * last look is on a phone.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

import { Arena, DESKTOP, PHONE, keepScreenshot } from "../harness/browser-test.mjs";
import { chromiumMissing, launchChromium } from "../harness/chromium.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { withLocalStart } from "../harness/local-start.mjs";
import { ownerOf } from "../harness/owner.mjs";

const TIMEOUT_MS = 1_000_000;
const MINUTE_MS = 60_000;
const FOREVER_MS = 3_600_000;
const BROWSE_MS = 5_000;
const COMING = 12;
const [LIMIT, MORE] = [3, 8];
/** A waiting visitor checks in within 22 s. The page asks for the history each 30 s. */
const COMES_MS = 120_000;
const tickets = { name: "tickets", host: "tickets.localhost", path: "/" };
/** The screens of a room, with what is read on each once it is complete. */
const TABS = {
  Now: `${MORE} / ${MORE}`,
  Events: "Disabled",
  Rules: "payments",
  History: /entered, \d+ joined the line/,
  Page: "What they see",
  Webhooks: "New webhook",
  Settings: "Queueing method",
};

test("the whole story of an owner", { timeout: TIMEOUT_MS }, async (context) => {
  const missing = chromiumMissing();
  if (missing && process.env.CI) throw new Error(`CI must run this test: ${missing}`);
  if (missing) return context.skip(`SKIPPED: ${missing}`);
  await withLocalStart(async (start) => {
    const browser = await launchChromium();
    const visitors = new Visitors(start);
    try {
      await story(start, new Arena(start, browser), visitors);
    } finally {
      await visitors.end();
      await browser.close();
    }
  });
});

async function story(start, arena, visitors) {
  assert.ok(!fs.existsSync(start.leftBehind), "a fresh start keeps what was stored");
  const owner = await ownerOf(arena, DESKTOP);
  await signsIn(owner, start.token);
  await makesARoom(owner);
  await visitors.come();
  await seesThemQueue(owner);
  await givesMorePlaces(owner, visitors);
  await preparesAnEvent(owner, arena);
  await makesARule(owner);
  await holdsAndDrains(owner);
  await looksBack(owner, visitors);
  assert.deepEqual(owner.complaints, []);

  const phone = await ownerOf(arena, PHONE);
  await phone.signIn(start.token);
  await phone.heading("Rooms").waitFor();
  await phone.looks("story-phone-rooms");
  await phone.open(tickets);
  for (const tab of Object.keys(TABS)) {
    await goesTo(phone, tab);
    await phone.reads(TABS[tab]);
    await phone.looks(`story-phone-${tab.toLowerCase()}`);
  }
  assert.deepEqual(phone.complaints, []);
  await visitors.end();
  await startsAgain(start);
}

/** What was made is there again at the next start. */
async function startsAgain(start) {
  const names = async () => {
    const headers = { authorization: `Bearer ${start.token}` };
    const path = "/_waiting-room/client/v4/accounts/all/waiting_rooms";
    const { body } = await start.send("local", { host: "localhost", path, headers });
    return JSON.parse(body).result.map(({ name }) => name).sort();
  };
  await start.again();
  assert.deepEqual(await names(), ["demo", tickets.name]);
}

/** People of one machine who come, wait, and once inside look around. */
class Visitors {
  #over = false;
  #running;

  constructor(start) {
    const { host } = tickets;
    this.crowd = new Crowd(start, { count: COMING, host, browseMs: BROWSE_MS });
  }

  async come() {
    await this.crowd.arrive();
    this.#running = this.crowd.wait(FOREVER_MS, () => this.#over);
    // Whether it failed is asked in the end.
    this.#running.catch(() => {});
  }

  async end() {
    this.#over = true;
    await this.#running;
  }
}

/** Whoever comes for the first time is told which token, and where it is. */
async function signsIn(owner, token) {
  await owner.page.getByLabel("Token").waitFor();
  await owner.reads(/API_TOKEN to look and to change.*npm start in \.dev\.vars/);
  await owner.looks("story-first-visit");
  await owner.button("Sign in").click();
  await owner.reads("Enter the token.");
  await owner.signIn(token);
  await owner.heading("Rooms").waitFor();
  await owner.page.getByRole("link", { name: "demo", exact: true }).waitFor();
}

async function makesARoom(owner) {
  await owner.page.getByRole("link", { name: "New room" }).click();
  await fill(owner.page, {
    Name: tickets.name,
    Hostname: tickets.host,
    "Total active users": LIMIT,
    "New users per minute": LIMIT,
  });
  await owner.button("Save").click();
  await owner.heading(tickets.name).waitFor();
  await owner.reads(`0 / ${LIMIT}`);
  await owner.looks("story-room-made");
}

async function seesThemQueue(owner) {
  await owner.reads(`${LIMIT} / ${LIMIT}`);
  await owner.reads(`about ${COMING - LIMIT}`);
  await owner.looks("story-queueing");
}

async function givesMorePlaces(owner, { crowd }) {
  const values = { "Total active users": MORE, "New users per minute": MORE };
  await fill(owner.page, values);
  await owner.button("Apply").click();
  await owner.reads(new RegExp(`In force: total active users ${MORE}`));
  await owner.reads(`${MORE} / ${MORE}`, COMES_MS);
  await owner.reads(`about ${COMING - MORE}`, COMES_MS);
  const areInside = () => crowd.inside.length === MORE;
  await owner.browser.until(areInside, () => `${crowd.inside.length} are inside`);
}

/** An event whose prequeue has begun: whoever comes new is told that the order is drawn. */
async function preparesAnEvent(owner, arena) {
  const { page } = owner;
  await goesTo(owner, "Events");
  await owner.reads(/^No event yet\./);
  await owner.button("New event").click();
  const local = (minutes) =>
    page.evaluate((ms) => {
      const at = new Date(Date.now() + ms);
      return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    }, minutes * MINUTE_MS);
  await fill(page, {
    Name: "sale",
    "Prequeue start": await local(-1),
    "Event start": await local(30),
    "Event end": await local(90),
    "Shown on the page as": "The great sale",
  });
  await page.getByLabel("Shuffle at event start").check();
  await owner.button("Save").click();
  await owner.heading("sale").waitFor();
  await owner.reads("Pre-queueing");
  await owner.reads(/order of the prequeue is drawn at the start/);
  await owner.reads("Page: there in 9 states");
  await owner.looks("story-event");
  // By then every isolate knows of the event.
  await page.waitForTimeout(6_000);
  const fan = await arena.visitor({ room: tickets, name: "fan", context: PHONE });
  await fan.come();
  await fan.page.getByText("The great sale").first().waitFor();
  await keepScreenshot(fan.page, "story-prequeue");
  await fan.leave();
  await owner.button("Disable").click();
  await owner.reads(/In force/);
  await owner.reads("It is skipped unless you enable it.");
}

async function makesARule(owner) {
  const { page } = owner;
  await goesTo(owner, "Rules");
  await owner.button("New rule").click();
  await page.getByLabel("Expression", { exact: true }).fill('http.request.uri.path eq "/pay"');
  await page.getByLabel("Description").fill("payments");
  await owner.button("Save").click();
  await owner.button("Disable: payments").waitFor();
  await page.getByLabel("URL").fill(`https://${tickets.host}/pay`);
  await owner.button("Test").click();
  await page.locator(".told").getByText("Passes").waitFor();
  await page.getByRole("listitem").filter({ hasText: "matches the request" }).waitFor();
  await owner.looks("story-rule");
  await page.getByLabel("URL").fill(`https://${tickets.host}/`);
  await owner.button("Test").click();
  await page.locator(".told").getByText("Meets the room").waitFor();
}

async function holdsAndDrains(owner) {
  const { page } = owner;
  await goesTo(owner, "Now");
  await owner.button("Hold all").click();
  await owner.reads(/In force: Hold all\./);
  await owner.button("Undo: back to nobody held").click();
  await owner.reads(/In force: nobody held\./);
  await owner.button("Drain").click();
  await owner.answers(tickets.name);
  await owner.looks("story-drain-question");
  await page.keyboard.press("Enter");
  await owner.reads(/In force: Drain\./);
  await owner.reads(/^In force\. Nobody new enters, and sessions are not renewed/);
  await owner.looks("story-drained");
  await owner.button("Open").click();
  await owner.reads(/In force: nobody held, no maintenance\./);
}

/** The history has everybody who has entered, and who joined the line: those, and the fan. */
async function looksBack(owner, { crowd }) {
  const { page } = owner;
  await goesTo(owner, "History");
  await page.getByRole("combobox", { name: "The last" }).selectOption("30 minutes");
  const joined = COMING - LIMIT + 1;
  await owner.reads(new RegExp(`^${MORE} entered, ${joined} joined the line`), COMES_MS);
  assert.equal(crowd.inside.length, MORE);
  await owner.looks("story-history");
}

async function goesTo({ page }, tab) {
  await page.getByRole("navigation").getByRole("link", { name: tab, exact: true }).click();
}

/** Fills fields by their labels. */
async function fill(page, values) {
  for (const [label, value] of Object.entries(values)) {
    await page.getByLabel(label, { exact: true }).fill(String(value));
  }
}
