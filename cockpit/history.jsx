// What happened in a room: charts over the same time, and the same as a table and as CSV.
import { useEffect, useMemo, useState } from "preact/hooks";

import { Chart } from "./chart.jsx";
import { count, duration, moment, number } from "./facts.js";
import {
  USUAL,
  chartsOf,
  csvOf,
  dataOf,
  part,
  readFirst,
  readHistory,
  rowAt,
  sums,
} from "./history.js";
import { RangeButtons, RangeFields } from "./history_range.jsx";
import { marksOf } from "./marks.js";
import { usePolling } from "./polling.js";
import { RoomTabs } from "./room_tabs.jsx";
import { SaleLog } from "./sale_log.jsx";
import { useEvents } from "./use_events.js";
import { WhyWaited } from "./why_waited.jsx";

/** How often the newest minutes are asked for, in milliseconds. */
const LOOK_EVERY_MS = 30_000;
/** In how many steps the moment that is looked at moves from one end to the other. */
const STEPS = 240;
const HEIGHT_PX = 180;
/** How many of the marks are told in words: the newest. */
const MARKS_MAX = 30;
/** How many rows of the table are shown before somebody asks for all. */
const ROWS_AT_FIRST = 30;
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

export function History({ session, room, log, version, inFront }) {
  // None until there is something to show, or somebody has chosen one.
  const [range, setRange] = useState();
  const [daysBefore, setDaysBefore] = useState(0);
  const read = () =>
    range
      ? readHistory(session.call, room, range, daysBefore)
      : readFirst(session.call, room, daysBefore);
  const { value, problem, again } = usePolling(read, LOOK_EVERY_MS, inFront);
  useEffect(() => {
    // Not where somebody has chosen one in the moment in which this was told.
    if (value?.range) setRange((chosen) => chosen ?? value.range);
  }, [value]);
  const { events } = useEvents(session, room, version);
  const choose = (chosen) => {
    setRange(chosen);
    again();
  };
  const compare = (days) => {
    setDaysBefore(days);
    again();
  };
  return (
    <main>
      <RoomTabs room={room} at="/history" />
      <RangeFields
        range={range ?? USUAL}
        shown={value}
        onRange={choose}
        daysBefore={daysBefore}
        onDaysBefore={compare}
      />
      {problem && <p class="problem">{problem.message}</p>}
      {value && <Told history={value} {...{ room, log, events }} onRange={choose} />}
      <WhyWaited session={session} room={room} />
      <SaleLog session={session} room={room} />
    </main>
  );
}

function Told({ history, room, log, events, onRange }) {
  const [share, setShare] = useState(1);
  const [hovered, hover] = useState();
  const { from, until, other } = history;
  const at = Math.min(hovered ?? from + share * (until - from), until - 1);
  const look = (next) => {
    hover(undefined);
    setShare(next);
  };
  const charts = useMemo(() => chartsOf(history), [history]);
  const all = useMemo(() => charts.map((chart) => dataOf(history, chart)), [history]);
  const marks = useMemo(() => marksOf({ room, log, events, from, until }), [history, log, events]);
  const isEmpty = history.rows.length === 0 && !other?.rows.length;
  if (isEmpty) {
    return (
      <>
        <p>Nobody was here. Numbers begin with the first visitor and are kept for 30 days.</p>
        <RangeButtons shown={history} at={at} onRange={onRange} />
      </>
    );
  }
  return (
    <>
      <Sentence of={sums(history.rows)} />
      {other && (
        <>
          <p class="small">From {moment(other.from)} on:</p>
          <Sentence of={sums(other.rows)} />
        </>
      )}
      <Look {...{ history, at, share, marks }} onShare={look} />
      <RangeButtons shown={history} at={at} onRange={onRange} />
      {charts.map(({ title, lines }, index) => (
        <Chart
          key={`${title} ${lines.length}`}
          title={title}
          data={all[index]}
          series={lines}
          height={HEIGHT_PX}
          onHover={hover}
          onPick={(moment) => setShare((moment - from) / (until - from))}
          onZoom={(one, other) => onRange(part(history, one, other))}
          onWhole={() => onRange(USUAL)}
          {...{ from, until, at, marks }}
        />
      ))}
      <Marks marks={marks} />
      <Table history={history} room={room} />
      <p class="soft small">
        A minute is complete after 5 minutes: until then what is reported late is added to it. How
        long people stayed is told where sessions are renewed, and how long they waited of those who
        waited and entered. Both are within 12 %.
      </p>
    </>
  );
}

/** The moment that is looked at, by keyboard or finger, and what was measured then. */
function Look({ history, at, share, marks, onShare }) {
  const row = rowAt(history, at);
  const span = row ? [row.at, row.at + history.spanMs] : [at, at];
  const near = marks.filter((mark) => span[0] <= mark.at && mark.at < span[1]);
  const marked = near.map(({ text }) => ` ${text}.`).join("");
  const says = row
    ? `${moment(row.at)}: ${told(row)}${marked}`
    : `${moment(at)}: nothing was measured.`;
  return (
    <p>
      <label>
        Look at{" "}
        <input
          type="range"
          min="0"
          max={STEPS}
          value={Math.round(share * STEPS)}
          aria-valuetext={says}
          onInput={(event) => onShare(Number(event.target.value) / STEPS)}
        />
      </label>
      <span class="looked">{says}</span>
    </p>
  );
}

function told(row) {
  const limit = `${number(row.active_max)} of ${number(row.active_limit_max)} inside`;
  const line = `${number(row.waiting_max)} waiting, ${number(row.entered)} entered`;
  return `${limit}, ${line}, about ${number(row.left_line)} left the line.`;
}

function Sentence({ of }) {
  return (
    <p class="soft">
      {number(of.entered)} entered, {number(of.joined)} joined the line, about{" "}
      {number(of.left)} left it. Most at one time: {number(of.mostInside)} inside,{" "}
      {number(of.mostWaiting)} waiting.{" "}
      {of.isTold ? `Longest shown wait: ${duration(of.longestTold)}` : "No wait was shown"}; the
      slowest 5 % waited up to {duration(of.longestWaited)}. {number(of.revoked)} sessions revoked.
      {of.heldMinutes > 0 && ` Nobody new could enter for ${count(of.heldMinutes, "minute")}.`}
      {of.wrongHalf !== null &&
        ` Half of those who waited were shown the right time within ${of.wrongHalf} %, ` +
          `nine of ten within ${of.wrongMost} %.`}
      {of.turnsKept > 0 && ` ${number(of.turnsKept)} entered whose turn was kept for them.`}
      {of.challenged > 0 &&
        ` ${number(of.challenged)} were challenged, ${number(of.solved)} passed and ` +
          `${number(of.failed)} failed.`}
      {of.unanswered > 0 && ` ${number(of.unanswered)} messages were not answered.`}
      {of.savesFailed > 0 && ` ${number(of.savesFailed)} times nothing could be stored.`}
    </p>
  );
}

/** What was done to the room in this time: the marks of the charts in words. */
function Marks({ marks }) {
  if (marks.length === 0) return null;
  const shown = marks.slice(-MARKS_MAX);
  return (
    <section aria-labelledby="marks">
      <h2 id="marks">What was changed</h2>
      <ul>
        {shown.map(({ at, text }) => (
          <li>
            {moment(at)}: {text}
          </li>
        ))}
      </ul>
    </section>
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
