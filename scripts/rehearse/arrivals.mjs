// The arrivals of a CSV: how many visitors come in each minute. What could be read in two ways is
// refused, since it would play another sale. Pure.

import { wrongStepIn } from "./steps.mjs";

const LINE_ENDS = /\r\n|\r|\n/;
const QUOTED = /^"(.*)"$/;
const WHOLE = /^\d+$/;
/** A whole number in groups, as English spreadsheets write it into quotation marks. */
const GROUPED = /^[1-9]\d{0,2}(?:,\d{3})+$/;
/** The first of these in the first line separates all cells. */
const SEPARATORS = ["\t", ";", ","];
const ALLOWED = 'must be a whole number of visitors, such as 1200 or, in quotation marks, "1,200"';

/**
 * Reads the last column of each line, but of a first line that is a heading. Throws what is wrong,
 * and in which line.
 */
export function minutesIn(text) {
  const lines = text.replace(/^\uFEFF/, "").split(LINE_ENDS);
  const written = lines.map((line, at) => ({ line, at: at + 1 })).filter(({ line }) => line.trim());
  const [first] = written;
  if (!first) throw new Error("it has no line with a number");
  const separator = SEPARATORS.find((one) => cellsOf(first.line, one).length > 1) ?? ",";
  const rows = written.map(({ line, at }) => ({ line, at, cells: cellsOf(line, separator) }));
  const minutes = isHeading(rows[0].cells) ? rows.slice(1) : rows;
  if (minutes.length === 0) throw new Error("it has no line with a number");
  const columns = rows[0].cells.length;
  const visitors = visitorsIn(minutes, { first, columns, separator });
  const wrongStep = columns > 1 ? wrongStepIn(minutes.map(namesOf)) : undefined;
  if (wrongStep) throw new Error(wrongStep);
  return visitors;
}

/** How many come in each line. */
function visitorsIn(minutes, { first, columns, separator }) {
  return minutes.map(({ line, at, cells }) => {
    const wrong = (what) => new Error(`line ${at} is ${line.trim()}, but ${what}`);
    if (line.split('"').length % 2 === 0) throw wrong("must close its quotation marks");
    if (cells.length !== columns) {
      throw wrong(`must have as many columns as line ${first.at}, and has ${cells.length}`);
    }
    // A sum below the minutes is none of them.
    const isNamed = columns === 1 || cells.slice(0, -1).some((cell) => /\d/.test(cell));
    if (!isNamed) throw wrong("must name its minute, such as 12:00 or 1, before the last column");
    const visitors = visitorsOf(cells.at(-1), separator);
    if (visitors === undefined) throw wrong(`its last column ${ALLOWED}`);
    return visitors;
  });
}

/** The cells of a line as they are written; a separator in quotation marks is a part of one. */
function cellsOf(line, separator) {
  const outside = new RegExp(`${separator}(?=(?:[^"]*"[^"]*")*[^"]*$)`);
  return line.split(outside).map((cell) => cell.trim());
}

/** What a line says beside its visitors. */
function namesOf({ at, cells }) {
  const names = cells.slice(0, -1).map((cell) => QUOTED.exec(cell)?.[1].trim() ?? cell);
  return { at, names };
}

/** Whether a first line has words where others have numbers. */
function isHeading(cells) {
  const last = cells.at(-1);
  return /\p{L}/u.test(last) && !/\d/.test(last) && !/^"?\d/.test(cells[0]);
}

/** `undefined` for a cell that is no whole number. */
function visitorsOf(cell, separator) {
  const quoted = QUOTED.exec(cell)?.[1].trim();
  const text = quoted ?? cell;
  if (WHOLE.test(text)) return Number(text);
  // Where semicolons separate, a comma may begin the decimals.
  const isGrouped = quoted !== undefined && separator !== ";" && GROUPED.test(quoted);
  return isGrouped ? Number(quoted.replaceAll(",", "")) : undefined;
}
