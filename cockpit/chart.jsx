// One chart over time, drawn by uPlot: steps from the bottom, the limit dashed, another day under
// it, marks where something was changed, and the moment that is looked at. Dragging across it
// zooms. It is for eyes alone: a table or a sentence beside it says the same.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

import { momentsBelow } from "./chart_moments.js";
import { number } from "./facts.js";

/** A drag over fewer pixels is a click. */
const DRAG_MIN_PX = 8;
/** The room for numbers beside the chart, in pixels. */
const AXIS_PX = 52;
/** A moment below the chart needs so many pixels, in a language with "AM" and "PM" too. */
const MOMENT_PX = 76;
const TOP_SHARE = 1.05;
/** By which steps counts go up: 1, 2, 5, 10 and so on. */
const COUNTS = Array.from({ length: 27 }, (_, at) => [1, 2, 5][at % 3] * 10 ** Math.floor(at / 3));
/** How each kind of line is drawn: the variable of the style sheet, and how it is dashed. */
export const LINES = {
  line: { ink: "--accent" },
  promised: { ink: "--look", dash: [2, 4], mark: "┄" },
  limit: { ink: "--text", dash: [8, 6], mark: "┅" },
  before: { ink: "--soft", width: 1 },
};

/**
 * Draws `data`, points in the form of uPlot, from `from` until `until`. `series` names each line
 * and its kind, `marks` are `{ at, text }`; `at` is the moment that is looked at, `onHover(at)`
 * hears of one that is pointed at, and of `undefined` when none is any more, `onPick(at)` of a
 * click, `onZoom(from, until)` of a part that was dragged over, and `onWhole` of two clicks.
 */
export function Chart({ title, about, data, series, height, ...view }) {
  const place = useRef();
  const plot = useRef();
  const latest = useRef();
  latest.current = view;
  useEffect(() => {
    const element = place.current;
    const drawn = new uPlot(optionsOf({ element, series, height, latest }), data, element);
    plot.current = drawn;
    const resized = new ResizeObserver(([{ contentRect }]) =>
      drawn.setSize({ width: contentRect.width, height }),
    );
    resized.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => drawn.redraw(false, true);
    scheme.addEventListener("change", redraw);
    return () => {
      scheme.removeEventListener("change", redraw);
      resized.disconnect();
      drawn.destroy();
    };
  }, [series, height]);
  useEffect(() => {
    plot.current.setData(data);
    drawMarks(plot.current, view);
  }, [data, view.marks]);
  useEffect(() => {
    const { left } = plot.current.over.getBoundingClientRect();
    if (view.at === undefined || left === 0) return;
    plot.current.setCursor({ left: plot.current.valToPos(view.at, "x"), top: 0 }, false);
  }, [view.at, data]);
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="soft small">{about}</span>
      </figcaption>
      <div class="plot" ref={place} style={{ height: `${height}px` }} aria-hidden="true" />
      <p class="soft small">
        {series.map(({ label, kind }) => (
          <span>
            {LINES[kind].mark ?? "─"} {label}{" "}
          </span>
        ))}
      </p>
    </figure>
  );
}

function optionsOf({ element, series, height, latest }) {
  const ink = (name) => () => {
    element.style.color = `var(${name})`;
    return getComputedStyle(element).color;
  };
  const axis = { stroke: ink("--soft"), grid: { stroke: ink("--line"), width: 1 } };
  const ticks = { show: false };
  const { values, drawAxes } = momentsBelow();
  return {
    width: element.clientWidth,
    height,
    ms: 1,
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false, dist: DRAG_MIN_PX },
    },
    scales: {
      x: { range: () => [latest.current.from, latest.current.until] },
      y: { range: (_, least, most) => [0, Math.max(1, most ?? 1) * TOP_SHARE] },
    },
    axes: [
      { ...axis, ticks, size: 28, space: MOMENT_PX, values },
      { ...axis, ticks, size: AXIS_PX, incrs: COUNTS, values: (_, all) => all.map(number) },
    ],
    series: [
      {},
      ...series.map(({ kind }) => ({
        stroke: ink(LINES[kind].ink),
        width: LINES[kind].width ?? 2,
        dash: LINES[kind].dash,
        paths: uPlot.paths.stepped({ align: 1 }),
        points: { show: false },
      })),
    ],
    hooks: {
      drawAxes: [drawAxes],
      ready: [(drawn) => listen(drawn, latest)],
      setSelect: [(drawn) => zoom(drawn, latest)],
    },
  };
}

function listen({ over, posToVal }, latest) {
  const moment = ({ offsetX }) => posToVal(offsetX, "x");
  const hover = (event) => latest.current.onHover?.(moment(event));
  over.addEventListener("pointermove", hover);
  over.addEventListener("pointerdown", hover);
  over.addEventListener("pointerleave", () => latest.current.onHover?.(undefined));
  over.addEventListener("click", (event) => latest.current.onPick?.(moment(event)));
  over.addEventListener("dblclick", () => latest.current.onWhole?.());
}

function zoom(drawn, latest) {
  const { left, width } = drawn.select;
  if (width < DRAG_MIN_PX) return;
  drawn.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  latest.current.onZoom?.(drawn.posToVal(left, "x"), drawn.posToVal(left + width, "x"));
}

/** Draws what was changed as lines from top to bottom, each with its sentence. */
function drawMarks({ over }, { marks = [], from, until }) {
  for (const old of over.querySelectorAll(".changed")) old.remove();
  for (const { at, text } of marks) {
    const line = document.createElement("span");
    line.className = "changed";
    line.title = text;
    line.style.left = `${(100 * (at - from)) / (until - from)}%`;
    over.append(line);
  }
}
