/**
 * The constants that documents of the protocol tell have the values of the source: a table of
 * figures is read by whoever builds from it, and by nobody who changes one.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { sourceOf } from "../harness/source-constants.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const DOCUMENTS = ["docs/algorithm.md", "docs/forecast.md"];
/** How many milliseconds, or seconds, a unit of the table has, by the unit in a constant's name. */
const UNITS = {
  _MS: { ms: 1, s: 1_000, min: 60_000 },
  _S: { s: 1, min: 60 },
};
const NUMBER = /\d[\d,]*(?:\.\d+)?/g;
/** So many rows there are at least: a table that is not found is no table without mistakes. */
const CONSTANTS_MIN = 65;

test("the constants of the protocol are those of the source", () => {
  const texts = DOCUMENTS.map((file) => fs.readFileSync(path.join(ROOT, file), "utf8"));
  const rows = texts.flatMap(rowsOf);
  const told = rows.flatMap(constantsIn);
  const wrong = told.filter(({ value, wanted }) => value !== wanted);
  assert.deepEqual(wrong, []);
  assert.ok(told.length >= CONSTANTS_MIN, `only ${told.length} constants are compared`);
});

/** The rows of the table of constants: { names, value, file }. */
function rowsOf(text) {
  const [, section] = /\n## Constants\n([^]*?)\n## /.exec(text);
  let file;
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => {
      const cells = line.split(" | ");
      const files = [...cells.at(-1).matchAll(/`((?:room-core\/)?src\/[\w/]+\.rs)`/g)];
      file = files.length > 0 ? files.map(([, one]) => one) : file;
      const names = [...cells[0].matchAll(/`([A-Z][A-Z0-9_]*)`/g)].map(([, name]) => name);
      return { names, value: cells[1], files: file };
    });
}

/** The constants of a row with the value that it tells, and that of the source. */
function constantsIn({ names, value, files }) {
  const numbers = [...value.matchAll(NUMBER)].map(([number]) => Number(number.replaceAll(",", "")));
  return names.map((name, at) => {
    const source = files.map((file) => sourceOf(name, file)).find((one) => one !== undefined);
    const wanted = source === undefined ? `not in ${files}` : source;
    return { name, value: (numbers[at] ?? NaN) * unitOf(name, value, at), wanted };
  });
}

/** By what the number at a place is multiplied, so that it has the unit of the constant. */
function unitOf(name, value, at) {
  const isRate = /_PER_[A-Z]+(?:_MAX)?$/.test(name);
  const units = isRate ? undefined : UNITS[/_(?:MS|S)(?=_M(?:IN|AX)$|$)/.exec(name)?.[0]];
  // A unit stands behind the last of several numbers.
  const behind = [...value.matchAll(/\d[\d,.]*(?: (ms|s|min)\b)?/g)].slice(at);
  return units ? units[behind.find(([, unit]) => unit)?.[1]] : 1;
}
