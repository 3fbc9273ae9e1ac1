// Switches the mitigations of the known attacks off, one after the other, in a copy of the checkout
// and demands that a test of the row fails: `node scripts/attack-mutants.mjs`, or with numbers of
// rows only those. It takes some minutes, needs the build of `npm run build`, and is no part of CI.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { MUTANTS } from "../tests/attacks/mutants.mjs";
import { rowsWithTests } from "./attack-rows.mjs";
import { stop } from "./stop.mjs";

const COPY = path.resolve("target", "mutants", "attacks");
/** What the copy does without, or has as it is here. */
const NOT_COPIED = ["node_modules", "target", ".git"];
const ENVIRONMENT = {
  ...process.env,
  // The same folder for all of them: only the core is built anew for each.
  CARGO_TARGET_DIR: path.resolve("target", "mutants", "build"),
  PROPTEST_RNG_SEED: "1",
};
const PASSED = /^test result: ok\. [1-9]|^\S+ pass [1-9]/m;

const rows = process.argv.slice(2).map(Number);
const chosen = MUTANTS.filter(({ row }) => rows.length === 0 || rows.includes(row));
if (chosen.length === 0) stop("usage: node scripts/attack-mutants.mjs [row]...");
copyCheckout();
const unnoticed = [];
for (const mutant of chosen) {
  const { row, breaks, test } = mutant;
  const isNoticed = tried(mutant);
  console.log(`row ${String(row).padStart(2)}  ${breaks}: ${isNoticed ? test : "NOT NOTICED"}`);
  if (!isNoticed) unnoticed.push(mutant);
}
const count = new Set(chosen.map(({ row }) => row)).size;
console.log(`${chosen.length - unnoticed.length} of ${chosen.length} noticed, ${count} rows`);
process.exit(unnoticed.length === 0 ? 0 : 1);

/** True if the test passes without the mutant and fails with it. */
function tried({ row, file, from, to, test }) {
  const { tests } = rowsWithTests().find(({ number }) => number === row);
  const place = tests.find(({ title }) => title === test) ?? stop(`row ${row} has no test ${test}`);
  const target = path.join(COPY, file);
  const original = fs.readFileSync(target, "utf8");
  if (original.split(from).length !== 2) stop(`${file} does not have once: ${from}`);
  if (!passes(place)) stop(`${test} fails without any mutant`);
  // A function, since in a text `$&` and the like mean something.
  fs.writeFileSync(target, original.replace(from, () => to));
  const passed = passes(place);
  fs.writeFileSync(target, original);
  return !passed;
}

/** True if a test passes in the copy; ends the process if it cannot be run at all. */
function passes({ file, title }) {
  const options = { cwd: COPY, env: ENVIRONMENT, encoding: "utf8" };
  const { stdout, stderr } = file.endsWith(".rs")
    ? spawnSync("cargo", cargoParameters(file, title), options)
    : spawnSync(process.execPath, nodeParameters(file, title), options);
  if (PASSED.test(stdout)) return !/FAILED|^\S+ fail [1-9]/m.test(stdout);
  if (!/FAILED|^\S+ fail [1-9]/m.test(stdout)) stop(`${title} cannot be run:\n${stdout}${stderr}`);
  return false;
}

function cargoParameters(file, title) {
  const [, folder, target] = file.split("/");
  const where = folder === "src" ? ["--lib"] : ["--test", target.replace(/\.rs$/, "")];
  return ["test", "--locked", "--package", "room-core", ...where, "--", title];
}

function nodeParameters(file, title) {
  const pattern = title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return ["--test", "--test-reporter=spec", `--test-name-pattern=${pattern}`, file];
}

function copyCheckout() {
  fs.rmSync(COPY, { recursive: true, force: true });
  fs.mkdirSync(COPY, { recursive: true });
  for (const name of fs.readdirSync(".")) {
    if (!NOT_COPIED.includes(name)) fs.cpSync(name, path.join(COPY, name), { recursive: true });
  }
  fs.symlinkSync(path.resolve("node_modules"), path.join(COPY, "node_modules"));
}
