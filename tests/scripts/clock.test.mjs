/** When a served folder's clock was set back so far that workerd must be started again. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { clockNews } from "../../scripts/serve/clock.mjs";

const HOUR_MS = 3_600_000;
const BEGAN_MS = 1_800_000_000_000;

/** Looks each second, while the date is set by these amounts; tells the seconds it was set back. */
function heard(changesMs) {
  let [before, dateMs] = [undefined, BEGAN_MS];
  return changesMs.map((changeMs, second) => {
    dateMs += 1_000 + changeMs;
    const news = clockNews(before, { dateMs, steadyMs: second * 1_000 });
    before = news.leadMs;
    return Math.round(news.setBackMs / 1_000);
  });
}

test("a clock that is set back is noticed once", () => {
  assert.deepEqual(heard([0, 0, -3 * HOUR_MS, 0, 0]), [0, 0, 3 * 3_600, 0, 0]);
  assert.deepEqual(heard([0, -5_001, 0]), [0, 5, 0]);
  assert.deepEqual(heard([0, -5_000, 0]), [0, 0, 0]);
});

test("small steps back count together, and a slow drift does not", () => {
  assert.deepEqual(heard([0, -3_000, 0, -3_000, 0, -3_000, -3_000]), [0, 0, 0, 6, 0, 0, 6]);
  const day = new Array(86_400).fill(-0.5);
  assert.ok(heard(day).every((setBack) => setBack === 0));
});

test("a clock that is set forward needs nothing until it goes back again", () => {
  assert.deepEqual(heard([0, HOUR_MS, 0, 0]), [0, 0, 0, 0]);
  assert.deepEqual(heard([0, HOUR_MS, 0, -HOUR_MS]), [0, 0, 0, 3_600]);
  // A process that was stopped for long looks late; both clocks went on.
  const first = clockNews(undefined, { dateMs: BEGAN_MS, steadyMs: 0 });
  const late = { dateMs: BEGAN_MS + HOUR_MS, steadyMs: HOUR_MS };
  assert.deepEqual(clockNews(first.leadMs, late), { leadMs: BEGAN_MS, setBackMs: 0 });
});
