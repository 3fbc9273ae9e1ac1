// Whether the lines of a CSV of arrivals name minutes that follow each other. Pure.

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;
/** The time at the end of a cell, behind a date or other words. */
const TIME =
  /(?:^|[\sT,])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*([ap]m)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i;
const DATE = /^(\d{4}-\d{2}-\d{2})(?=$|[\sT,])/;
const WHOLE = /^\d+$/;
/** A time in digits alone, perhaps behind a date. */
const DIGITS = /^(\d{8})?([01]\d|2[0-3])([0-5]\d)$/;
/** A span of a minute that ends with the next one. */
const SPAN = /^(\d{1,2}:\d{2})\s*[-–—]\s*\d{1,2}:\d{2}$/;
/** How much one minute adds to a number: one, or as many seconds or milliseconds. */
const NUMBERED_BY = [1, 60, 60_000];
/** In these hours daylight saving begins or ends, after their last minutes. */
const NIGHT_HOURS = [23, 0, 1, 2, 3];
const REMEDY =
  "each line must be the minute after the one before it: give every minute a line, with 0 where " +
  "nobody came, and divide longer times into minutes";

/**
 * Returns what is wrong with the first line that is not the minute after the line before it. Lines
 * that name their minutes neither as times nor as whole numbers are taken as they come.
 *
 * @param {{ at: number, names: string[] }[]} lines number and cells of each, without the visitors
 * @returns {string | undefined}
 */
export function wrongStepIn(lines) {
  const readings = [
    timesOf(lines),
    ...NUMBERED_BY.map((step) => numbersOf(lines, step)),
    digitsOf(lines),
    minutesOfHourOf(lines),
  ];
  const problems = readings.filter(Boolean).map((steps) => problemIn(steps, lines));
  return problems.includes(undefined) ? undefined : problems[0];
}

/** What is wrong with the first line that does not follow, if these are its steps. */
function problemIn(steps, lines) {
  let hasChanged = false;
  for (const [index, now] of steps.entries()) {
    const before = steps[index - 1];
    if (index === 0 || now.isAfter(before)) continue;
    // Daylight saving begins or ends once in the few days that are rehearsed.
    if (!hasChanged && now.isAfterChange?.(before)) hasChanged = true;
    else return `line ${lines[index].at} is ${now.says(before, lines[index - 1].at)}; ${REMEDY}`;
  }
}

/** The times of names like 1759 and 202611271759. */
function digitsOf(lines) {
  const times = namesOf(lines).map((name) => {
    const [, day, hours, minutes] = DIGITS.exec(name) ?? [];
    if (hours === undefined) return;
    const date = day && `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)} `;
    return timeIn(`${date ?? ""}${hours}:${minutes}`, lines[0].names.length);
  });
  return times.every(Boolean) ? times.map(asTime) : undefined;
}

/** The minutes of an hour, in the last column that changes. */
function minutesOfHourOf(lines) {
  const changes = lines[0].names.findLastIndex((name, column) =>
    lines.some(({ names }) => names[column] !== name),
  );
  const names = lines.map((line) => line.names[Math.max(0, changes)]);
  if (!names.every((name) => WHOLE.test(name) && Number(name) < 60)) return;
  return names.map((name) => ({
    name,
    isAfter: (before) => (Number(before.name) + 1) % 60 === Number(name),
    says: (before, at) => `minute ${name} and line ${at} minute ${before.name}`,
  }));
}

/** The minutes as times, from the cells together or from the column that names them. */
function timesOf(lines) {
  const together = lines.map(({ names }) => timeIn(names.join(" "), names.length));
  if (together.every(Boolean)) return together.map(asTime);
  const own = namesOf(lines).map((name) => timeIn(name, lines[0].names.length));
  return own.every(Boolean) ? own.map(asTime) : undefined;
}

/** The first column that changes, or else the first. */
function namesOf(lines) {
  const [first] = lines;
  const changes = first.names.findIndex((name, column) =>
    lines.some(({ names }) => names[column] !== name),
  );
  return lines.map(({ names }) => names[Math.max(0, changes)]);
}

/** Seconds of the day, seconds of the date where one is told, and whether a zone is. */
function timeIn(text, columns) {
  const date = DATE.exec(text)?.[1];
  // Beside a date alone another column has the time.
  const dayS = date && Date.parse(date) / 1_000;
  if (Number.isNaN(dayS)) return;
  if (date === text && columns === 1) return { ofDayS: 0, dayS, zoneS: 0 };
  const begins = text.replace(SPAN, "$1");
  const [, hours, minutes, seconds = 0, half, zone] = TIME.exec(begins) ?? [];
  if (hours === undefined || hours > 24 || minutes > 59) return;
  const hour = half ? (hours % 12) + (/p/i.test(half) ? 12 : 0) : Number(hours);
  const ofDayS = hour * HOUR_S + minutes * MINUTE_S + Number(seconds);
  return { ofDayS, dayS, zoneS: zone && zoneSecondsOf(zone) };
}

function zoneSecondsOf(zone) {
  const [, sign, hours, minutes] = /([+-])(\d{2}):?(\d{2})/.exec(zone) ?? [];
  return sign ? Number(`${sign}1`) * (hours * HOUR_S + minutes * MINUTE_S) : 0;
}

function asTime(time) {
  const after = (before) => secondsBetween(before, time);
  return {
    ...time,
    isAfter: (before) => after(before) === MINUTE_S,
    isAfterChange: (before) => {
      const isNight = NIGHT_HOURS.includes(Math.floor(before.ofDayS / HOUR_S));
      const isLast = Math.floor(before.ofDayS / MINUTE_S) % 60 === 59;
      const isChange = [MINUTE_S + HOUR_S, MINUTE_S - HOUR_S].includes(after(before));
      return isNight && isLast && isChange && time.zoneS === undefined;
    },
    says: (before, at) => {
      const seconds = after(before);
      if (seconds === 0) return `the same minute as line ${at}`;
      return `${spanText(Math.abs(seconds))} ${seconds > 0 ? "after" : "before"} line ${at}`;
    },
  };
}

/** How much later; between times without dates the nearer way around midnight. */
function secondsBetween(before, now) {
  const ofZonesS = (before.zoneS ?? 0) - (now.zoneS ?? 0);
  if (before.dayS !== undefined && now.dayS !== undefined) {
    return now.dayS + now.ofDayS - before.dayS - before.ofDayS + ofZonesS;
  }
  const seconds = (((now.ofDayS - before.ofDayS + ofZonesS) % DAY_S) + DAY_S) % DAY_S;
  return seconds > DAY_S / 2 ? seconds - DAY_S : seconds;
}

function spanText(seconds) {
  const minutes = seconds / MINUTE_S;
  if (!Number.isInteger(minutes)) return `${seconds} s`;
  return `${minutes} ${minutes === 1 ? "minute" : "minutes"}`;
}

/** The minutes as whole numbers that grow by this step. */
function numbersOf(lines, step) {
  const names = namesOf(lines);
  if (!names.every((name) => WHOLE.test(name))) return;
  return names.map((name) => ({
    name,
    isAfter: (before) => Number(name) === Number(before.name) + step,
    says: (before, at) => `number ${name} and line ${at} number ${before.name}`,
  }));
}
