/**
 * What the cockpit does with an event, without a browser: its buttons, its checklist, and the same
 * each week.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { undoable } from "../../cockpit/changes.js";
import { weeksLater } from "../../cockpit/event_fields.js";
import { makeWeekly, missingWeeks } from "../../cockpit/event_weeks.js";
import { checklist, eventActions } from "../../cockpit/event_facts.js";
import { moment } from "../../cockpit/facts.js";
import { whoLosesBy, whoLosesByAll, whoLosesByChange } from "../../cockpit/rejected.js";

// In this zone the clocks change, and this test speaks of when they do.
process.env.TZ = "Europe/Berlin";

const room = {
  id: "r",
  zone_id: "z",
  total_active_users: 20,
  new_users_per_minute: 10,
  queueing_method: "fifo",
  session_duration: 5,
  disable_session_renewal: false,
  turnstile_mode: "invisible",
  queue_all: false,
  maintenance: "off",
  suspended: false,
};
const START = Date.parse("2026-11-23T10:00:00Z");
const iso = (ms) => new Date(ms).toISOString();
const event = {
  id: "e",
  name: "sale",
  event_start_time: iso(START),
  event_end_time: iso(START + 3_600_000),
  prequeue_start_time: null,
  queue_all: false,
  suspended: false,
};

test("an event is stopped in its first minute too, and all of that is undone", () => {
  const stop = (afterMs) =>
    eventActions(room, event, undefined, START + afterMs).find(({ id }) => id === "stop").patch;
  assert.deepEqual(stop(60_000), { event_end_time: iso(START + 60_000) });
  assert.deepEqual(stop(90_500), { event_end_time: iso(START + 90_500) });
  const early = stop(20_000);
  assert.deepEqual(early, { event_end_time: iso(START + 60_000), suspended: true });

  const before = { event_end_time: event.event_end_time, suspended: false };
  const target = "zones/z/waiting_rooms/r/events/e";
  const entry = { version: 1, at: iso(START), actor: "owner", target, before, after: early };
  const [undo] = undoable({ room, event: { ...event, ...early }, log: [entry] });
  assert.deepEqual(undo.patch, before);
});

test("the end of an event says who loses the place by the room's own method", () => {
  const started = { now: START + 90_000 };
  const check = (id, { now = START - 60_000, ...ofRoom }, [sentence, disturbs], held_by) => {
    const numbers = { estimated_queued_users: 804, held_by };
    const one = { ...event, prequeue_start_time: iso(START - 300_000) };
    const button = eventActions({ ...room, ...ofRoom }, one, numbers, now).find(
      (action) => action.id === id,
    );
    assert.match(button.sentence, sentence);
    assert.equal(button.disturbs, disturbs);
  };
  const rejects = { queueing_method: "reject" };
  const keep = [/Nobody is put out\. Those in line keep their places\.$/, false];
  const lose = [/lets nobody new in\. About 804 in line lose their places, unless /, true];
  check("stop", started, keep);
  check("stop", { ...started, ...rejects }, lose);
  check("stop", { ...started, ...rejects, queue_all: true }, [/When the hold ends, whoever/, true]);
  check("stop", { ...started, ...rejects }, [/lets nobody new in\.$/, false], "reject");
  check("off", {}, [/Those in its prequeue enter by the room's own limits\.$/, false]);
  check("off", rejects, lose, "prequeue");
  check("off", { ...rejects, now: START - 600_000 }, [/ at its times nothing changes\.$/, false]);
});

test("an event that lets nobody new in says who loses the place, and when", () => {
  const check = (fields, want, ofRoom, numbers = { estimated_queued_users: 804, held_by: "" }) => {
    const saved = { ...event, queueing_method: "reject", ...fields };
    const facts = { room: { ...room, ...ofRoom }, numbers, now: START + 60_000 };
    assert.match(whoLosesBy(saved, facts), want);
  };
  check({}, /^About 804 in line lose their places, unless /);
  const whenHeld = /^When the hold ends, whoever waits loses/;
  check({}, whenHeld, { queue_all: true }, { held_by: "queue_all" });
  check({}, /^$/, {}, { held_by: "reject" });
  const later = { event_start_time: iso(START + 120_000) };
  check(later, /^When the event “sale” starts, whoever waits loses the place, unless /);
  check({ event_end_time: iso(START + 60_000) }, /^$/);
  check({ suspended: true }, /^$/);
  check({}, /^$/, { suspended: true });
  check({ queueing_method: "fifo" }, /^$/);
  // The room's method counts in an event without its own, and none before a hold ends.
  check({ queueing_method: null }, /^About 804 in line lose/, { queueing_method: "reject" });
  check({ queueing_method: null }, /^$/);
  check({ queue_all: true }, /^$/);
});

test("an event that lets nobody new in is started and enabled by a question", () => {
  const closed = { ...event, queueing_method: "reject" };
  const check = (id, fields, [sentence, disturbs], held_by = "") => {
    const facts = [{ estimated_queued_users: 804, held_by }, START - 60_000];
    const button = eventActions(room, { ...closed, ...fields }, ...facts).find(
      (action) => action.id === id,
    );
    assert.match(button.sentence, sentence);
    assert.equal(button.disturbs, disturbs);
  };
  const lost = /within 5 s: its method lets nobody new in\. About 804 in line lose their places, /;
  check("start", {}, [lost, true]);
  const prequeued = { prequeue_start_time: iso(START - 600_000), shuffle_at_event_start: true };
  check("start", prequeued, [lost, true], "prequeue");
  check("start", {}, [/its method lets nobody new in\.$/, false], "reject");
  const opens = [/and visitors enter, within 5 s\. About 804 in line enter first\.$/, false];
  check("start", { queueing_method: null }, opens);

  const off = { suspended: true };
  check("on", off, [/within 5 s\. When the event “sale” starts, whoever waits loses/, true]);
  const begun = { ...off, event_start_time: iso(START - 120_000) };
  check("on", begun, [/within 5 s\. About 804 in line lose their places, /, true]);
  check("on", { ...begun, queueing_method: "fifo" }, [/if that is past, within 5 s\.$/, false]);
});

test("an event that is started in a hold is not told to let anybody in", () => {
  const check = (ofRoom, ofEvent, want) => {
    const facts = [{ estimated_queued_users: 804 }, START - 60_000];
    const [start] = eventActions({ ...room, ...ofRoom }, { ...event, ...ofEvent }, ...facts);
    assert.deepEqual([start.id, start.sentence, start.disturbs], ["start", want, false]);
  };
  const limits = "The event's limits count within 5 s.";
  const held = "Nobody enters while you hold the room.";
  const after = "About 804 in line enter first, once the hold ends.";
  check({ queue_all: true }, {}, `${limits} ${held} ${after}`);
  check({ maintenance: "drain" }, {}, `${limits} ${held} ${after}`);
  const until = `The event lets nobody in before ${moment(event.event_end_time)}.`;
  check({}, { queue_all: true }, `${limits} ${until} ${after}`);
  const drawn = { prequeue_start_time: iso(START - 600_000), shuffle_at_event_start: true };
  const anew = "The draw is made anew: a commitment that you have published counts no more.";
  check({ queue_all: true }, drawn, `${limits} ${held} ${after} ${anew}`);
  const disabled = "The room is disabled: everybody passes, and no event changes that.";
  check({ suspended: true }, { queueing_method: "reject" }, disabled);
});

test("a change of an event says who loses the place where it does not already", () => {
  const closed = { ...event, queueing_method: "reject" };
  const check = (one, patch, want, held_by = "") => {
    const numbers = { estimated_queued_users: 804, held_by };
    const facts = { room, numbers, now: START - 60_000 };
    assert.match(whoLosesByChange(one, patch, facts), want);
  };
  const soon = { event_start_time: iso(START - 120_000) };
  check(closed, soon, /^About 804 in line lose/);
  check(event, { queueing_method: "reject" }, /^When the event “sale” starts/);
  check({ ...closed, suspended: true }, { suspended: false }, /^When the event “sale” starts/);
  check(undefined, closed, /^When the event “sale” starts/);
  check(closed, { event_start_time: iso(START + 120_000) }, /^$/);
  check(closed, { name: "other" }, /^$/);
  check({ ...closed, ...soon }, { description: "late" }, /^$/, "reject");
});

test("an event that lets nobody new in is repeated by a question", () => {
  const check = (weeks, present, fields, want, now = START) => {
    const closed = { ...event, queueing_method: "reject", ...fields };
    const numbers = { estimated_queued_users: 804, held_by: "" };
    const missing = missingWeeks(closed, weeks, present);
    assert.match(whoLosesByAll(missing, { room, numbers, now }), want);
  };
  const all = /^When one of these 4 events starts, whoever waits loses the place, unless /;
  check(4, [], {}, all);
  const one = /^When the event “sale-2026-11-30” starts, whoever waits loses the place, unless /;
  check(1, [], {}, one);
  check(2, [weeksLater(event, 2)], {}, one);
  check(1, [weeksLater(event, 1)], {}, /^$/);
  check(4, [], { queueing_method: null }, /^$/);
  // The first is over, and the next is on at once.
  const late = START + 14 * 86_400_000 + 60_000;
  check(2, [], {}, /^About 804 in line lose .* by then\.$/, late);
  check(3, [], {}, /^About 804 .* When the event “sale-2026-12-14” starts, whoever waits /, late);
});

test("whether the method lets nobody in is asked of the event first", () => {
  const check = (ofRoom, ofEvent, told) => {
    const one = { ...room, queueing_method: ofRoom };
    const facts = { room: one, event: { ...event, queueing_method: ofEvent }, isScoped: true };
    const line = checklist({ ...facts, now: START }).find(({ what }) => /holds/.test(what));
    assert.equal(line.told, told);
  };
  check("fifo", null, "open");
  check("reject", null, "method reject");
  check("fifo", "reject", "method reject");
  check("reject", "fifo", "open");
});

test("a checklist says whether those inside stay when the prequeue begins", () => {
  const prequeued = (minutes) => ({ prequeue_start_time: iso(START - minutes * 60_000) });
  const early = START - 60 * 60_000;
  const lineOf = (ofEvent, { now = early, inside, ...ofRoom } = {}) => {
    const facts = { room: { ...room, ...ofRoom }, event: { ...event, ...ofEvent }, isScoped: true };
    const numbers = { estimated_total_active_users: inside };
    return checklist({ ...facts, now, numbers }).find(({ what }) => /^Inside/.test(what));
  };
  const check = (line, told, verdict, remedy) => {
    assert.deepEqual([line.told, line.verdict], [told, verdict]);
    assert.match(line.remedy, remedy);
  };
  const stay = "they stay, in up to 20 places";
  check(lineOf(prequeued(30)), stay, "look", /Drain in the prequeue, more than 5 min before/);
  const longer = { ...prequeued(30), session_duration: 9 };
  check(lineOf(longer), stay, "look", /more than 9 min before the start, and Open/);
  const ends = { disable_session_renewal: true };
  check(lineOf({ ...prequeued(5), ...ends }), stay, "look", /more than 5 min/);
  const out = "they are out at the start";
  check(lineOf({ ...prequeued(6), ...ends }), out, "ok", /buyers are out too, 5 min after/);
  check(lineOf({ ...longer, ...ends }), out, "ok", /buyers are out too, 9 min after/);
  check(lineOf(prequeued(30), ends), out, "ok", /buyers/);
  check(lineOf({ ...prequeued(30), disable_session_renewal: false }, ends), stay, "look", /Drain/);
  const drains = { maintenance: "drain" };
  check(lineOf(prequeued(30), drains), "they leave: the room drains", "ok", /^$/);
  const late = { now: START - 5 * 60_000 };
  check(lineOf(prequeued(30), { ...drains, ...late }), stay, "look", /too late to empty the room/);
  check(lineOf(prequeued(30), { ...late, inside: 0 }), "nobody is inside", "ok", /^$/);
  check(lineOf(prequeued(30), { inside: 0 }), stay, "look", /Drain/);
  assert.equal(lineOf({}), undefined, "there is no prequeue");
  assert.equal(lineOf(prequeued(30), { now: START }), undefined, "it has started");
});

test("a checklist says that a challenge without Turnstile's keys checks nobody", () => {
  const lineOf = (ofEvent, siteKey, secret) => {
    const examined = {
      variables: { turnstile_site_key: siteKey },
      secrets: { ticket_keys: [{ characters: 64, distinct: 16 }], turnstile_secret: secret },
      known: { notes: [] },
      objects: [],
    };
    const facts = { room, event: { ...event, ...ofEvent }, examined, now: START };
    return checklist(facts).find(({ what }) => what === "Bots");
  };
  const secret = { characters: 35, distinct: 20 };
  const told = (...of) => [lineOf(...of).told, lineOf(...of).verdict];
  assert.deepEqual(told({}, "", secret), ["nobody is checked", "look"]);
  assert.deepEqual(told({}, "0x4AAA", null), ["nobody is checked", "look"]);
  assert.deepEqual(told({}, "0x4AAA", secret), ["Turnstile: Invisible", "ok"]);
  const managed = { turnstile_mode: "visible_managed" };
  const [words] = told(managed, "0x4AAA", secret);
  assert.equal(words, "Turnstile: Visible, asks when in doubt");
  assert.equal(lineOf({ turnstile_mode: "off" }, "", null), undefined);
});

test("a week later an event starts at the same time of day and is as long", () => {
  const spring = {
    name: "night",
    event_start_time: "2027-03-21T01:30:00.000Z",
    event_end_time: "2027-03-21T02:15:00.000Z",
    prequeue_start_time: "2027-03-21T01:00:00.000Z",
  };
  // 2:30 is not there on that Sunday: it is 3:30.
  const { prequeue_start_time, event_start_time, event_end_time } = weeksLater(spring, 1);
  const times = [prequeue_start_time, event_start_time, event_end_time];
  const want = ["T01:00:00.000Z", "T01:30:00.000Z", "T02:15:00.000Z"];
  assert.deepEqual(times, want.map((time) => `2027-03-28${time}`));
  assert.equal(weeksLater(spring, 2).event_start_time, "2027-04-04T00:30:00.000Z");
  // An event that was stopped in its first minute is skipped; those after it are not.
  assert.equal(weeksLater({ ...spring, suspended: true }, 1).suspended, false);
});

test("a week that is there is made once, also after a lost answer", async () => {
  const { call, events, failures } = eventsOf();
  const make = (weeks) => makeWeekly(call, room, event, weeks);
  failures.push(undefined, { isMade: true, status: 0, message: "No answer." });
  assert.equal(await make(3), "Made: 3, like sale.");
  assert.equal(new Set(events.map(({ name }) => name)).size, 3);
  failures.push({ status: 0, message: "No answer." });
  await assert.rejects(make(5), {
    message: "3 of 5 are there. sale-2026-12-21 was not made: No answer.",
  });
  assert.equal(await make(4), "Made: 1, like sale; 3 were there already.");
  events[1].event_end_time = iso(START);
  failures.push({ status: 400, message: "It overlaps." });
  await assert.rejects(make(5), {
    message: "4 of 5 are there. sale-2026-12-07 was not made: It overlaps.",
  });
  assert.equal(events.length, 5);
});

/** An API that has events, and fails as it is told: one after the other. */
function eventsOf() {
  const [events, failures] = [[], []];
  const call = async (method, _, body) => {
    if (method === "GET") return events.map((one) => ({ ...one }));
    const failure = failures.shift();
    if (!failure || failure.isMade) events.push({ ...body });
    if (failure) throw Object.assign(new Error(failure.message), failure);
    return body;
  };
  return { call, events, failures };
}
