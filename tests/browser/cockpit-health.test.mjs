/**
 * The health of a deployment in the owner's cockpit, in a real browser: what the doctor says, the
 * worst first, and the audit log with Undo, on a desktop, a phone and in the dark.
 */

import assert from "node:assert/strict";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";

const READ_ONLY = "the-token-for-reading";
const shop = localRoom({ name: "shop", total_active_users: 20, new_users_per_minute: 20 });
// Keys as they are drawn in a deployment: those of other tests are simple ones.
const TICKET_KEYS = "8d2f7a61c94b03e5f1a6d87c205b9e34617fa0c3d85e29b4f0716a3cd9e85b24";
const API_TOKEN = "the-token-of-the-test-of-health-is-long";
const vars = { API_TOKEN_READ: READ_ONLY };
const options = { rooms: [shop], vars };
const ROOM = `${ROOMS}/${shop.id}`;
/** An isolate asks the registry within so many seconds: until then it may go by a copy. */
const ASKS_WITHIN_S = 60;

browserTest("where nothing is wrong one sentence says so", sound(), async (arena) => {
  const owner = await signedIn(arena, DESKTOP, API_TOKEN);
  await owner.page.getByRole("link", { name: "Health" }).click();
  await tells(owner, "Everything works.");
  await owner.reads(/^Nothing was changed yet/);
  const held = { queue_all: true };
  await call(arena.cluster, "PATCH", ROOM, held, { authorization: `Bearer ${API_TOKEN}` });
  await owner.reads(/Room shop changed: Hold all, before: nobody held/);
  await owner.button("Ask again").click();
  await tells(owner, "Room shop is held: nobody new enters.");
  const people = "shop: 0 of 20 inside, 0 waiting";
  await owner.reads(new RegExp(`^${people}\\. Nobody new enters; visitors inside go on\\.`));
  await owner.reads("queue_all: nobody new enters.");
  assert.deepEqual(owner.complaints, []);
});

const scheduled = "a hold by an event is told with its name and until when, and is gone with it";
browserTest(scheduled, sound(), async (arena) => {
  const { cluster } = arena;
  const headers = { authorization: `Bearer ${API_TOKEN}` };
  const at = (minutes) => new Date(cluster.clock.now() + minutes * 60_000).toISOString();
  const event_end_time = at(60);
  const repair = { name: "Repair", queue_all: true, event_start_time: at(-1), event_end_time };
  const { result } = await call(cluster, "POST", `${ROOM}/events`, repair, headers);
  const owner = await signedIn(arena, { ...DESKTOP, timezoneId: "Asia/Tokyo" }, API_TOKEN);
  await owner.page.getByRole("link", { name: "Health" }).click();
  const tokyo = new Date(Date.parse(event_end_time) + 9 * 3_600_000).toISOString();
  const [, minutes] = /T\d\d:(\d\d)/.exec(tokyo);
  const hour = Number(tokyo.slice(11, 13)) % 12 || 12;
  const held = "^Room shop is held by the event Repair until .*";
  await owner.reads(new RegExp(`${held}\\b0?${hour}:${minutes}`));
  await owner.reads(/The event lets nobody in before/);
  await call(cluster, "DELETE", `${ROOM}/events/${result.id}`, undefined, headers);
  await tells(owner, "Everything works.");
  assert.deepEqual(owner.complaints, []);
});

const silent = "a room whose object does not answer is told first";
browserTest(silent, sound(), async (arena) => {
  const { cluster } = arena;
  await cluster.breakCalls({ className: "GlobalAggregator", object: shop.id, fail: "before" });
  const owner = await signedIn(arena, DESKTOP, API_TOKEN);
  await owner.page.getByRole("link", { name: "Health" }).click();
  await owner.reads("Room shop: The room's object does not answer; try again.");
  await owner.page.locator(".lines li").first().getByText("Mend").waitFor();
  assert.equal(await owner.page.getByText("Everything works.").count(), 0);
  await cluster.breakCalls();
  await tells(owner, "Everything works.");
});

const refused = "a refused deployment is told, with the field and what to do";
browserTest(refused, options, async (arena) => {
  const { cluster } = arena;
  await cluster.send("ams-1", { host: shop.host, path: "/" });
  for (let waited = 0; (await cluster.calls("Registry")) === 0; waited += 1) {
    assert.ok(waited < ASKS_WITHIN_S, "the registry is never asked");
    await cluster.advance(1_000);
  }
  await cluster.restart({ rooms: [{ ...shop, total_active_users: 0 }] });
  const owner = await signedIn(arena, DESKTOP);
  await owner.page.getByRole("link", { name: "Health" }).click();
  await owner.reads("Visitors: are served by the last good deployment; this one is refused.");
  await owner.reads(/rooms\.json: \/0\/total_active_users: .*Mend it, and npm run deploy\./);
  await owner.page.locator(".lines code", { hasText: "npm run deploy" }).first().waitFor();
  assert.deepEqual(owner.complaints, []);
});

browserTest("changes are told, and taken back one by one", options, async (arena) => {
  const { cluster } = arena;
  const rule = { action: "bypass_waiting_room", expression: "ssl" };
  const limits = { total_active_users: 2, new_users_per_minute: 2 };
  const second = { name: "second", host: "second.localhost", ...limits };
  await call(cluster, "PATCH", ROOM, { description: "the shop", session_duration: 7 });
  await call(cluster, "PATCH", ROOM, { maintenance: "drain" });
  await call(cluster, "POST", `${ROOM}/rules`, rule);
  await call(cluster, "POST", ROOMS, second);
  await call(cluster, "PATCH", ROOM, { session_duration: 8 });
  const owner = await signedIn(arena, DESKTOP);
  await owner.page.getByRole("link", { name: "Health" }).click();
  const entries = owner.page.locator(".log li");
  await entries.nth(4).waitFor();
  const texts = await entries.allInnerTexts();
  assert.match(texts[0], /^Room shop changed: session_duration 8, before: session_duration 7/);
  assert.match(texts[1], /^Room second made/);
  assert.match(texts[2], /^Rules of room shop: “ssl” made/);
  assert.match(texts[3], /^Room shop changed: Drain, before: no maintenance/);
  assert.match(texts[4], /^Room shop changed: .*"the shop".*, before: description ""/);
  const undo = (at) => entries.nth(at).getByRole("button");
  assert.deepEqual(await Promise.all([1, 2].map((at) => undo(at).count())), [0, 1]);

  // What has changed since is not overwritten.
  await undo(4).click();
  await owner.reads(/Nothing was changed: meanwhile somebody else has set session_duration 8/);
  await undo(0).click();
  await owner.reads(/In force: session_duration 7\./);
  await owner.page.getByText(/session_duration 7, before: session_duration 8/).waitFor();
  await undo(4).click();
  await owner.reads(/In force: no maintenance\./);
  const { result } = await call(cluster, "GET", ROOM);
  const { maintenance, session_duration: minutes, description } = result;
  assert.deepEqual([maintenance, minutes, description], ["off", 7, "the shop"]);
  assert.deepEqual(owner.complaints, []);
});

browserTest("a link is followed as soon as it is there", options, async (arena) => {
  const owner = await ownerOf(arena, DESKTOP);
  await owner.page.evaluate(() => {
    const screens = new MutationObserver(() => {
      const [heading] = document.getElementsByTagName("h1");
      if (heading?.textContent !== "Rooms") return;
      screens.disconnect();
      document.querySelector('a[href="#/health"]').click();
    });
    screens.observe(document, { childList: true, subtree: true });
  });
  await owner.signIn(SECRETS.API_TOKEN);
  await owner.heading("Health").waitFor();
});

browserTest("health is readable by everybody", options, async (arena) => {
  await call(arena.cluster, "PATCH", ROOM, { session_duration: 8, queue_all: true });
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await ownerOf(arena, context);
    await owner.signIn(SECRETS.API_TOKEN);
    await owner.page.getByRole("link", { name: "Health" }).click();
    await owner.button("Ask again").waitFor();
    await owner.reads(/one of few characters/);
    await owner.looks(`health-${device}`);
    assert.deepEqual(owner.complaints, []);
  }
  const reader = await signedIn(arena, DESKTOP, READ_ONLY);
  await reader.page.getByRole("link", { name: "Health" }).click();
  await reader.reads(/Room shop changed/);
  assert.equal(await reader.page.locator(".log").getByRole("button").count(), 0);
});

/** Asks the doctor until it says this. On a busy machine it may find an object slow. */
async function tells(owner, text) {
  const isSo = async () => {
    await owner.reads(/Asked at /);
    await owner.isQuiet();
    if (await owner.page.getByText(text).first().isVisible()) return true;
    await owner.button("Ask again").click();
    return false;
  };
  await owner.browser.until(isSo, `it never says: ${text}`);
}

function sound() {
  return { rooms: [shop], vars: { ...vars, TICKET_KEYS, API_TOKEN } };
}
