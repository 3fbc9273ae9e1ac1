// One chart of the history: lines from the bottom, the limit dashed, another day under it, and the
// moment that is looked at. Dragging across it zooms. The table says the same in words.
import { useRef, useState } from "preact/hooks";

import { moment, number } from "./facts.js";
import { highest, lines, part } from "./history.js";

const SIZE = { width: 960, height: 160 };
/** A drag over less than this share of the width is a click. */
const DRAG_MIN = 0.01;

export function Chart({ history, title, series, limit, at, onLook, onRange, whole }) {
  const names = series.map(({ name }) => name);
  const { other, from, until } = history;
  const known = limit ? [...names, limit] : names;
  const top = Math.max(highest(history.rows, known), highest(other?.rows ?? [], names)) * 1.05;
  const { width, height } = SIZE;
  const draw = (of, name, kind) =>
    lines(of, name, top, SIZE).map((points) => <polyline class={kind} points={points} />);
  const { picked, ...dragging } = useDrag({ history, onLook, onRange });
  const x = (share) => share * width;
  const looked = x((at - from) / (until - from));
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="soft small">up to {number(Math.round(top / 1.05))}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onDblClick={() => onRange(whole)}
        {...dragging}
      >
        <line class="ground" x1="0" y1={height} x2={width} y2={height} />
        {picked && (
          <rect class="picked" x={x(picked.left)} width={x(picked.share)} y="0" height={height} />
        )}
        {other && draw(other, names[0], "before")}
        {limit && draw(history, limit, "limit")}
        {series.map(({ name, isTold }) => draw(history, name, isTold ? "promised" : "line"))}
        <line class="look" x1={looked} y1="0" x2={looked} y2={height} />
      </svg>
      <p class="soft small">
        <span>{moment(from)}</span> <span>{moment(until)}</span>
      </p>
      <Legend series={series} limit={limit} other={other} />
    </figure>
  );
}

function Legend({ series, limit, other }) {
  return (
    <p class="soft small">
      {series.map(({ label, isTold }) => (
        <span>
          {isTold ? "┄ " : "─ "}
          {label}{" "}
        </span>
      ))}
      {limit && <span>┅ limit</span>}
      {other && <span>─ in grey: from {moment(other.from)} on</span>}
    </p>
  );
}

/** The range between where a pointer was pressed and where it is, as shares of the width. */
function useDrag({ history, onLook, onRange }) {
  const [picked, set] = useState();
  const start = useRef();
  const share = ({ clientX, currentTarget }) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return (clientX - left) / width;
  };
  const between = (one, other) => ({ left: Math.min(one, other), share: Math.abs(one - other) });
  const end = () => {
    start.current = undefined;
    set(undefined);
  };
  return {
    picked,
    onPointerDown: (event) => {
      start.current = share(event);
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event) => {
      if (start.current !== undefined) set(between(start.current, share(event)));
    },
    onPointerUp: (event) => {
      if (start.current === undefined) return;
      const [from, to] = [start.current, share(event)];
      end();
      if (Math.abs(from - to) > DRAG_MIN) onRange(part(history, from, to));
      else onLook(history.from + to * (history.until - history.from));
    },
    onPointerCancel: end,
  };
}
