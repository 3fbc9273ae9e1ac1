// The moments below a chart. The last one ends at the right edge, which would cut it off where it
// stood in the middle below its place.
import uPlot from "uplot";

const DAY_MS = 86_400_000;
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** Returns what uPlot needs of an axis and its hooks: `{ values, drawAxes }`. */
export function momentsBelow() {
  let last;
  return {
    values: (_, all, __, ___, step) => {
      const texts = textsOf(all, step);
      last = { at: all.at(-1), text: texts.pop() };
      return texts;
    },
    drawAxes: (drawn) => drawLast(drawn, last),
  };
}

/** Times of day, and the day where that is another one. */
function textsOf(all, step) {
  return all.map((at, index) => {
    const isNewDay = step >= DAY_MS || (index > 0 && day.format(at) !== day.format(all[index - 1]));
    return isNewDay ? day.format(at) : clock.format(at);
  });
}

/** Writes the last moment, in the letters of the axes, which are drawn before it. */
function drawLast(drawn, { at, text } = {}) {
  if (text === undefined) return;
  const { ctx, bbox, axes: [{ gap, stroke }], valToPos } = drawn;
  ctx.save();
  ctx.fillStyle = stroke(drawn, 0);
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  const end = valToPos(at, "x", true) + ctx.measureText(text).width / 2;
  const top = bbox.top + bbox.height + Math.round(gap * uPlot.pxRatio);
  ctx.fillText(text, Math.min(end, ctx.canvas.width), top);
  ctx.restore();
}
