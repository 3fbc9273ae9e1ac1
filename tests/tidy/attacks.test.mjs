// Checks that every known attack has tests that are there, and that docs/security.md names them.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { MUTANTS } from "../attacks/mutants.mjs";
import { attackSteps } from "../../scripts/suite/attack-table.mjs";
import { DOCUMENT, problems, rowsWithTests, withTable } from "../../scripts/attack-rows.mjs";

const ROOT = path.resolve(import.meta.dirname, "..", "..");

test("every attack has tests, and each of them is there", () => {
  assert.deepEqual(problems(), []);
});

test("`npm test -- --only attacks` runs every test of a row", () => {
  const steps = attackSteps();
  const packages = steps.flatMap(({ commands = [] }) => commands).flat();
  const runs = (file) =>
    steps.some((step) => step.files?.includes(file) ?? path.dirname(file) === step.folder) ||
    (file.endsWith(".rs") && packages.includes(file.split("/")[0]));
  const left = rowsWithTests().flatMap(({ tests }) => tests.filter(({ file }) => !runs(file)));
  assert.deepEqual(left, []);
});

test("docs/security.md has the table of rows and tests", () => {
  const text = fs.readFileSync(path.join(ROOT, DOCUMENT), "utf8");
  const outOfDate = "out of date: run `node scripts/attacks.mjs --write`";
  assert.equal(text, withTable(text), outOfDate);
});

test("every switch finds what it switches off, and each row has one", () => {
  for (const { row, file, from, test: title } of MUTANTS) {
    const text = fs.readFileSync(path.join(ROOT, file), "utf8");
    assert.equal(text.split(from).length, 2, `row ${row}: ${file} does not have once: ${from}`);
    const { tests } = rowsWithTests().find(({ number }) => number === row);
    assert.ok(tests.some((one) => one.title === title), `row ${row} has no test "${title}"`);
  }
  const isSwitched = (number) => MUTANTS.some(({ row }) => row === number);
  const without = rowsWithTests().filter(({ number }) => !isSwitched(number));
  assert.deepEqual(without.map(({ number }) => number), []);
});
