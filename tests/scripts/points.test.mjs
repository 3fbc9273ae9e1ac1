/**
 * Raw points for Analytics Engine: how often one is written, and that nothing is lost meanwhile.
 */

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { takes_points, write_point } from "../../src/points.js";

test("a room writes a point in 10 s, and no invocation more than it may", () => {
  mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
  const points = [];
  const env = { ANALYTICS: { writeDataPoint: (point) => points.push(point) } };
  const sum = (place) => points.reduce((total, { doubles }) => total + doubles[place], 0);
  write_point(env, [0, 0], "r", "shop", "AMS");
  assert.deepEqual(points, [], "nothing to tell");
  for (let second = 0; second < 100; second += 1) {
    write_point(env, Uint32Array.of(1, 3), "r", "shop", "AMS");
    mock.timers.tick(1_000);
  }
  assert.deepEqual(points[0], { indexes: ["r"], blobs: ["shop", "AMS"], doubles: [1, 3] });
  assert.deepEqual([points.length, sum(0), sum(1)], [10, 91, 273]);
  write_point(env, [0, 0], "r", "shop", "AMS");
  assert.deepEqual([sum(0), sum(1)], [100, 300], "what was kept is told later");

  mock.timers.tick(60_000);
  points.length = 0;
  for (let room = 0; room < 400; room += 1) write_point(env, [1], `r${room}`, "shop", "AMS");
  assert.equal(points.length, 240);
  mock.timers.tick(30_000);
  for (let room = 0; room < 400; room += 1) write_point(env, [0], `r${room}`, "", "AMS");
  assert.deepEqual([points.length, sum(0)], [400, 400]);
  mock.timers.reset();
});

test("a dataset that fails, or is not there, disturbs nobody", () => {
  mock.method(console, "error", () => {});
  const fails = () => {
    throw new Error("too many points");
  };
  write_point({ ANALYTICS: { writeDataPoint: fails } }, [1], "f", "shop", "AMS");
  assert.equal(console.error.mock.callCount(), 1);
  mock.restoreAll();
  assert.deepEqual([takes_points({}), takes_points({ ANALYTICS: {} })], [false, true]);
});
