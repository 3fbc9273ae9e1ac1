/**
 * What happens meanwhile, in the owner's cockpit and a real browser: somebody else changes what is
 * in an open form, a call is lost, a button is pressed twice, a clock is wrong. Nothing is written
 * over, and no other thing is steered.
 */

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, browserTest } from "../harness/browser-test.mjs";
import { signedIn } from "../harness/owner.mjs";
import { localRoom } from "../harness/rooms.mjs";

const shop = localRoom({ name: "shop", total_active_users: 100, new_users_per_minute: 50 });
const options = { rooms: [shop] };
const PATH = `${ROOMS}/${shop.id}`;
const MINUTE_MS = 60_000;
/** By then every screen has read the room again. */
const READ_MS = 7_000;

const inMinutes = (minutes) => new Date(Date.now() + minutes * MINUTE_MS).toISOString();
const sale = { name: "sale", event_start_time: inMinutes(-10), event_end_time: inMinutes(120) };

browserTest("nothing that somebody else has changed is written over", options, async (arena) => {
  const stored = async (rest = "") => (await call(arena.cluster, "GET", PATH + rest)).result;
  const make = async (rest, body) => (await call(arena.cluster, "POST", PATH + rest, body)).result;
  const limits = { total_active_users: 100, new_users_per_minute: 50 };
  const event = await make("/events", { ...sale, ...limits, description: "old" });
  const expression = 'http.host eq "shop.localhost"';
  const made = { action: "bypass_waiting_room", expression, description: "all", enabled: true };
  const [rule] = await make("/rules", made);
  const at = async (screen) => {
    const owner = await signedIn(arena, DESKTOP);
    await shows(owner, screen);
    return owner;
  };
  const [page, events, rules] = await Promise.all(["/page", "/events", "/rules"].map(at));
  await page.page.locator("#field-page_name").waitFor();
  await events.button(/^Edit/).click();
  await events.page.locator("#field-page_message").waitFor();
  await rules.button(/^Edit/).click();
  await rules.page.locator("#field-description").waitFor();

  const change = (rest, body) => call(arena.cluster, "PATCH", PATH + rest, body);
  await change("", { page_text: "Sold out tonight" });
  await change(`/events/${event.id}`, { total_active_users: 20, new_users_per_minute: 10 });
  await change(`/rules/${rule.id}`, { enabled: false });
  await setTimeout(READ_MS);

  await page.page.locator("#field-page_name").fill("My shop");
  await page.button("Save").click();
  await page.reads(/stored; visitors see it/);
  const { page_text: text, page_name: name } = await stored();
  assert.deepEqual([text, name], ["Sold out tonight", "My shop"]);

  await rules.page.locator("#field-description").fill("everybody");
  await rules.button("Save").click();
  await rules.button("Edit: everybody").waitFor();
  const [kept] = await stored("/rules");
  assert.deepEqual([kept.description, kept.enabled], ["everybody", false]);

  const written = (field) => events.page.locator(`#field-${field}`);
  await written("total_active_users").fill("70");
  await events.button("Save").click();
  await events.reads(/^Nothing was changed: meanwhile somebody else has set total active users 20/);
  await written("total_active_users").fill("100");
  await written("page_message").fill("Hello");
  await written("description").fill("");
  await written("event_start_time").fill("");
  await events.button("Save").click();
  await events.page.locator("#field-event_start_time-problem").getByText(/not be empty/).waitFor();
  await written("event_start_time").fill(local(event.event_start_time));
  await events.button("Save").click();
  await events.reads(/^Saved: sale/);
  const now = await stored(`/events/${event.id}`);
  assert.deepEqual([now.total_active_users, now.new_users_per_minute], [20, 10]);
  assert.deepEqual([now.page_message, now.description], ["Hello", ""]);
});

const back = "a draft that is back after a reload writes nothing over";
browserTest(back, options, async (arena) => {
  const stored = async (rest) => (await call(arena.cluster, "GET", PATH + rest)).result;
  const change = (rest, body) => call(arena.cluster, "PATCH", PATH + rest, body);
  const limits = { total_active_users: 100, new_users_per_minute: 50 };
  const made = await call(arena.cluster, "POST", `${PATH}/events`, { ...sale, ...limits });
  const rest = `/events/${made.result.id}`;
  const owner = await signedIn(arena, DESKTOP);
  const field = (name) => owner.page.locator(`#field-${name}`);
  const saves = async (name, text) => {
    await owner.page.locator(`#field-${name}-problem`).getByText(text).waitFor();
    await owner.button("Save").click();
    await owner.reads(/^Nothing was changed: meanwhile somebody else has set /);
  };
  await shows(owner, "/page");
  await field("page_text").fill("Hello");
  await change("", { page_text: "Closed" });
  await owner.page.reload();
  await saves("page_text", "Now it is “Closed”.");
  assert.equal((await stored("")).page_text, "Closed");
  await field("page_text").fill("Hello again");
  await owner.button("Save").click();
  await owner.reads(/stored; visitors see it/);
  assert.equal((await stored("")).page_text, "Hello again");

  await shows(owner, "/settings");
  await field("samesite").selectOption("lax");
  await change("", { cookie_attributes: { samesite: "strict", secure: "auto" } });
  await owner.page.reload();
  await saves("samesite", "Now it is “strict”.");
  assert.equal((await stored("")).cookie_attributes.samesite, "strict");

  await shows(owner, "/events");
  await owner.button(/^Edit/).click();
  await field("total_active_users").fill("70");
  await change(rest, { total_active_users: 60 });
  await owner.page.reload();
  await saves("total_active_users", "Now it is “60”.");
  assert.equal((await stored(rest)).total_active_users, 60);
  assert.deepEqual(owner.complaints, []);
});

const slow = "a change on a slow network does not write over a later one";
browserTest(slow, options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  const isUnderWay = Promise.withResolvers();
  const isChanged = Promise.withResolvers();
  await owner.page.route(/waiting_rooms\/\w+$/, async (route) => {
    if (route.request().method() === "PATCH") {
      isUnderWay.resolve();
      await isChanged.promise;
    }
    await route.continue();
  });
  await owner.button(/^Limit −10/).click();
  await isUnderWay.promise;
  const limits = { total_active_users: 200, new_users_per_minute: 100 };
  await call(arena.cluster, "PATCH", PATH, limits);
  isChanged.resolve();
  await owner.reads(/^Nothing was changed: meanwhile somebody else has set total active users 200/);
  assert.equal((await call(arena.cluster, "GET", PATH)).result.total_active_users, 200);
});

const unread = "an event that could not be read is read again, and not steered";
browserTest(unread, options, async (arena) => {
  const limits = { total_active_users: 5, new_users_per_minute: 5 };
  const { result } = await call(arena.cluster, "POST", `${PATH}/events`, { ...sale, ...limits });
  const owner = await signedIn(arena, DESKTOP);
  let isLost = true;
  const lose = (route) => (isLost ? route.abort() : route.continue());
  await owner.page.route(new RegExp(`events/${result.id}$`), lose);
  await owner.open(shop);
  await owner.reads(/^0 \/ –$/);
  const lower = owner.button(/^Limit −10/);
  assert.equal(await lower.getAttribute("aria-disabled"), "true");
  isLost = false;
  await owner.reads(/^0 \/ 5$/);
  await lower.click();
  await owner.reads(/: In force: total active users 4,/);
  assert.equal((await call(arena.cluster, "GET", PATH)).result.total_active_users, 100);

  // One that somebody has just deleted is no reason to steer nothing.
  const other = await signedIn(arena, DESKTOP);
  const errors = [{ code: 1001, message: "There is no such event." }];
  const gone = JSON.stringify({ success: false, errors, messages: [], result: null });
  const answer = { status: 404, contentType: "application/json", body: gone };
  await other.page.route(new RegExp(`events/${result.id}$`), (route) => route.fulfill(answer));
  await other.open(shop);
  await other.reads(/^0 \/ 100$/);
  assert.equal(await other.button(/^Limit −10/).getAttribute("aria-disabled"), null);
});

browserTest("5.000 is no 5, and groups are stored once", options, async (arena) => {
  const owner = await signedIn(arena, { ...DESKTOP, locale: "de-DE" });
  const { page } = owner;
  await owner.open(shop);
  await page.locator("#total").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("5.000");
  await owner.reads(/without points or commas: 5000/);
  assert.equal(await owner.button("Apply").getAttribute("aria-disabled"), "true");

  await shows(owner, "/settings");
  await page.locator("#field-invitation_groups").fill("fans first\npress share 4");
  await owner.button("Save").click();
  await page.getByRole("dialog").waitFor();
  await owner.answers(shop.name);
  await page.keyboard.press("Enter");
  await owner.reads(/: In force: invitation_groups /);
});

const once = "a double click is one, and an event starts by the Worker's clock";
browserTest(once, options, async (arena) => {
  for (const description of ["pay", "health", "office"]) {
    const expression = `http.request.uri.path eq "/${description}"`;
    const rule = { action: "bypass_waiting_room", expression, description };
    await call(arena.cluster, "POST", `${PATH}/rules`, rule);
  }
  const ahead = { event_start_time: inMinutes(60), event_end_time: inMinutes(120) };
  const { result } = await call(arena.cluster, "POST", `${PATH}/events`, { ...sale, ...ahead });
  const owner = await signedIn(arena, DESKTOP);
  await shows(owner, "/rules");
  await owner.button("Delete: pay").dblclick({ delay: 50 });
  await owner.button("Delete: pay").waitFor({ state: "detached" });
  const { result: left } = await call(arena.cluster, "GET", `${PATH}/rules`);
  assert.deepEqual(left.map(({ description }) => description), ["health", "office"]);

  await owner.page.addInitScript((aheadMs) => {
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) {
        super(...(given.length > 0 ? given : [Real.now() + aheadMs]));
      }

      static now() {
        return Real.now() + aheadMs;
      }
    };
  }, 3 * MINUTE_MS);
  await owner.page.reload();
  await shows(owner, "/events");
  await owner.button("Start now").waitFor();
  await setTimeout(2_000);
  await owner.button("Start now").click();
  await owner.reads(/: In force: start /);
  const started = (await call(arena.cluster, "GET", `${PATH}/events/${result.id}`)).result;
  assert.ok(Date.parse(started.event_start_time) <= Date.now(), started.event_start_time);
});

async function shows(owner, screen) {
  const hash = `#/room/${shop.zone_id}/${shop.id}${screen}`;
  await owner.page.evaluate((to) => {
    location.hash = to;
  }, hash);
}

/** A moment as the field of a form has it: by the minute, where the owner is. */
function local(text) {
  const at = new Date(text);
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}
