/**
 * The numbers on the cockpit's screens: one stream for what is looked at, questions where streams
 * do not pass, and nothing in a hidden tab.
 */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, browserTest } from "../harness/browser-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { RARE_CHECK_INS, localRoom } from "../harness/rooms.mjs";

const LIMIT = 20;
const COMING = 50;
/** Some rounds of lines, which are a second apart, or of questions, which are 2 s apart. */
const ROUNDS_MS = 7_000;
/** A page that has asked nothing for so long has asked all that it asks first. */
const SETTLED_MS = 1_500;
/** The room counts everybody within so many steps of a quarter of a second. */
const COUNTS_MAX = 240;
/** A page takes a stream for broken that has said nothing for so long. */
const SILENT_MS = 5_000;

const shop = localRoom({
  name: "shop",
  ...RARE_CHECK_INS,
  total_active_users: LIMIT,
  new_users_per_minute: LIMIT,
  session_duration: 30,
});
const options = { rooms: [shop, localRoom({ name: "tickets" })] };

browserTest("a tab that is hidden as soon as it is there asks nothing", options, async (arena) => {
  const owner = await ownerOf(arena, DESKTOP);
  let asked = 0;
  owner.page.on("request", () => (asked += 1));
  await owner.page.evaluate(() => {
    const screens = new MutationObserver(() => {
      if (!document.querySelector("header button")) return;
      screens.disconnect();
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    });
    screens.observe(document, { childList: true, subtree: true });
  });
  await owner.signIn(SECRETS.API_TOKEN);
  await owner.button("Sign out").waitFor();
  await owner.isQuiet(SETTLED_MS);
  const before = asked;
  await sleep(ROUNDS_MS);
  assert.equal(asked, before);
});

const many = Array.from({ length: 120 }, (_, at) => localRoom({ name: `room-${at + 1}` }));
browserTest("only what is looked at is asked for", { rooms: many }, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const count = () => arena.cluster.calls("GlobalAggregator");
  /** How many calls of objects are made in a while, and in how many seconds. */
  const callsInAWhile = async () => {
    const [began, before] = [Date.now(), await count()];
    await sleep(ROUNDS_MS);
    const calls = (await count()) - before;
    return { calls, seconds: (Date.now() - began) / 1_000 };
  };
  /** Waits: the Worker notices only after a while that nobody reads the streams of before. */
  const untilCalls = async (areMeant, complaint) => {
    let told;
    const isSo = async () => areMeant((told = await callsInAWhile()));
    await owner.browser.until(isSo, () => `${complaint}: ${JSON.stringify(told)}`);
  };
  await owner.reads("0 / 1");
  const rooms = owner.streams.at(-1);
  assert.ok(rooms.length > 3 && rooms.length < 20, `${rooms.length} rooms`);
  const all = await callsInAWhile();
  const told = `${all.calls} calls for ${rooms.length} rooms`;
  assert.ok(all.calls <= rooms.length * (all.seconds + 2), told);
  await owner.reads("These are the first 100 of 120.");
  await owner.page.getByLabel("Find a room").fill("nothing");
  await owner.reads("No room has “nothing” in its name or host.");
  await owner.page.getByLabel("Find a room").fill("room-7");
  await owner.open(many[6]);
  await owner.reads("0 / 1");
  // The page knows the number from the list; the stream of this room alone comes after it.
  const isAlone = () => owner.streams.at(-1).join() === many[6].id;
  await owner.browser.until(isAlone, () => `others are listened to: ${owner.streams.at(-1)}`);
  const areOfOne = ({ calls, seconds }) => calls >= 2 && calls <= seconds + 2;
  await untilCalls(areOfOne, "one room is not all that is asked for");
  await owner.hides(true);
  await untilCalls(({ calls }) => calls === 0, "a hidden tab asks");
  await owner.hides(false);
  await owner.reads(/^\d s ago$/);
  assert.deepEqual(owner.asked, [], "rooms are asked for one by one beside the stream");
});

browserTest("what visitors change is on the screen within 2 s", options, async (arena) => {
  const { cluster } = arena;
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  await owner.reads("0 / 20");
  const path = `${ROOMS}/${shop.id}/status`;
  const waits = async () => (await call(cluster, "GET", path)).result.estimated_queued_users;
  // From here on the Worker's time is what counts: 1.5 s of it for each change. In the time of the
  // browser a line may come late.
  await waitsLongFor(owner.page, SILENT_MS);
  cluster.clock.stop();
  let coming = 0;
  for (const count of [COMING, 5, 6, 7, 8]) {
    coming += count;
    const crowd = new Crowd(cluster, { count, host: shop.host, label: `of-${coming}` });
    await crowd.arrive();
    for (let counts = 0; (await waits()) !== coming - LIMIT; counts += 1) {
      assert.ok(counts < COUNTS_MAX, `${await waits()} wait of ${coming - LIMIT}`);
      await crowd.wait(250);
    }
    // The stream has the next line within a second of its Worker's clock, and writes it at once.
    await cluster.advance(1_500);
    const told = owner.page.getByText(`about ${coming - LIMIT}`, { exact: true });
    await told.waitFor();
  }
  await owner.reads("20 / 20");
  assert.deepEqual(owner.asked, []);
});

/** Makes timers of so many milliseconds in a page twenty times as long. */
function waitsLongFor(page, meantMs) {
  return page.evaluate((meant) => {
    const { setTimeout: set } = window;
    window.setTimeout = (call, ms, ...rest) => set(call, ms === meant ? 20 * ms : ms, ...rest);
  }, meantMs);
}

browserTest("where streams do not pass numbers are asked for", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  const ways = {
    cut: (route) => route.abort(),
    refused: (route) => route.fulfill({ status: 503, body: "busy" }),
    empty: (route) => route.fulfill({ status: 200, body: "" }),
    "kept back by a proxy": () => {},
  };
  for (const [name, way] of Object.entries(ways)) {
    await page.route(/live\?rooms/, way);
    await page.reload();
    await owner.reads("0 / 20");
    assert.ok(owner.asked.length > 0, `${name}: who has told?`);
    owner.asked.length = 0;
    await owner.reads(/^\d s ago$/);
    const tried = owner.streams.length;
    await page.unroute(/live\?rooms/);
    // It tries again by itself, and asks no more.
    await owner.browser.until(() => owner.streams.length > tried, `${name}: it does not try again`);
    const asksNoMore = async () => {
      owner.asked.length = 0;
      await sleep(ROUNDS_MS / 2);
      return owner.asked.length === 0;
    };
    await owner.browser.until(asksNoMore, `${name}: it goes on asking beside the stream`);
    await owner.reads(/^\d s ago$/);
  }
});

browserTest("without a network numbers grow old and come back", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const context = owner.page.context();
  await owner.open(shop);
  await owner.reads("0 / 20");
  await context.setOffline(true);
  await owner.reads(/no news for \d+ s: The waiting room cannot be reached/);
  await owner.reads(/The settings below are of/);
  assert.ok(await owner.button("Hold all").isDisabled());
  await context.setOffline(false);
  await owner.reads(/^\d s ago$/);
  await owner.page.getByText(/The settings below are of/).waitFor({ state: "detached" });
  assert.ok(await owner.button("Hold all").isEnabled());
});

/** On a phone figures, buttons and what a button does fit the screen; that is read by focus. */
