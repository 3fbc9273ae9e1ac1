/**
 * Events in the owner's cockpit, in a real browser: made with refusals at their fields, steered and
 * undone, with a checklist that checks itself, on a desktop, a phone and in the dark.
 */

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";

import { ROOMS, call } from "../harness/api.mjs";
import { DESKTOP, PHONE, browserTest } from "../harness/browser-test.mjs";
import { ownerOf, signedIn } from "../harness/owner.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { localRoom } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";

const shop = localRoom({ name: "shop", total_active_users: 20, new_users_per_minute: 20 });
const options = { rooms: [shop] };
const EVENTS = `${ROOMS}/${shop.id}/events`;
const DOCTOR = /waiting_rooms\/doctor/;
const LIVE = /_waiting-room\/live/;
const MINUTE_MS = 60_000;
/** Until who has entered is counted. */
const COUNTED_MS = 8_000;
/** How long a list of events takes that is slow. */
const LIST_TAKES_MS = 1_500;

browserTest("an event is made, started, extended, stopped and undone", options, async (arena) => {
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  await page.getByRole("link", { name: "Events" }).click();
  await owner.reads(/^No event yet\./);
  await owner.button("New event").click();
  const now = Date.now();
  await page.getByLabel("Name", { exact: true }).fill("sale");
  await page.getByLabel("Prequeue start").fill(local(now + 58 * MINUTE_MS));
  await page.getByLabel("Event start", { exact: true }).fill(local(now + 60 * MINUTE_MS));
  await page.getByLabel("Event end").fill(local(now + 120 * MINUTE_MS));
  await page.getByLabel("Shuffle at event start").check();
  await page.getByLabel("Total active users").fill("50");
  await owner.button("Save").click();
  const early = page.locator("#field-prequeue_start_time-problem");
  await early.getByText("Must be at least 5 minutes before “Event start”.").waitFor();
  await page.locator("#field-new_users_per_minute-problem").waitFor();
  await page.getByLabel("Prequeue start").fill(local(now + 30 * MINUTE_MS));
  await page.getByLabel("New users per minute").fill("10");
  await owner.button("Save").click();
  await owner.heading("sale").waitFor();
  // The field takes whole minutes. The form takes some time.
  await owner.reads(/Prequeue in (2[789]|30) min\./);
  await page.getByText("30 min, and the order is drawn").waitFor();
  await page.getByText("50 inside, 10 a minute").waitFor();
  await owner.reads("Inside when the prequeue begins: they stay, in up to 20 places");
  await owner.reads("Bots: nobody is checked");
  await page.getByText(/The room's limits are kept/).waitFor();
  const [made] = (await call(arena.cluster, "GET", EVENTS)).result;
  const start = new Date(made.event_start_time).getTime();
  assert.ok(Math.abs(start - now - 60 * MINUTE_MS) < MINUTE_MS, made.event_start_time);
  assert.match(made.draw_commitment, /^[0-9a-f]{64}$/);
  await owner.reads(made.draw_commitment);
  await owner.reads(/It changes if you move the prequeue or the start\./);

  await owner.reads(/Without 5 minutes of prequeue nothing is drawn/);
  await owner.button("Start now").click();
  await owner.reads(/In force: start /);
  await owner.reads(/On It ends in/);
  const started = (await call(arena.cluster, "GET", EVENTS)).result[0];
  const { prequeue_start_time: prequeue, shuffle_at_event_start: draws } = started;
  assert.deepEqual([prequeue, draws], [null, false]);
  await owner.button("Extend by 15 min").click();
  await owner.reads(/In force: end /);
  const { event_end_time: end } = (await call(arena.cluster, "GET", EVENTS)).result[0];
  assert.equal(new Date(end) - new Date(made.event_end_time), 15 * MINUTE_MS);
  await page.getByRole("button", { name: /^Undo: back to end/ }).click();
  await owner.reads(/In force: end /);
  const undone = (await call(arena.cluster, "GET", EVENTS)).result[0];
  assert.equal(undone.event_end_time, made.event_end_time);
  const later = { name: "later", ...timesOf(300) };
  await call(arena.cluster, "POST", EVENTS, later);
  await stops(owner, arena, made);
  assert.deepEqual(owner.complaints, []);

  await copiesRepeatsAndDeletes(owner, arena, later);
});

const rejects = "an event that lets nobody new in asks, and changes nothing for who leaves it";
browserTest(rejects, options, async (arena) => {
  await call(arena.cluster, "POST", EVENTS, { name: "sale", ...timesOf(60) });
  const owner = await signedIn(arena, DESKTOP);
  const { page } = owner;
  await owner.open(shop);
  await page.getByRole("link", { name: "Events" }).click();
  await owner.button("Edit “sale”").click();
  await page.getByLabel("Queueing method").selectOption("Nobody new enters (sold out)");
  await owner.button("Save").click();
  await owner.reads(/^When the event “sale” starts, whoever waits loses the place, unless /);
  await page.keyboard.press("Escape");
  await owner.reads("Nothing was changed.");
  const method = async () => (await call(arena.cluster, "GET", EVENTS)).result[0].queueing_method;
  assert.equal(await method(), null);
  await owner.button("Save").click();
  await owner.answers("shop");
  await page.keyboard.press("Enter");
  await owner.reads("Saved: sale.");
  assert.equal(await method(), "reject");
  await repeatsWhatRejects(owner, arena);

  // Nobody waits here: whoever comes in a hold does.
  await call(arena.cluster, "PATCH", `${ROOMS}/${shop.id}`, { queue_all: true });
  await owner.reads("Nothing holds the room: you hold it");
  await owner.button("Edit “sale”").click();
  await page.getByLabel("Event start", { exact: true }).fill(local(Date.now() - MINUTE_MS));
  await owner.button("Save").click();
  await page.getByRole("dialog").getByText(/^When the hold ends, whoever waits loses/).waitFor();
  await page.keyboard.press("Escape");
  await owner.reads("Nothing was changed.");
  await owner.button("Cancel").click();
  await owner.button("Start now").click();
  await page.getByRole("dialog").getByText(/its method lets nobody new in/).waitFor();
  await page.keyboard.press("Escape");
  const [{ event_start_time: start }] = (await call(arena.cluster, "GET", EVENTS)).result;
  assert.ok(Date.parse(start) > Date.now(), "it has not started");
  assert.deepEqual(owner.complaints, []);
});

/** Each week that is made turns people away: that asks, and makes nothing without an answer. */
async function repeatsWhatRejects(owner, { cluster }) {
  const { page } = owner;
  const names = async () => (await call(cluster, "GET", EVENTS)).result.map(({ name }) => name);
  await owner.button("Repeat weekly").click();
  await page.getByLabel("For how many weeks").fill("2");
  await owner.button("Make them").click();
  const question = page.getByRole("dialog");
  await question.getByText(/^When one of these 2 events starts, whoever waits loses/).waitFor();
  await owner.looks("repeat-asks");
  await page.keyboard.press("Escape");
  await owner.reads("Nothing was changed.");
  assert.deepEqual(await names(), ["sale"]);
  await owner.button("Make them").click();
  await owner.answers(shop.name);
  await page.keyboard.press("Enter");
  await owner.reads("Made: 2, like sale.");
  const made = (await call(cluster, "GET", EVENTS)).result.filter(({ name }) => name !== "sale");
  assert.equal(made.length, 2);
  for (const { id } of made) await call(cluster, "DELETE", `${EVENTS}/${id}`);
}

/** Stopped, it stays on the screen although another is next, with its undo on top. */
async function stops(owner, arena, made) {
  const { page } = owner;
  // Then nobody has chosen it: it is on the screen since it is the next.
  await page.reload();
  await owner.button("later").waitFor();
  // An event lasts for a minute at least. The page shows a full minute without its seconds: this
  // start is none.
  const minute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const began = new Date(minute - 4.5 * MINUTE_MS).toISOString();
  await call(arena.cluster, "PATCH", `${EVENTS}/${made.id}`, { event_start_time: began });
  const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
  const shown = await page.evaluate(
    ([text, parts]) => new Date(text).toLocaleTimeString(undefined, parts),
    [began, clock],
  );
  await page.locator(".timeline").getByText(shown).waitFor();
  await owner.button("Stop").click();
  await page.locator(".status").getByText("Over").first().waitFor();
  await owner.reads(/In force: end /);
  await owner.heading("sale").waitFor();
  const stopped = (await call(arena.cluster, "GET", EVENTS)).result[0];
  assert.ok(new Date(stopped.event_end_time) < Date.now() + 2 * MINUTE_MS);
  // The button comes with the log. The page reads the log after the events.
  const back = page.getByRole("button", { name: /^Undo: back to end/ });
  await back.waitFor();
  const first = page.locator(".actions button").first();
  assert.equal(await first.innerText(), await back.innerText(), "its undo is not on top");
}

/** All of it with the event that is chosen; what is half written is there again. */
async function copiesRepeatsAndDeletes(owner, arena, later) {
  const { page } = owner;
  const events = async () => (await call(arena.cluster, "GET", EVENTS)).result;
  const named = async (name) => (await events()).find((event) => event.name === name);
  await owner.button("later").click();
  await owner.button("Repeat weekly").click();
  await page.getByLabel("For how many weeks").fill("0");
  await owner.button("Make them").click();
  await owner.reads("Must be a whole number from 1 to 52.");
  await page.getByLabel("For how many weeks").fill("2");
  await page.reload();
  await owner.reads(/^What you had written here is back\./);
  await owner.button("Make them").click();
  await owner.reads("Made: 2, like later.");
  const starts = (await events())
    .filter(({ name }) => name.startsWith("later"))
    .map(({ event_start_time: start }) => start.slice(0, "2026-01-01".length));
  const week = (weeks) => {
    const at = new Date(later.event_start_time);
    at.setDate(at.getDate() + 7 * weeks);
    return at.toISOString().slice(0, "2026-01-01".length);
  };
  assert.deepEqual(starts, [0, 1, 2].map(week));

  // A copy begins a week later; times of another event are refused in the owner's words.
  await owner.button("later").first().click();
  await owner.button("Duplicate").click();
  await page.getByLabel("Name", { exact: true }).fill("copy");
  await owner.button("Save").click();
  const overlap = page.locator("#field-event_end_time-problem");
  await overlap.getByText(/: later-[\d-]+ is on from/).waitFor();
  assert.doesNotMatch(await overlap.innerText(), /\d\dZ/, "a moment is told in UTC");
  const over = Date.now() - 3 * 24 * 60 * MINUTE_MS;
  await page.getByLabel("Event start", { exact: true }).fill(local(over));
  await page.getByLabel("Event end").fill(local(over + 60 * MINUTE_MS));
  await page.getByLabel("Queueing method").selectOption({ label: "Lottery" });
  await page.getByLabel("Sessions are renewed").selectOption("true");
  await owner.reads("It is over already: as it is, it changes nothing.");
  // Until the list has the new event, no button is about another one.
  await page.route(/\/events\?per_page/, async (route) => {
    await setTimeout(LIST_TAKES_MS);
    await route.continue();
  });
  await owner.button("Save").click();
  await owner.reads("Saved: copy. It is over already: as it is, it changes nothing.");
  const { queueing_method: method, disable_session_renewal: ends } = await named("copy");
  assert.deepEqual([method, ends], ["random", true]);
  await owner.button("Delete").click();
  await owner.button("Keep").click();
  await owner.button("Delete").click();
  await owner.button("Delete for ever").click();
  await owner.reads("Deleted: copy.");
  assert.equal(await named("copy"), undefined);
}

/** The times of an event of an hour that starts in so many minutes. */
function timesOf(minutes) {
  const at = (more) => new Date(Date.now() + (minutes + more) * MINUTE_MS).toISOString();
  return { event_start_time: at(0), event_end_time: at(60) };
}

const half = "a form that is back hides no event that is on, and says when its own is gone";
browserTest(half, options, async (arena) => {
  const began = new Date(Date.now() - 10 * MINUTE_MS).toISOString();
  const times = { prequeue_start_time: null, event_start_time: began };
  await makeSale(arena, { ...times, shuffle_at_event_start: false });
  const later = { name: "later", ...timesOf(300) };
  const { result } = await call(arena.cluster, "POST", EVENTS, later);
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "Events" }).click();
  await owner.button("later").click();
  await owner.button("Edit “later”").click();
  const description = owner.page.getByLabel("Description", { exact: true });
  await description.fill("half");
  assert.equal(await owner.button("Stop").count(), 0);
  await owner.page.reload();
  await owner.button("Stop").waitFor();
  assert.equal(await description.inputValue(), "half");
  await owner.button("Stop").click();
  await owner.reads(/In force: end /);
  await owner.heading("sale").waitFor();
  await owner.button("later").click();
  await owner.button("Edit “later”").click();
  assert.equal(await description.inputValue(), "half");
  await call(arena.cluster, "DELETE", `${EVENTS}/${result.id}`);
  await owner.reads("The event of the form that was open here is gone.");
  await owner.page.reload();
  await owner.heading("sale").waitFor();
  assert.equal(await owner.page.getByText("is gone").count(), 0);
  assert.deepEqual(owner.complaints, []);
});

browserTest("an event is stopped in its first minute", options, async (arena) => {
  const limits = { total_active_users: 5, new_users_per_minute: 5 };
  const owner = await signedIn(arena, DESKTOP);
  const began = new Date(Date.now() - MINUTE_MS / 12).toISOString();
  const times = { prequeue_start_time: null, event_start_time: began };
  await makeSale(arena, { ...times, ...limits, shuffle_at_event_start: false });
  await owner.open(shop);
  await owner.reads(/^0 \/ 5$/);
  await owner.page.getByRole("link", { name: "Events" }).click();
  await owner.button("Stop").click();
  await owner.reads(/: In force: end .*, disabled\./);
  await owner.page.getByRole("link", { name: "Now" }).click();
  await owner.reads(/^0 \/ 20$/);
  assert.ok(Date.now() < Date.parse(began) + MINUTE_MS, "its first minute is over");
});

browserTest("the checklist says what is missing", options, async (arena) => {
  await makeSale(arena, { prequeue_start_time: null, shuffle_at_event_start: false });
  const path = `${ROOMS}/${shop.id}`;
  await call(arena.cluster, "PATCH", path, { queue_all: true });
  const owner = await signedIn(arena, DESKTOP);
  const examined = Promise.withResolvers();
  await owner.page.route(DOCTOR, async (route) => {
    await examined.promise;
    await route.continue();
  });
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "Events" }).click();
  const line = (text) => owner.page.getByRole("listitem").filter({ hasText: text });
  await line("Page: there in 9 states").waitFor();
  // What comes later must not push a button away from under the pointer.
  const place = () => owner.button("Repeat weekly").boundingBox();
  const before = await place();
  examined.resolve();
  await line("Keys of tickets").waitFor();
  assert.deepEqual(await place(), before);
  await line("Nothing holds the room").getByText("Mend").waitFor();
  await line("Prequeue: none").getByText("Look").waitFor();
  await line("Visitors: are served").getByText("Ready").waitFor();
  await call(arena.cluster, "PATCH", path, { queue_all: false });
  await line("Nothing holds the room").getByText("Ready").waitFor();
});

browserTest("an event that holds everybody says so, and until when", options, async (arena) => {
  const began = new Date(Date.now() - MINUTE_MS).toISOString();
  const times = { prequeue_start_time: null, event_start_time: began };
  await makeSale(arena, { ...times, shuffle_at_event_start: false, queue_all: true });
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  await owner.reads(/^The event lets nobody in before /);
  const counted = Promise.withResolvers();
  await owner.page.route(LIVE, async (route) => {
    await counted.promise;
    await route.continue();
  });
  await owner.page.getByRole("link", { name: "Events" }).click();
  const line = owner.page.getByRole("listitem").filter({ hasText: "Nothing holds the room" });
  await line.getByText("Look").waitFor();
  // The first numbers must not push a button away from under the pointer.
  const place = () => owner.button("Edit “sale”").boundingBox();
  const before = await place();
  counted.resolve();
  await owner.reads("In line now: 0.");
  assert.deepEqual(await place(), before);
  await owner.button("Edit “sale”").click();
  assert.ok(await owner.page.getByLabel("Hold all").isChecked());
});

browserTest("the checklist looks for visitors and at the page", options, async (arena) => {
  await makeSale(arena, { prequeue_start_time: null, shuffle_at_event_start: false });
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  await owner.page.getByRole("link", { name: "Events" }).click();
  const line = (text) => owner.page.getByRole("listitem").filter({ hasText: text });
  await line("Route: nobody came in 24 h").getByText("Look").waitFor();
  await line("Page: there in 9 states").getByText("Ready").waitFor();
  await line("Requests left in the plan").getByText("Not known", { exact: true }).waitFor();
  const person = new Visitor(arena.cluster, { name: "person", host: shop.host });
  await person.visit();
  await arena.cluster.advance(COUNTED_MS);
  await line("Route: visitors are here now").getByText("Ready").waitFor();
  // A variable that is none stands on the page as nothing.
  const path = `${ROOMS}/${shop.id}`;
  const html = "<p>{{waitTimes}} {{waitTime}}</p>";
  await call(arena.cluster, "PATCH", path, { custom_page_html: html });
  await line("Page: there in 9 states").getByText(/waitTimes.*waitTime/).waitFor();
  const down = (route) => route.fulfill({ status: 503, body: "down" });
  await owner.page.route(/preview\/\w+\?queueing_method=reject/, down);
  await call(arena.cluster, "PATCH", path, { custom_page_html: "" });
  await line("Page: not there for: Reject").getByText("Mend").waitFor();
});

browserTest("a test visitor waits and is let in", options, async (arena) => {
  await makeSale(arena, { prequeue_start_time: null, shuffle_at_event_start: false });
  const path = `${ROOMS}/${shop.id}`;
  await call(arena.cluster, "PATCH", path, { queue_all: true });
  const owner = await signedIn(arena, DESKTOP);
  await owner.open(shop);
  await owner.reads("Hold all");
  await owner.page.getByRole("link", { name: "Events" }).click();
  await arena.cluster.advance(3_000);
  const state = (text) => owner.page.locator(".told").getByText(text).waitFor();
  // The next visit comes 3 s later and replaces these words.
  await Promise.all([
    state(/It has got its place in the line, and a cookie/),
    owner.button("Send a test visitor").click(),
  ]);
  await state(/^Cookie: __cfwaitingroom; .*HttpOnly/);
  await state(/Its cookie is known again\. It waits since/);
  assert.ok(await owner.button("Send a test visitor").isDisabled());
  await call(arena.cluster, "PATCH", path, { queue_all: false });
  await arena.cluster.advance(3_000);
  await state(/It waited .* and entered\./);
  await owner.button("Give its place back").click();
  await state("Its place is free again.");
  assert.deepEqual(await arena.cluster.arrivals(), [], "it reached the site");
  await owner.button("Send a test visitor").click();
  await state("It entered at once: a place was free.");
  // Whoever leaves the screen gives the place back.
  const left = owner.page.waitForResponse(async (response) => {
    const isVisit = response.url().includes("/test-visitor");
    return isVisit && (await response.json()).result.outcome === "left";
  });
  await owner.page.getByRole("link", { name: "Rules" }).click();
  await left;
  assert.deepEqual(owner.complaints, []);
});

browserTest("events are readable by everybody", options, async (arena) => {
  await makeSale(arena);
  for (const [device, context] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    const owner = await ownerOf(arena, context);
    await owner.signIn(SECRETS.API_TOKEN);
    await owner.open(shop);
    await owner.page.getByRole("link", { name: "Events" }).click();
    await owner.reads(/The room's limits are kept/);
    await owner.reads("Page: there in 9 states");
    await owner.looks(`events-${device}`);
    await owner.button("Edit “sale”").click();
    await owner.looks(`event-form-${device}`);
    assert.deepEqual(owner.complaints, []);
  }
});

/** Makes an event that is in its prequeue. */
async function makeSale(arena, fields) {
  const at = (minutes) => new Date(Date.now() + minutes * MINUTE_MS).toISOString();
  await call(arena.cluster, "POST", EVENTS, {
    name: "sale",
    prequeue_start_time: at(-2),
    event_start_time: at(20),
    event_end_time: at(80),
    shuffle_at_event_start: true,
    ...fields,
  });
}

/** Writes a moment as a field for a local time takes it. */
function local(ms) {
  const offset = new Date(ms).getTimezoneOffset() * MINUTE_MS;
  return new Date(ms - offset).toISOString().slice(0, 16);
}
