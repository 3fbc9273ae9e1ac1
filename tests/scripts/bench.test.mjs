/** What the benchmark makes of its samples: figures with intervals, and gates that bear noise. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { linesOf } from "../../bench/own/report.mjs";
import { joined } from "../../bench/rounds.mjs";
import { table, verdicts } from "../../bench/report.mjs";
import { REFERENCE } from "../../bench/variants.mjs";
import { ratioOf } from "../harness/statistics.mjs";

/** Numbers around 1 that differ by up to `part` and are the same in every run. */
function around(count, part) {
  return Array.from({ length: count }, (_, at) => 1 + part * Math.sin(at * 2.399));
}

/** Cycles in which a variant takes `ratio` of the reference's time, give or take `part`. */
function cycles(name, ratio, part) {
  const noise = around(100, part);
  return new Map([
    [REFERENCE, noise.map(() => ({ cpuUs: 200 }))],
    [name, noise.map((one) => ({ cpuUs: 200 * ratio * one }))],
  ]);
}

test("a ratio and its inverse say the same, and lie in their intervals", () => {
  const ratios = around(100, 0.3).map((one) => 1.2 * one);
  const there = ratioOf(ratios);
  const back = ratioOf(ratios.map((one) => 1 / one));
  assert.ok(Math.abs(there.middle * back.middle - 1) < 1e-9);
  assert.ok(there.low < there.middle && there.middle < there.high);
  assert.ok(there.low > 1.05 && there.high < 1.35, JSON.stringify(there));
});

test("a few slices in which the machine did something else change nothing", () => {
  const ratios = around(100, 0.1);
  const disturbed = ratios.map((one, at) => (at % 10 === 0 ? one * 9 : one));
  assert.ok(ratioOf(disturbed).middle / ratioOf(ratios).middle < 1.03);
});

test("a gate breaks only where the whole interval is beyond it", () => {
  const held = (name, ratio, part) => verdicts(cycles(name, ratio, part))[0].held;
  assert.equal(held("admitted", 1, 0.1), true);
  assert.equal(held("admitted", 1.6, 0.1), false);
  // The same figure, by which nothing can be said.
  assert.equal(held("admitted", 1.6, 0.99), true);
  assert.equal(held("early", 0.5, 0.1), true);
  assert.equal(held("early", 0.9, 0.1), false);
});

test("what is measured again is set beside the reference of its own cycles", () => {
  const first = new Map([...cycles("admitted", 1, 0.1), ...cycles("early", 0.5, 0.1)]);
  const second = cycles("admitted", 2, 0.1);
  for (const sample of second.get(REFERENCE)) sample.cpuUs = 200;
  const all = joined(first, second);
  const [admitted, early] = verdicts(all);
  assert.match(admitted.text, /speed 0\.7/);
  assert.match(early.text, /cpu 0\.(49|50)/);
});

test("microseconds stand beside ratios, above the pass-through of the same cycle", () => {
  const drifting = around(100, 0.5).map((one) => 200 * one);
  const samples = new Map([
    [REFERENCE, drifting.map((cpuUs) => ({ cpuUs, perSecond: 1 }))],
    ["admitted", drifting.map((cpuUs) => ({ cpuUs: cpuUs + 7, perSecond: 1 }))],
  ]);
  const cells = table(samples).split("\n")[2].trim().split(/ {2,}/);
  assert.equal(cells.at(-2), "7", cells.join("|"));
});

test("on owners' machines: what was wanted, the slowest answers, and processes together", () => {
  const tookMs = Array.from({ length: 100 }, (_, at) => at + 1);
  const cycle = (moreUs, perSecond) =>
    around(100, 0.5).map((one) => ({
      ...{ cpuUs: 200 * one + moreUs, perSecond, tookMs, busiestShare: 0.6 },
    }));
  const samples = new Map([
    [REFERENCE, cycle(0, 4_000)],
    ["alone admitted", cycle(11, 3_000)],
    ["alone renewed", cycle(60, 3_000)],
    ["cluster admitted", cycle(11, 5_400)],
    ["cluster renewed", cycle(60, 5_400)],
  ]);
  const memory = { before: 2 ** 20, after: 3 * 2 ** 20, joined: 10, queued: 9, seconds: 1 };
  const what = { kinds: ["admitted", "renewed"], instances: 2, absent: ["no x"], memory };
  const lines = linesOf({ samples, ...what }).join("\n");
  assert.match(lines, /one process \| admitted.* \+11 \(\+11 to \+11\) \| at most 12: reached/);
  assert.match(lines, /one process \| admitted, ticket renewed.*\+60.* at most 45: missed/);
  assert.match(lines, /\| 50.0 \| 99.0 \|$/m);
  assert.match(lines, /- admitted: 1.80 times .*CPU time alone 2.00, 60 % of it/);
  assert.match(lines, /1 MB, and 3 MB after 10 visitors/);
  assert.match(lines, /Not compared: no x\./);
});
