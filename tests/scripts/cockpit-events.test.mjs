/**
 * What the cockpit does with an event, without a browser: its buttons, its checklist, and the same
 * each week.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { undoable } from "../../cockpit/changes.js";
import { checklist, eventActions } from "../../cockpit/event_facts.js";

const room = {
  id: "r",
  zone_id: "z",
  total_active_users: 20,
  new_users_per_minute: 10,
  queueing_method: "fifo",
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
