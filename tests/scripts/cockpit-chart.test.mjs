/**
 * The moments below a chart of the cockpit: the last one is whole at the right edge.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import uPlot from "uplot";

import { momentsBelow } from "../../cockpit/chart_moments.js";

const WIDTH = 500;
const TEXT_PX = 60;
const HOUR_MS = 3_600_000;

test("the last moment below a chart ends at the right edge at the latest", () => {
  const last = Date.parse("2026-11-23T12:00:00Z");
  /** What is drawn by hand where the last moment's place is so far from the left. */
  const drawnAt = (place, all, step = HOUR_MS) => {
    const written = [];
    const ctx = {
      canvas: { width: WIDTH },
      save: () => {},
      restore: () => {},
      measureText: () => ({ width: TEXT_PX }),
      fillText: (text, x, y) => written.push({ text, of: [ctx.textAlign, ctx.fillStyle], x, y }),
    };
    const { values, drawAxes } = momentsBelow();
    const texts = values(undefined, all, 0, 0, step);
    const bbox = { top: 10, height: 80 };
    drawAxes({ ctx, bbox, axes: [{ gap: 5, stroke: () => "grey" }], valToPos: () => place });
    return { texts, written };
  };
  uPlot.pxRatio = 1;
  const all = [last - 2 * HOUR_MS, last - HOUR_MS, last];
  const middle = drawnAt(400, all);
  assert.equal(middle.texts.length, 2, "the last moment is drawn twice");
  const [{ text, of, x, y }] = middle.written;
  assert.deepEqual([...of, x, y], ["right", "grey", 400 + TEXT_PX / 2, 95]);
  assert.match(text, /\d:\d\d/);
  assert.equal(drawnAt(WIDTH - TEXT_PX / 2, all).written[0].x, WIDTH);
  assert.equal(drawnAt(WIDTH - 9, all).written[0].x, WIDTH, "it is cut off");
  assert.deepEqual(drawnAt(400, []), { texts: [], written: [] });
  // The day stands where it begins.
  const days = drawnAt(400, [last - 24 * HOUR_MS, last], 24 * HOUR_MS);
  assert.doesNotMatch(days.written[0].text, /:/);
});
