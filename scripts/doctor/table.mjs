// Writes what the doctor says as a table for people: a mark, what, its figure, and below it what to
// do.
import { counted } from "./line.mjs";

const MARKS = { ok: "ok", look: "LOOK", wrong: "WRONG" };
const COLOURS = { ok: 32, look: 33, wrong: 31 };
const MARK_COLUMNS = 7;
const NAME_COLUMNS_MAX = 34;
const COLUMNS_MAX = 110;
const COLUMNS_MIN = 60;

/** Writes the table; `columns` of the terminal, and whether it shows colours. */
export function table(lines, { columns = 100, colours = false } = {}) {
  const width = Math.max(COLUMNS_MIN, Math.min(columns, COLUMNS_MAX));
  const longest = Math.max(...lines.map(({ what }) => what.length));
  const names = Math.min(longest, NAME_COLUMNS_MAX) + 2;
  const rows = [];
  let last;
  for (const { topic, what, figure, verdict, remedy } of lines) {
    if (topic !== last) rows.push("", `  ${topic}`);
    last = topic;
    const mark = painted(MARKS[verdict].padEnd(MARK_COLUMNS), verdict, colours);
    const left = 4 + MARK_COLUMNS + names;
    const gap = what.length >= names ? `\n${" ".repeat(left)}` : " ".repeat(names - what.length);
    rows.push(`    ${mark}${what}${gap}${wrapped(figure, width, left)}`);
    if (remedy) rows.push(`${" ".repeat(left)}${wrapped(remedy, width, left)}`);
  }
  return [...rows, "", `  ${summary(lines)}`, ""].join("\n");
}

function summary(lines) {
  const count = (verdict) => lines.filter((line) => line.verdict === verdict).length;
  const [wrongs, looks] = [count("wrong"), count("look")];
  if (wrongs > 0) return `${counted(wrongs, "line")} wrong, ${looks} to look at.`;
  if (looks > 0) return `Nothing wrong; ${looks} to look at.`;
  return "All is well.";
}

function painted(text, verdict, colours) {
  return colours ? `\x1b[${COLOURS[verdict]}m${text}\x1b[0m` : text;
}

/** Breaks a text into lines that end before `width`, all but the first behind `left` blanks. */
function wrapped(text, width, left) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line && left + line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines.join(`\n${" ".repeat(left)}`);
}
