/** The formula of the bill, against sums done by hand and the platform's own examples. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { MONTH_S, bill, monthOf, neverAsleep } from "../../bench/bill/formula.mjs";

const NOTHING = { requests: 0, calls: 0, awakeS: 0, rows: 0 };

check("nothing", {}, { time: 0, calls: 0, requests: 0, logs: 0, total: 5 });
check(
  "what the plan includes",
  { requests: 10e6, calls: 1e6, awakeS: 0.4e6 / 0.128, rows: 50e6 },
  { time: 0, calls: 0, requests: 0, logs: 0, total: 5 },
);
// 5 million calls beyond the first, and nothing else.
check("calls", { calls: 6e6 }, { calls: 0.75, total: 5.75 });
check("rows", { rows: 53e6 }, { calls: 3, total: 8 });
// 30 million beyond the first 10 at 0.30, and 10 million ms beyond the first 30 at 0.02.
check("requests", { requests: 40e6 }, { requests: 9.2, logs: 12, total: 14.2 });
// An example of the price page: 100 objects, awake a second a minute.
check("an example", { awakeS: 100 * 60 * 24 * 30 }, { time: 1.91, total: 6.91 });

test("as first built, a room in 30 busy data centers: 61 objects that never sleep", () => {
  assert.equal(neverAsleep(61).toFixed(0), "248");
  assert.equal(neverAsleep(0), 0);
});

test("a month is 30 days of what was measured", () => {
  const used = { requests: 2, calls: 3, awakeS: 60, rows: 0 };
  const want = { requests: 86_400, calls: 129_600, awakeS: MONTH_S, rows: 0 };
  assert.deepEqual(monthOf(used, 60), want);
});

function check(name, used, want) {
  test(`the bill of ${name}`, () => {
    const got = bill({ ...NOTHING, ...used });
    for (const [part, usd] of Object.entries(want)) {
      assert.ok(Math.abs(got[part] - usd) < 0.005, `${part}: ${got[part]}, not ${usd}`);
    }
  });
}
