// Which time the history shows: one of the usual ranges, any other, closer or further, and the day
// that is laid under it.
import { localTime } from "./facts.js";
import { RANGES, moved, scaled } from "./history.js";

/** The name of a range that is none of the usual ones. */
const OTHER = "another range";
const DAYS_BEFORE = [
  [0, "nothing"],
  [1, "the day before"],
  [7, "the week before"],
  [14, "two weeks before"],
];

/** The fields above the charts. `shown` is the time that they show, if they do. */
export function RangeFields({ range, shown, onRange, daysBefore, onDaysBefore }) {
  const choose = (name) => onRange(RANGES.find((one) => one.name === name) ?? shown);
  const change = (ends) => onRange({ from: shown.from, until: shown.until, ...ends });
  return (
    <div class="row range">
      <label>
        The last{" "}
        <select value={range.name ?? OTHER} onChange={(event) => choose(event.target.value)}>
          {[...RANGES.map(({ name }) => name), OTHER].map((name) => (
            <option disabled={name === OTHER && !shown}>{name}</option>
          ))}
        </select>
      </label>
      <Moment label="From" at={shown?.from} onMoment={(from) => change({ from })} />
      <Moment label="To" at={shown?.until} onMoment={(until) => change({ until })} />
      <label>
        Compare with{" "}
        <select value={daysBefore} onChange={(event) => onDaysBefore(Number(event.target.value))}>
          {DAYS_BEFORE.map(([days, name]) => (
            <option value={days}>{name}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** A field for one end of the range, by the clock where the owner is. */
function Moment({ label, at, onMoment }) {
  const change = ({ target: { value } }) => {
    if (value !== "") onMoment(Date.parse(value));
  };
  const value = at === undefined ? "" : localTime(at);
  return (
    <label>
      {label} <input type="datetime-local" value={value} disabled={!at} onChange={change} />
    </label>
  );
}

/** Closer to the moment that is looked at, further from it, earlier and later. */
export function RangeButtons({ shown, at, onRange }) {
  return (
    <p class="row">
      <button onClick={() => onRange(moved(shown, -1))}>Earlier</button>
      <button onClick={() => onRange(scaled(shown, 0.5, at))}>Zoom in</button>
      <button onClick={() => onRange(scaled(shown, 2, at))}>Zoom out</button>
      <button onClick={() => onRange(moved(shown, 1))}>Later</button>
    </p>
  );
}
