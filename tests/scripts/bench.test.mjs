/** What the benchmark makes of its samples: figures with intervals, and gates that bear noise. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { joined } from "../../bench/rounds.mjs";
import { verdicts } from "../../bench/report.mjs";
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
