/**
 * Raw points for Analytics Engine: what a report adds to them, how often one is written, and that
 * nothing of a visitor is in them.
 */

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { countsOf, pointOf, takes_points, write_point } from "../../src/points.js";

const ROOM = { room: "r", name: "shop", colo: "AMS" };
const VISITOR = 7_777_777;
const admitted = (more) => ({
  admitted: { visitor: VISITOR, bucket: 9, second: 5, class: "new", grant: null, ...more },
});
const EVENTS = [
  admitted({}),
  admitted({ waited_s: 90, told_s: 60 }),
  admitted({ waited_s: 30 }),
  { present: { key: 1, from: 2, until: 3, check_in: VISITOR, joined: true } },
  { present: { key: 1, from: 3, until: 4, check_in: VISITOR, joined: false } },
  { revoked: { visitor: VISITOR, from: 9 } },
  { moved: { visitor: VISITOR, from: 9, to: 10 } },
];
const MINUTE = 29_000_000 * 256;
const counted = {
  number: 1,
  facts: { [MINUTE + 4]: 5, [MINUTE + 5]: 3, [MINUTE + 6]: 2, [MINUTE + 7]: 11, [MINUTE + 9]: 1 },
};
const report = (events) => JSON.stringify({ v: 1, m: { isolate: 1, first: 1, events } });

test("a point says what a report says, and nothing of a visitor", () => {
  const point = pointOf(countsOf({ events: EVENTS, counted }), ROOM);
  assert.deepEqual(point, {
    indexes: ["r"],
    blobs: ["shop", "AMS"],
    doubles: [1, 2, 1, 1, 120, 5, 3, 2, 11, 1],
  });
  assert.ok(!JSON.stringify(point).includes(VISITOR));
});

test("a room writes a point in 10 s, and no invocation more than it may", () => {
  mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
  const points = [];
  const env = { ANALYTICS: { writeDataPoint: (point) => points.push(point) } };
  const entered = () => points.reduce((total, { doubles: [sum] }) => total + sum, 0);
  write_point(env, report([]), "r", "shop", "AMS");
  assert.deepEqual(points, [], "nothing to tell");
  for (let second = 0; second < 100; second += 1) {
    write_point(env, report([admitted({})]), "r", "shop", "AMS");
    mock.timers.tick(1_000);
  }
  assert.deepEqual([points.length, entered()], [10, 91]);
  write_point(env, report([]), "r", "shop", "AMS");
  assert.equal(entered(), 100, "what was kept is told later");

  mock.timers.tick(60_000);
  points.length = 0;
  for (let room = 0; room < 400; room += 1) {
    write_point(env, report([admitted({})]), `r${room}`, "shop", "AMS");
  }
  assert.equal(points.length, 240);
  mock.timers.tick(30_000);
  for (let room = 0; room < 400; room += 1) write_point(env, report([]), `r${room}`, "", "AMS");
  assert.deepEqual([points.length, entered()], [400, 400]);
  mock.timers.reset();
});

test("a dataset that fails, or is not there, disturbs nobody", () => {
  mock.method(console, "error", () => {});
  const fails = () => {
    throw new Error("too many points");
  };
  write_point({ ANALYTICS: { writeDataPoint: fails } }, report([admitted({})]), "f", "shop", "AMS");
  write_point({ ANALYTICS: { writeDataPoint: fails } }, "no report", "f", "shop", "AMS");
  assert.equal(console.error.mock.callCount(), 2);
  mock.restoreAll();
  assert.deepEqual([takes_points({}), takes_points({ ANALYTICS: {} })], [false, true]);
});
