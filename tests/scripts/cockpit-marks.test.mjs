/**
 * What the cockpit's history says was done to a room and its events, also to those that are gone.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { marksOf } from "../../cockpit/marks.js";

const room = { id: "r", zone_id: "z" };
const PATH = "zones/z/waiting_rooms/r";
const TEN = Date.parse("2026-11-23T10:00:00Z");
const MINUTE_MS = 60_000;
const at = (minutes) => new Date(TEN + minutes * MINUTE_MS).toISOString();
const sale = { name: "sale", event_start_time: at(0), event_end_time: at(60) };

test("what was changed at an event is told, also of one that is gone", () => {
  const entry = (minutes, rest, before, after) => ({
    at: at(minutes),
    actor: "anna",
    target: PATH + rest,
    before,
    after,
  });
  const check = (log, events, ...want) => {
    const marks = marksOf({ room, log: log.reverse(), events, from: TEN, until: Date.now() });
    const told = marks.map((mark) => `${(mark.at - TEN) / MINUTE_MS} ${mark.text}`);
    assert.deepEqual(told, want);
  };
  const limit = entry(5, "/events/e", { total_active_users: 50 }, { total_active_users: 40 });
  const held = entry(6, "/events/e", { queue_all: false }, { queue_all: true });
  const words = entry(7, "/events/e", { description: "a" }, { description: "b" });
  const told = ["5 sale: total active users 40, by anna", "6 sale: Hold all, by anna"];
  const of = (what, event) => `the ${what} of ${event}`;
  const event = { id: "e", ...sale };
  const times = [`0 ${of("start", "sale")}`, ...told, `60 ${of("end", "sale")}`];
  check([limit, held, words], [event], ...times);
  // What is about another room, or was only made, is no mark.
  const other = { ...limit, target: "zones/z/waiting_rooms/r2/events/e" };
  check([other, entry(8, "/events/e", null, sale)], []);
  check([entry(9, "", { queue_all: false }, { queue_all: true })], [], "9 Hold all, by anna");
  const gone = entry(10, "/events/e", sale, null);
  check([limit, held, gone], [], times[0], ...told, "10 sale: deleted, by anna");
  check([limit], [], "5 an event: total active users 40, by anna");
  const earlier = entry(3, "/events/e", { event_end_time: at(60) }, { event_end_time: at(4) });
  const [, text] = marksOf({ room, log: [earlier], events: [event], from: TEN, until: TEN + 1e7 });
  assert.match(text.text, /^sale: end .*, by anna$/);
});
