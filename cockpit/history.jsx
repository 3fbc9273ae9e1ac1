// What happened in a room: four charts over the same time, and the same as a table and as CSV.
import { useState } from "preact/hooks";

import { duration, moment, number } from "./facts.js";
import { RANGES, csvOf, highest, lines, readHistory, sums } from "./history.js";
import { usePolling } from "./polling.js";
import { RoomTabs } from "./room_tabs.jsx";

/** How often the newest minutes are asked for, in milliseconds. */
const LOOK_EVERY_MS = 30_000;
const SIZE = { width: 960, height: 160 };
/** How many rows of the table are shown before somebody asks for all. */
const ROWS_AT_FIRST = 30;
const CHARTS = [
  {
    title: "Inside, against the limit",
    series: [{ name: "active_max", label: "inside, most at one time" }],
    limit: "active_limit_max",
  },
  {
    title: "Waiting",
    series: [{ name: "waiting_max", label: "waiting, most at one time" }],
  },
  {
    title: "Entered, against new users per minute",
    series: [{ name: "entered_per_minute", label: "entered a minute" }],
    limit: "new_users_limit_max",
  },
  {
    title: "Told and waited, in minutes",
    series: [
      { name: "told_minutes", label: "longest wait told to newcomers", isTold: true },
      { name: "waited_minutes", label: "waited by those who entered, slowest 5 %" },
    ],
  },
];
const COLUMNS = [
  ["Inside", "active_max"],
  ["Waiting", "waiting_max"],
  ["Entered", "entered"],
  ["Left the line", "left_line"],
  ["Waited, half", "waited_seconds_p50", duration],
  ["Waited, 95 %", "waited_seconds_p95", duration],
  ["Stayed, half", "stayed_seconds_p50", duration],
  ["Revoked", "sessions_revoked"],
];

export function History({ session, room, inFront }) {
  const [range, setRange] = useState(RANGES[2]);
  const read = () => readHistory(session.call, room, range);
  const { value, problem, again } = usePolling(read, LOOK_EVERY_MS, inFront);
  const choose = (name) => {
    setRange(RANGES.find((one) => one.name === name));
    again();
  };
  return (
    <main>
      <RoomTabs room={room} at="/history" />
      <label>
        The last{" "}
        <select value={range.name} onChange={(event) => choose(event.target.value)}>
          {RANGES.map(({ name }) => (
            <option>{name}</option>
          ))}
        </select>
      </label>
      {problem && <p class="problem">{problem.message}</p>}
      {value && <Told history={value} room={room} />}
    </main>
  );
}

function Told({ history, room }) {
  if (history.rows.length === 0) {
    return <p>Nobody was here. Numbers begin with the first visitor and are kept for 30 days.</p>;
  }
  return (
    <>
      <Sentence of={sums(history.rows)} />
      {CHARTS.map((chart) => (
        <Chart key={chart.title} history={history} {...chart} />
      ))}
      <Table history={history} room={room} />
      <p class="soft small">
        A minute is complete after 5 minutes: until then what is reported late is added to it. How
        long people stayed is told where sessions are renewed, and how long they waited of those who
        waited and entered. Both are within 12 %.
      </p>
    </>
  );
}

function Sentence({ of }) {
  return (
    <p class="soft">
      {number(of.entered)} entered, {number(of.joined)} joined the line, about{" "}
      {number(of.left)} left it. Most at one time: {number(of.mostInside)} inside,{" "}
      {number(of.mostWaiting)} waiting.
      Longest wait told: {duration(of.longestTold)}; the slowest 5 % waited up to{" "}
      {duration(of.longestWaited)}. {number(of.revoked)} sessions revoked.
    </p>
  );
}

/** One chart: lines from the bottom, the limit dashed. The table says the same in words. */
function Chart({ history, title, series, limit }) {
  const names = series.map(({ name }) => name);
  const top = highest(history.rows, limit ? [...names, limit] : names) * 1.05;
  const { width, height } = SIZE;
  const draw = (name, kind) =>
    lines(history, name, top, SIZE).map((points) => <polyline class={kind} points={points} />);
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="soft small">up to {number(Math.round(top / 1.05))}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="ground" x1="0" y1={height} x2={width} y2={height} />
        {limit && draw(limit, "limit")}
        {series.map(({ name, isTold }) => draw(name, isTold ? "promised" : "line"))}
      </svg>
      <p class="soft small">
        <span>{moment(history.from)}</span> <span>{moment(history.until)}</span>
      </p>
      <p class="soft small">
        {series.map(({ label, isTold }) => (
          <span>
            {isTold ? "┄ " : "─ "}
            {label}{" "}
          </span>
        ))}
        {limit && <span>┅ limit</span>}
      </p>
    </figure>
  );
}

function Table({ history, room }) {
  const { rows } = history;
  const [most, setMost] = useState(ROWS_AT_FIRST);
  const newest = [...rows].reverse();
  const shown = (row, [, name, write = number]) => (row[name] === null ? "–" : write(row[name]));
  return (
    <section aria-labelledby="as-table">
      <h2 id="as-table">As a table</h2>
      <table class="history">
        <thead>
          <tr>
            <th scope="col">From</th>
            {COLUMNS.map(([label]) => (
              <th scope="col">{label}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {newest.slice(0, most).map((row) => (
            <tr>
              <th scope="row">{moment(row.at)}</th>
              {COLUMNS.map((column) => (
                <td data-label={column[0]}>{shown(row, column)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="row">
        {rows.length > most && (
          <button onClick={() => setMost(rows.length)}>Show all {number(rows.length)}</button>
        )}
        <a href={csvAddress(history)} download={`history-${room.name}.csv`}>
          Download as CSV
        </a>
      </p>
    </section>
  );
}

function csvAddress(history) {
  return `data:text/csv;charset=utf-8,${encodeURIComponent(csvOf(history))}`;
}
