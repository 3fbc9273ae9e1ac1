// Runs every test of the known attacks, here and elsewhere, and prints the rows with their tests
// and results. `--write` puts the table of rows and tests into docs/security.md instead.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

import { DOCUMENT, problems, rowsWithTests, withTable } from "./attack-rows.mjs";

const FOLDERS = ["tests/attacks", "tests/attacks/faults"];
const MARKS = { passed: "ok", failed: "FAILED", missing: "NOT RUN", skipped: "SKIPPED" };

if (process.argv[2] === "--write") {
  fs.writeFileSync(DOCUMENT, withTable(fs.readFileSync(DOCUMENT, "utf8")));
  process.exit(0);
}
const rows = rowsWithTests();
const wrong = problems();
/** What became of each test, by its name. */
const outcomes = new Map();
await runNode(FOLDERS.flatMap(testFiles));
const named = rows.flatMap(({ tests }) => tests);
const elsewhere = named.filter(({ file }) => file.endsWith(".mjs") && !isHere(file));
const patterns = elsewhere.map(({ title }) => new RegExp(escaped(title)));
await runNode(unique(elsewhere.map(({ file }) => file)), patterns);
await runNative(named.filter(({ file }) => file.endsWith(".rs")));
const areFine = report();
process.exit(areFine && wrong.length === 0 ? 0 : 1);

/** Runs files of tests for Node, one after the other, or only the tests of these names. */
async function runNode(files, testNamePatterns) {
  if (files.length === 0) return;
  const stream = run({ files, concurrency: 1, ...(testNamePatterns && { testNamePatterns }) });
  stream.on("test:pass", ({ name, skip }) => keep(name, skip ? "skipped" : "passed"));
  stream.on("test:fail", ({ name }) => keep(name, "failed"));
  const shown = stream.compose(new spec());
  for await (const chunk of shown) process.stdout.write(chunk);
}

/** Runs tests of the core by their names. */
async function runNative(tests) {
  const targets = unique(tests.map(({ file }) => targetOf(file))).sort();
  const names = unique(tests.map(({ title }) => title));
  const options = ["test", "--locked", "--package", "room-core", "--no-fail-fast"];
  const parameters = [...options, ...targets.flatMap((one) => one.split(" ")), "--", ...names];
  const child = spawn("cargo", parameters, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  for (const [, name, word] of output.matchAll(/^test (?:\S+::)?(\w+) \.\.\. (\w+)$/gm)) {
    keep(name, word === "ok" ? "passed" : "failed");
  }
  if (code !== 0) process.stdout.write(output);
}

/** The options by which cargo finds the tests of a file. */
function targetOf(file) {
  const [, folder, target] = file.split("/");
  return folder === "src" ? "--lib" : `--test ${target.replace(/\.rs$/, "")}`;
}

function keep(name, outcome) {
  // Of two tests of one name the one that failed counts.
  if (outcomes.get(name) !== "failed") outcomes.set(name, outcome);
}

/** Prints the rows; false if a test of one failed or did not run, or any other test failed. */
function report() {
  console.log("\nrow  tests  result   attack");
  let areAllFine = true;
  for (const { number, attack, tests } of rows) {
    const results = tests.map(({ title }) => resultOf(title));
    const worst = ["failed", "missing", "skipped"].find((one) => results.includes(one));
    const result = tests.length === 0 ? "missing" : (worst ?? "passed");
    areAllFine &&= result === "passed" || result === "skipped";
    const cells = [String(number).padStart(3), String(tests.length).padStart(6)];
    console.log(`${cells.join(" ")}  ${MARKS[result].padEnd(8)} ${attack}`);
    for (const [at, { file, title }] of tests.entries()) {
      console.log(`${" ".repeat(12)}${MARKS[results[at]].padEnd(8)} ${file}: ${title}`);
    }
  }
  for (const one of wrong) console.log(`WRONG  ${one}`);
  // Some tests belong to no row: those of faults.
  const failed = [...outcomes].filter(([, outcome]) => outcome === "failed");
  for (const [name] of failed) console.log(`FAILED ${name}`);
  return areAllFine && failed.length === 0;
}

/** What became of a test and of its variants, whose names begin with its own. */
function resultOf(title) {
  const found = [...outcomes].filter(([name]) => name.startsWith(title));
  const results = found.map(([, outcome]) => outcome);
  return ["failed", "skipped"].find((one) => results.includes(one)) ?? results[0] ?? "missing";
}

function testFiles(folder) {
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).filter((name) => name.endsWith(".test.mjs"));
  return names.sort().map((name) => `${folder}/${name}`);
}

function isHere(file) {
  return FOLDERS.includes(path.dirname(file));
}

function unique(items) {
  return [...new Set(items)];
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
