/**
 * A page in a tab that is not looked at, and one that is frozen as on a phone that sleeps.
 * `HIDDEN_MINUTES=7 node --test tests/browser/hidden.test.mjs` waits for the throttling of Chromium
 * itself, which begins after five minutes; without, a model of it begins at once.
 */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { browserTest } from "../harness/browser-test.mjs";
import { FREQUENT_CHECK_INS, localRoom } from "../harness/rooms.mjs";
import { openTab } from "../harness/tab.mjs";
import { visitorInside } from "../harness/visitor.mjs";

const MINUTE_MS = 60_000;
const HIDDEN_MINUTES = Number(process.env.HIDDEN_MINUTES ?? 0);
/** Longer than the tab is hidden. */
const SESSION_MINUTES = Math.ceil(HIDDEN_MINUTES) + 1;
/** Order is promised among those who joined at least a second apart. */
const JOIN_EVERY_MS = 1_100;
/** Long enough to hear of a time to wait and to fall asleep, before the place is free. */
const ASLEEP_MS = 22_000;
/** Playwright tells Chromium to throttle nothing. */
const THROTTLED = {
  without: [
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
  ],
};
/** What Chromium does to a page that is hidden for long: see `throttled`. */
const MODEL = HIDDEN_MINUTES ? "" : `(${throttled})()`;

const shop = localRoom({
  name: "hidden",
  session_duration: SESSION_MINUTES,
  ...FREQUENT_CHECK_INS,
});
const timeoutMs = (HIDDEN_MINUTES + 5) * MINUTE_MS;
const options = { rooms: [shop], browser: THROTTLED, timeoutMs };

/** In the page: a timer that timers have set, five in a row, waits for a minute if it is hidden. */
function throttled() {
  const { setTimeout: set } = window;
  let depth = 0;
  window.setTimeout = (call, ms, ...rest) => {
    const own = depth + 1;
    const run = () => {
      depth = own;
      call(...rest);
      depth = 0;
    };
    return set(run, document.hidden && own >= 5 ? Math.max(ms, 60_000) : ms);
  };
  window.setInterval = (call, ms) => {
    const run = () => {
      call();
      window.setTimeout(run, ms);
    };
    window.setTimeout(run, ms);
  };
}

/**
 * Opens two tabs before a full room, whose place is free after `leftMs`: the second a little more
 * than a second after the first, since order is promised among those.
 */
async function twoWait({ cluster, browser }, leftMs) {
  const [{ name: isolate, colo }] = cluster.isolates;
  const tabs = [];
  // The windows come first: a slow machine takes seconds for them.
  for (const name of ["first", "second"]) {
    const headers = { "x-visitor": name, "mf-cf-blob": JSON.stringify({ colo }) };
    tabs.push(await openTab(browser, { headers, script: MODEL }));
  }
  await visitorInside(cluster, shop);
  await cluster.advance(SESSION_MINUTES * MINUTE_MS - leftMs);
  for (const tab of tabs) {
    await tab.go(cluster.address(isolate, shop));
    await sleep(JOIN_EVERY_MS);
  }
  return tabs;
}

/** Who of the two has entered, in order. */
async function entered(cluster) {
  const pages = (await cluster.arrivals()).filter(({ path }) => path === shop.path);
  const names = pages.map(({ visitor }) => visitor);
  return names.filter((name) => name === "first" || name === "second");
}

/** Waits until one of the two has entered. */
async function somebodyEnters(cluster, tab) {
  await tab.until(async () => (await entered(cluster)).length > 0);
  return entered(cluster);
}

/** Says when the first one entered, which a slow machine makes later. */
function tellAfter(what, ms) {
  console.log(`# it entered ${(ms / 1_000).toFixed(1)} s after ${what}`);
}

browserTest("a hidden tab comes when it is due and is not overtaken", options, async (arena) => {
  const leftMs = Math.max(HIDDEN_MINUTES * MINUTE_MS, 14_000);
  const [first] = await twoWait(arena, leftMs);
  const isFreeAt = arena.cluster.clock.now() + leftMs;
  await first.hide();
  const before = first.checkIns.length;
  await sleep(HIDDEN_MINUTES * MINUTE_MS);
  assert.deepEqual(await somebodyEnters(arena.cluster, first), ["first"]);
  tellAfter("its place is free", arena.cluster.clock.now() - isFreeAt);
  assert.equal(await first.tells("document.visibilityState"), "hidden");
  assert.ok(first.checkIns.length >= before + 2, "it entered with its first check-in");
});

browserTest("a phone that sleeps finds its place free on waking", options, async (arena) => {
  const { cluster } = arena;
  const [first, second] = await twoWait(arena, ASLEEP_MS);
  const isFreeAt = cluster.clock.now() + ASLEEP_MS;
  const isTold = async () => /^(About|Less)/.test((await first.tells("document.title")).trim());
  const before = first.checkIns.length;
  await first.hide();
  await first.until(async () => first.checkIns.length > before && (await isTold()));
  // The turn is kept for who has read a time: from the next check-in on.
  const told = first.checkIns.length;
  await first.until(() => first.checkIns.length > told);
  await first.freeze();
  const asleep = first.checkIns.length;
  await second.until(() => cluster.clock.now() > isFreeAt);
  const seen = second.checkIns.length;
  await second.until(() => second.checkIns.length >= seen + 2);
  assert.equal(first.checkIns.length, asleep, "it did not sleep");
  assert.deepEqual(await entered(cluster), [], "the place was given away");
  const wakesAt = Date.now();
  await first.wake();
  assert.deepEqual(await somebodyEnters(cluster, first), ["first"]);
  tellAfter("it wakes", Date.now() - wakesAt);
  assert.equal(first.checkIns[asleep].status, 204, "it did not enter with the first check-in");
});
