/**
 * The queue page in a real browser: each state on each screen, with and without script. What the
 * page says is decided in room-core; here it is seen, and heard as a screen reader would.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { barriers, readAloud } from "../harness/accessibility.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { checkEveryLanguage, fitsItsWidth } from "../harness/every-language.mjs";
import { FREQUENT_CHECK_INS, RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const NARROW = { width: 320, height: 568 };
/** Longer than the page takes to say something. */
const QUIET_MS = 1_500;
/** How often the page is loaded again until nothing has changed meanwhile. */
const TRIES = 3;
const SESSION_MS = 60_000;
/** So long that a wait is minutes, however long the machine takes to look at a page. */
const SESSION_MINUTES = 10;
/** A day has 1,440 minutes, and one person a minute enters. */
const MORE_THAN_A_DAY = 1_600;
/** Until the aggregators have counted everybody who waits. */
const COUNTED_MS = 15_000;

/** One place; the page comes back as soon as the product allows. */
const quick = localRoom({ name: "quick", ...FREQUENT_CHECK_INS });
const quickRoom = { rooms: [quick] };
const waiting = still("waiting");
const paused = still("paused", { queue_all: true });
const silent = still("silent");
const full = still("full", { session_duration: 30 });
/** It starts long after the tests are over; the page tells hours then, and the day. */
const soon = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();
const sale = {
  id: "5a1e".repeat(8),
  name: "sale",
  prequeue_start_time: soon(-1),
  event_start_time: soon(2),
  event_end_time: soon(3),
};
const prequeue = still("prequeue", { events: [sale] });
const held = still("held", { maintenance: "hold" });
const turnedAway = still("turned-away", { queueing_method: "reject" });
const lottery = still("lottery", { queueing_method: "random" });
const place = still("place", { show_position: true });
const started = still("started", {
  events: [{ ...sale, prequeue_start_time: null, event_start_time: soon(-1) }],
});
const lots = still("lots", { events: [{ ...sale, shuffle_at_event_start: true }] });

browserTest("without script the page comes back and enters", quickRoom, async (arena) => {
  await visitorInside(arena.cluster, quick);
  const context = { ...PHONE, javaScriptEnabled: false };
  const visitor = await arena.visitor({ room: quick, context });
  await visitor.come();
  assert.ok(!visitor.inside);
  assert.match(await visitor.text(), /This page updates automatically\. Next update: \d+ s\n/);
  assert.match(await visitor.text(), /Last update: \d\d:\d\d:\d\d UTC/);
  await visitor.keepScreenshot("page-without-script");
  await visitor.refreshes(1);
  await arena.cluster.advance(SESSION_MS);
  await visitor.enters();
});

browserTest("the page counts down and comes back without a flash", quickRoom, async (arena) => {
  await visitorInside(arena.cluster, quick);
  const context = { ...DESKTOP, colorScheme: "dark", reducedMotion: "no-preference" };
  const visitor = await arena.visitor({ room: quick, context });
  await visitor.page.addInitScript(countBreaths);
  await visitor.come();
  const frames = await watchFrames(visitor.page);
  await visitor.refreshes(2);
  assert.match(await visitor.text(), /Next update: \d s\n/);
  await visitor.refreshes(1);
  assert.ok(isSteady(frames), `a picture was nearly empty: ${frames}`);
  const breaths = () => visitor.page.evaluate(() => window.breaths);
  await visitor.until(async () => (await breaths()) > 1, "no check-in is to be seen");
  assert.ok((await breaths()) <= 1 + visitor.checkIns.length, "it moves without a check-in");
  await visitor.until(async () => (await moving(visitor.page)) === 0, "it moves all the time");
  // The measure of this test must notice an empty page. Chromium leaves pictures out when it is
  // busy, so the only one of a page at rest may never come: this one changes.
  await visitor.page.evaluate(() => {
    document.body.replaceChildren();
    const colors = ["#111", "#222"];
    document.documentElement.animate({ background: colors }, { duration: 1e3, iterations: 1e3 });
  });
  await visitor.until(() => !isSteady(frames), "an empty page was not noticed");
});

/** For the page: counts how often the visitor's own figure begins to move. */
function countBreaths() {
  window.breaths = 0;
  document.addEventListener("animationstart", () => {
    window.breaths += 1;
  });
}

browserTest("a screen reader hears news and nothing else", { rooms: [waiting] }, async (arena) => {
  await makeLines(arena.cluster, [waiting]);
  const { page, ...visitor } = await arena.visitor({ room: waiting });
  const said = page.getByRole("status");
  await page.goto(visitor.address);
  await page.waitForTimeout(QUIET_MS);
  assert.equal(await moving(page), 0, "something moves for who wants no motion");
  assert.equal(await said.textContent(), "", "the first page says itself");
  // A wait may become a minute shorter in between: that is news.
  const facts = () => page.locator(".facts").innerText();
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await facts();
    await page.reload();
    await page.waitForTimeout(QUIET_MS);
    if ((await facts()) === before) break;
  }
  assert.equal(await said.textContent(), "", "nothing has changed");
  await page.evaluate(() => {
    sessionStorage.waitingRoom = "something else";
  });
  await page.reload();
  await page.getByRole("status").filter({ hasText: /About \d+ minutes?/ }).waitFor();
});

browserTest("a form is not sent, then the page comes back by GET", quickRoom, async (arena) => {
  await visitorInside(arena.cluster, quick);
  const check = async (how, context, fragment) => {
    const visitor = await arena.visitor({ room: quick, context });
    await visitor.submitForm(`order${fragment}`);
    assert.match(await visitor.text(), /Nothing was submitted\./, how);
    await visitor.keepScreenshot(`page-form-${how.replaceAll(" ", "-")}`);
    // The page may have come back while its picture was taken, and once more after that.
    const isBack = () => visitor.views.length + visitor.checkIns.length > 1;
    await visitor.until(isBack, "the page did not come back");
    const methods = visitor.views.slice(0, 2).map(({ method }) => method);
    const stays = context.javaScriptEnabled !== false;
    assert.deepEqual(methods, stays ? ["POST"] : ["POST", "GET"], how);
    assert.equal(/Nothing was submitted\./.test(await visitor.text()), stays, how);
    if (!stays) assert.equal(new URL(visitor.page.url()).pathname, "/page-with-a-form", how);
    assert.deepEqual(visitor.complaints, [], how);
  };
  await Promise.all([
    check("with script", {}, ""),
    check("without script", { javaScriptEnabled: false }, ""),
    check("with script and a fragment", {}, "#tickets"),
  ]);
  const sent = (await arena.cluster.arrivals()).filter(({ method }) => method !== "GET");
  assert.deepEqual(sent, []);
});

/** What a screen reader reads in each state. */
const ALOUD = path.join(ROOT, "tests", "golden", "page-aloud.txt");
/** Those inside stay, and visitors who were looked at before may still be counted. */
const IN_MINUTES = /^About (1 minute|([2-9]|[1-9]\d) minutes) – You are in line$/;
const STARTS = /^Starts in: (2 hours|1 hour \d+ minutes?) – You are in line$/;
const DRAWS = /^Starts in: (2 hours|1 hour \d+ minutes?) – You are in the draw$/;
/** In a lottery the wait is told as soon as the census knows the round. */
const UNTIL_DRAWN = /strong: (N minutes|Finding).*/;
const DRAWN = /^(.+ – )?You are in the draw$/;
const STATES = [
  // Before its line has gone: nobody in it asks again.
  { state: "full", room: full, title: /^The line is full$/ },
  { state: "waiting", room: waiting, title: IN_MINUTES },
  { state: "form", room: waiting, title: IN_MINUTES, form: true },
  { state: "paused", room: paused, title: /^Entry is paused – You are in line$/ },
  { state: "prequeue", room: prequeue, title: STARTS },
  { state: "lots", room: lots, title: DRAWS },
  { state: "unknown", room: silent, title: /^You are in line$/ },
  { state: "started", room: started, title: IN_MINUTES },
  { state: "place", room: place, title: IN_MINUTES },
  { state: "lottery", room: lottery, title: DRAWN, varies: UNTIL_DRAWN },
  { state: "held", room: held, title: /^We will be right back$/ },
  { state: "turned-away", room: turnedAway, title: /^Not available at the moment$/ },
];
const rooms = STATES.map(({ room }) => room).filter((room, at, all) => all.indexOf(room) === at);

browserTest("every state is readable by everybody on every screen", { rooms }, async (arena) => {
  const { cluster } = arena;
  await cluster.breakCalls(...silence(silent));
  const crowd = new Crowd(cluster, { count: MORE_THAN_A_DAY, host: full.host });
  await crowd.arrive();
  await crowd.wait(COUNTED_MS);
  const stay = await makeLines(cluster, [waiting, started, place, lottery]);
  let aloud = "";
  for (const state of STATES) {
    await stay();
    const heard = await checkState(arena, state, "phone", PHONE);
    aloud += `=== ${state.state}\n${heard}\n\n`;
    await checkState(arena, state, "desktop", DESKTOP);
  }
  if (process.env.UPDATE) fs.writeFileSync(ALOUD, aloud);
  assert.equal(aloud, fs.readFileSync(ALOUD, "utf8"), "UPDATE=1 writes it anew");
  for (const state of STATES.filter(({ form }) => !form)) {
    await stay();
    await checkEveryLanguage(arena, [state]);
  }
});

browserTest("long words fit in letters twice as large", { rooms: [paused] }, async (arena) => {
  const context = { viewport: NARROW, locale: "de-DE" };
  const { page, ...visitor } = await arena.visitor({ room: paused, context });
  await page.goto(visitor.address);
  await page.evaluate(() => {
    document.documentElement.style.fontSize = "200%";
  });
  assert.ok(await fitsItsWidth(page), "it scrolls sideways");
  await page.locator(".move summary").click();
  const [button, label] = await Promise.all(
    ["button[value=code]", "form + form label"].map((one) => page.locator(one).boundingBox()),
  );
  assert.ok(label.y >= button.y + button.height + 8, "a label touches the button above it");
});

/**
 * Fills rooms, and lets one visitor wait until the places in their lines are known. Returns what
 * keeps those inside there, to be called more than once in a session: however long the machine
 * takes, nobody else enters.
 */
async function makeLines(cluster, full) {
  const inside = [];
  for (const shown of full) {
    inside.push(await visitorInside(cluster, shown));
    const { host, path } = shown;
    await new Visitor(cluster, { name: "first in line", host, path }).visit();
  }
  await cluster.advance(COUNTED_MS);
  return async () => {
    for (const visitor of inside) assert.equal((await visitor.visit()).kind, "origin");
  };
}

async function checkState(arena, { state, room, title, form, varies }, device, screen) {
  const visitor = await arena.visitor({ room, context: screen });
  const { page } = visitor;
  await (form ? visitor.submitForm("order") : visitor.come());
  assert.match(await visitor.title(), title);
  for (const colorScheme of ["light", "dark"]) {
    const seen = `page-${state}-${device}-${colorScheme}`;
    await page.emulateMedia({ colorScheme });
    await visitor.keepScreenshot(seen, { fullPage: true });
    assert.deepEqual(await barriers(page), [], seen);
  }
  assert.ok(await fitsItsWidth(page), `${state} scrolls sideways on a ${device}`);
  await page.setViewportSize(NARROW);
  assert.ok(await fitsItsWidth(page), `${state} scrolls sideways when narrow`);
  assert.deepEqual(visitor.complaints, [], state);
  assert.equal(visitor.views.length, 1, "the page came back while it was looked at");
  const heard = await readAloud(page);
  await visitor.leave();
  return varies ? heard.replace(varies, "strong: …") : heard;
}

/** A room whose page stays as it is while it is looked at. */
function still(name, fields) {
  return localRoom({ name, ...RARE_CHECK_INS, session_duration: SESSION_MINUTES, ...fields });
}

/** No object of this room answers. */
function silence({ id }) {
  return [
    { className: "DataCenterCounter", object: `${id}/AMS`, fail: "before" },
    { className: "DataCenterAggregator", object: `${id}/AMS`, fail: "before" },
    { className: "GlobalAggregator", object: id, fail: "before" },
  ];
}

/** The sizes in bytes of the pictures on the screen from now on, as they come. */
async function watchFrames(page) {
  const session = await page.context().newCDPSession(page);
  const sizes = [];
  session.on("Page.screencastFrame", ({ data, sessionId }) => {
    sizes.push(data.length);
    session.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
  });
  await session.send("Page.startScreencast", { format: "jpeg", everyNthFrame: 1 });
  return sizes;
}

/** Counts what moves on the page. */
function moving(page) {
  return page.evaluate(() => document.getAnimations().length);
}

/** An empty picture is many times smaller than one with the page on it. */
function isSteady(sizes) {
  return Math.min(...sizes) > Math.max(...sizes) / 2;
}
