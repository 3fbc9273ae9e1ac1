// The rows of known attacks with all their tests: those of the folder tests/attacks and those that
// rows.mjs names elsewhere. Finds what is wrong with them, and writes the table for people.
import fs from "node:fs";
import path from "node:path";

import { ROWS } from "../tests/attacks/rows.mjs";

const ROOT = path.join(import.meta.dirname, "..");
const FOLDER = "tests/attacks";
const FILE = /^(\d\d)-[a-z0-9-]+\.test\.mjs$/;
/** The beginning of a title: one that is a template goes on differently in each test. */
const TITLE = /["`](row (\d+): [^"`$]*)(\$?)/g;
const [BEGIN, END] = ["<!-- rows: begin -->", "<!-- rows: end -->"];
/** The document with the table. */
export const DOCUMENT = "docs/security.md";

/** Lists the rows, each with its `tests`: { file, title }. */
export function rowsWithTests() {
  const here = fs.readdirSync(path.join(ROOT, FOLDER)).filter((name) => FILE.test(name)).sort();
  return ROWS.map(({ elsewhere, ...row }) => {
    const own = here.filter((name) => Number(FILE.exec(name)[1]) === row.number);
    const tests = own.flatMap((name) => titlesIn(`${FOLDER}/${name}`));
    return { ...row, tests: [...tests, ...elsewhere] };
  });
}

/** Lists what is wrong: a row without a test, a test that is not there, a name of another row. */
export function problems() {
  const found = [];
  for (const { number, tests } of rowsWithTests()) {
    if (tests.length === 0) found.push(`row ${number} has no test`);
    for (const { file, title, of = number } of tests) {
      if (of !== number) found.push(`${file}: "${title}" names another row than its file`);
      if (!isThere(file, title)) found.push(`row ${number}: ${file} has no test "${title}"`);
    }
  }
  for (const name of fs.readdirSync(path.join(ROOT, FOLDER))) {
    const number = Number(FILE.exec(name)?.[1]);
    if (!name.endsWith(".test.mjs")) continue;
    if (!ROWS.some((row) => row.number === number)) found.push(`${name} belongs to no row`);
    else if (titlesIn(`${FOLDER}/${name}`).length === 0) found.push(`${name} names no row`);
  }
  return found;
}

/** Puts the table of rows and tests into the text of the document. */
export function withTable(text) {
  const [before, rest] = text.split(BEGIN);
  return `${before}${BEGIN}\n${table()}\n${END}${rest.split(END)[1]}`;
}

function table() {
  const lines = rowsWithTests().map(({ number, attack, holds, tests }) => {
    const named = tests.map(({ file, title, goesOn }) => {
      return `${title}${goesOn ? " …" : ""} (\`${file}\`)`;
    });
    return `| ${[number, attack, holds, named.join("; ")].join(" | ")} |`;
  });
  return ["| # | attack | what holds | tests |", "|---|---|---|---|", ...lines].join("\n");
}

function titlesIn(file) {
  const found = read(file).matchAll(TITLE);
  return [...found].map(([, title, number, more]) => {
    return { file, title: title.trim(), of: Number(number), goesOn: more !== "" };
  });
}

function isThere(file, title) {
  if (!fs.existsSync(path.join(ROOT, file))) return false;
  if (file.endsWith(".rs")) return new RegExp(`fn ${title}\\b`).test(read(file));
  // A title may be made of parts: its first word and its last must be there at least.
  const text = read(file);
  const words = title.split(" ");
  return text.includes(title) || (text.includes(words[0]) && text.includes(words.at(-1)));
}

function read(file) {
  return fs.readFileSync(path.join(ROOT, file), "utf8");
}
