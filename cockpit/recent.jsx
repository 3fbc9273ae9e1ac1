// The last half an hour of a room as a picture: who is inside against the limit, who waits, and who
// has entered.
import { useMemo, useState } from "preact/hooks";

import { Chart } from "./chart.jsx";
import { clock, number } from "./facts.js";
import { CHARTS, RANGES, dataOf, readHistory, rowAt } from "./history.js";
import { marksOf } from "./marks.js";
import { usePolling } from "./polling.js";
import { useEvents } from "./use_events.js";

const LOOK_EVERY_MS = 30_000;
const [HALF_AN_HOUR] = RANGES;
const HEIGHT_PX = 110;
const SHOWN = CHARTS.slice(0, 3);

export function Recent({ session, room, log, version, inFront }) {
  const read = () => readHistory(session.call, room, HALF_AN_HOUR, 0);
  const { value: history, problem } = usePolling(read, LOOK_EVERY_MS, inFront);
  const { events } = useEvents(session, room, version);
  return (
    <section aria-labelledby="recent" class="recent">
      <h2 id="recent">The last 30 minutes</h2>
      {history ? (
        <Picture {...{ history, room, log, events }} />
      ) : (
        <p class="soft">{problem ? problem.message : "Reading …"}</p>
      )}
    </section>
  );
}

function Picture({ history, room, log, events }) {
  const [at, look] = useState();
  const { from, until, rows } = history;
  const marks = useMemo(() => marksOf({ room, log, events, from, until }), [history, log, events]);
  const all = useMemo(() => SHOWN.map((chart) => dataOf(history, chart)), [history]);
  return (
    <>
      <div class="charts">
        {SHOWN.map(({ title, short, lines }, index) => (
          <Chart
            key={title}
            title={short}
            data={all[index]}
            series={lines}
            height={HEIGHT_PX}
            onHover={look}
            {...{ from, until, at, marks }}
          />
        ))}
      </div>
      <p class="soft small">{at === undefined ? whole(rows) : moment(history, at, marks)}</p>
    </>
  );
}

function whole(rows) {
  if (rows.length === 0) return "Nobody was here.";
  const most = (name) => number(Math.max(0, ...rows.map((row) => row[name] ?? 0)));
  const entered = rows.reduce((total, row) => total + row.entered, 0);
  return (
    `At most ${most("active_max")} inside and ${most("waiting_max")} waiting at one time; ` +
    `${number(entered)} entered. The last minutes are added to until they are 5 minutes old.`
  );
}

function moment(history, at, marks) {
  const row = rowAt(history, at);
  const isIn = ({ at }) => row && row.at <= at && at < row.at + history.spanMs;
  const changed = marks.filter(isIn);
  const said = row
    ? `${number(row.active_max)} of ${number(row.active_limit_max)} inside, ` +
      `${number(row.waiting_max)} waiting, ${number(row.entered)} entered.`
    : "nobody was here.";
  const marked = changed.map(({ text }) => ` ${text}.`).join("");
  return `${clock(row?.at ?? at)}: ${said}${marked}`;
}
