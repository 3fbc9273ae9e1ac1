/**
 * What the cockpit's screen *Rehearse* makes of its form: the plan of a room or an event, what it
 * refuses before a thread is asked, and where it shows what the simulator refuses.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

import {
  INITIAL,
  PLAYED_MAX,
  fieldsOf,
  limitsSentence,
  planOf,
  problemsIn,
  problemsOf,
  tooManyOf,
} from "../../cockpit/rehearse_fields.js";

const ROOT = `${import.meta.dirname}/../..`;
const { schemas } = JSON.parse(fs.readFileSync(`${ROOT}/src/openapi.json.txt`, "utf8")).components;

const room = {
  id: "0123",
  name: "shop",
  total_active_users: 200,
  new_users_per_minute: 50,
  session_duration: 5,
  queueing_method: "fifo",
  page_message: "of no use to a plan",
};
const opening = {
  id: "e1",
  name: "the opening",
  prequeue_start_time: new Date(2026, 10, 27, 9, 30).toISOString(),
  event_start_time: new Date(2026, 10, 27, 10).toISOString(),
  event_end_time: new Date(2026, 10, 27, 12).toISOString(),
  total_active_users: 400,
  new_users_per_minute: 100,
  session_duration: null,
  shuffle_at_event_start: true,
};
const form = {
  event: "",
  visitors: 2_000,
  preset: "flash_sale",
  minutes: 4,
  prequeue_minutes: null,
  begins_at: null,
  find: null,
  seed: null,
  stock: null,
};

test("a plan is that of the room, with what the form says", () => {
  const plan = planOf(room, [opening], form);
  assert.deepEqual(plan, {
    title: "shop",
    room: {
      total_active_users: 200,
      new_users_per_minute: 50,
      session_duration: 5,
      queueing_method: "fifo",
    },
    visitors: 2_000,
    arrivals: { preset: "flash_sale" },
    on_site: { minutes: 4 },
  });
});

test("an event brings its limits, its prequeue and its time, unless the form says them", () => {
  const plan = planOf(room, [opening], { ...form, event: "e1" });
  const { total_active_users: inside, session_duration: minutes } = plan.room;
  assert.deepEqual([inside, minutes, plan.prequeue_minutes], [400, 5, 30]);
  assert.deepEqual([plan.begins_at, plan.shuffle_at_event_start], ["09:30", true]);
  const said = { ...form, event: "e1", prequeue_minutes: 10, begins_at: "08:00" };
  const other = planOf(room, [opening], said);
  assert.deepEqual([other.prequeue_minutes, other.begins_at], [10, "08:00"]);
  const words = (values) => limitsSentence(room, [opening], values);
  const more =
    "Beside them: 1.5 and 2 times as much, if no more than 100,000 visitors are played.";
  const ofRoom = `Limits: 50 a minute and 200 inside, as the room has them. ${more}`;
  assert.equal(words(INITIAL), ofRoom);
  assert.match(words({ ...INITIAL, event: "e1" }), /^Limits: 100 .*, as the event has them\./);
});

test("an event sets anew all that the API lets it set of what a rehearsal needs of a room", () => {
  const all = (schema, value) =>
    Object.fromEntries(Object.keys(schemas[schema].properties).map((name) => [name, value]));
  const ofRoom = all("RoomInput", "of the room");
  const { event_start_time, prequeue_start_time, id } = opening;
  const times = { event_start_time, prequeue_start_time, id };
  const event = { ...all("EventInput", "of the event"), ...times };
  const { room: played } = planOf(ofRoom, [event], { ...form, event: id });
  const expected = ([name]) => [name, name in event ? "of the event" : "of the room"];
  assert.deepEqual(played, Object.fromEntries(Object.entries(played).map(expected)));
  assert.equal(played.queue_all, "of the event", "the simulator refuses what lets nobody in");
  assert.ok(!("queue_all" in planOf(ofRoom, [], form).room));
});

test("events that are over are not offered", () => {
  const offered = (now) => fieldsOf([opening], now)[0].options.map(({ value }) => value);
  assert.deepEqual(offered(Date.parse(opening.event_start_time)), ["", "e1"]);
  assert.deepEqual(offered(Date.parse(opening.event_end_time)), [""]);
});

test("what is too much for a browser is refused with the command that does it", () => {
  const where = { origin: "https://admin.example", room, event: opening };
  const plan = planOf(room, [opening], { ...form, event: "e1", visitors: PLAYED_MAX + 1 });
  const [{ field, message }] = tooManyOf(plan, where);
  assert.equal(field, "visitors");
  assert.equal(
    message,
    "Over 200,000 would be played, which is too much for a browser. " +
      "npm run rehearse -- --url https://admin.example --room shop --event e1 " +
      "--visitors 200001 --preset flash-sale --minutes-on-site 4 --prequeue-minutes 30 " +
      "--begins-at 09:30 plays more, in the folder that the Worker was deployed from.",
  );
});

test("what is missing or no whole number is refused before anything is loaded", () => {
  assert.deepEqual(problemsOf(planOf(room, [], form)), []);
  const fields = (values) => problemsOf(planOf(room, [], values)).map((one) => one.field);
  assert.deepEqual(fields({ ...form, visitors: undefined }), ["visitors"]);
  assert.deepEqual(fields({ ...form, prequeue_minutes: 1.5 }), ["prequeue_minutes"]);
  assert.deepEqual(fields({ ...form, seed: 1.5 }), ["seed"]);
  const found = (find) => problemsOf(planOf(room, [], form), find);
  assert.deepEqual(found(20), []);
  for (const find of [0, -1, 1.5]) assert.deepEqual(found(find).map((one) => one.field), ["find"]);
});

test("a search and another day are in the command, and only the day is in the plan", () => {
  const where = { origin: "https://admin.example", room, find: 20 };
  const asked = { ...form, visitors: PLAYED_MAX + 1, find: 20, seed: 7 };
  const plan = planOf(room, [], asked);
  assert.equal(plan.seed, 7);
  assert.ok(!("find" in plan));
  assert.match(tooManyOf(plan, where)[0].message, / --find 20 --seed 7 plays more/);
});

test("a stock is in the plan and in the command", () => {
  const plan = planOf(room, [], { ...form, visitors: PLAYED_MAX + 1, stock: 5_000 });
  assert.equal(plan.stock, 5_000);
  const [{ message }] = tooManyOf(plan, { origin: "https://admin.example", room });
  assert.match(message, / --minutes-on-site 4 --stock 5000 plays more/);
});

test("what the simulator refuses stands at the fields of the form", () => {
  const lines = [
    "stock: must be a whole number from 1",
    "on_site.minutes: must be from 0.1 to 600",
    "prequeue_minutes: must be at most 4,320",
    "room: lets nobody in",
  ];
  assert.deepEqual(problemsIn({ message: lines.join("\n") }), [
    { field: "stock", message: "must be a whole number from 1" },
    { field: "minutes", message: "must be from 0.1 to 600" },
    { field: "prequeue_minutes", message: "must be at most 4,320" },
    { field: "", message: "room: lets nobody in" },
  ]);
});
