// The known attacks in a run of the suite: the steps that have their tests, and the table of what
// became of those.
import path from "node:path";

import { problems, rowsWithTests } from "../attack-rows.mjs";
import { stepsOf, withNeeded } from "./steps.mjs";

const MARKS = { passed: "ok", failed: "FAILED", missing: "NOT RUN", skipped: "SKIPPED" };

/** Steps that run as a whole: every test of theirs is one of an attack. */
const WHOLE = ["attacks", "faults"];

/** The steps with all tests of the rows, and no more files than they need. */
export function attackSteps() {
  const named = [...new Set(rowsWithTests().flatMap(({ tests }) => tests.map(({ file }) => file)))];
  const filesOf = ({ folder }) => named.filter((file) => path.posix.dirname(file) === folder);
  const inPart = stepsOf({ gates: false })
    .filter((step) => !WHOLE.includes(step.name) && filesOf(step).length > 0)
    .map((step) => [step.name, { files: filesOf(step) }]);
  const rust = named.filter((file) => file.endsWith(".rs")).map((file) => file.split("/")[0]);
  const packages = [...new Set(rust)].flatMap((name) => ["--package", name]);
  const native = ["cargo", "test", ...packages, "--locked", "--no-fail-fast"];
  const only = Object.fromEntries([...inPart, ["native", { commands: [native] }]]);
  const steps = withNeeded([...WHOLE, ...Object.keys(only)]);
  return steps.map((step) => ({ ...step, ...only[step.name] }));
}

/**
 * Prints each row with its tests and what became of them.
 *
 * @param {{ name: string, outcome: string }[]} results of all tests of a run
 * @returns {boolean} false if a test of a row failed or did not run
 */
export function attackTable(results) {
  console.log("\nrow  tests  result   attack");
  let areAllFine = true;
  for (const { number, attack, tests } of rowsWithTests()) {
    const outcomes = tests.map(({ title }) => outcomeOf(title, results));
    const worst = ["failed", "missing", "skipped"].find((one) => outcomes.includes(one));
    const outcome = tests.length === 0 ? "missing" : (worst ?? "passed");
    areAllFine &&= outcome === "passed" || outcome === "skipped";
    const cells = [String(number).padStart(3), String(tests.length).padStart(6)];
    console.log(`${cells.join(" ")}  ${MARKS[outcome].padEnd(8)} ${attack}`);
    for (const [at, { file, title }] of tests.entries()) {
      if (outcomes[at] !== "passed") console.log(`${MARKS[outcomes[at]]} ${file}: ${title}`);
    }
  }
  const wrong = problems();
  for (const one of wrong) console.log(`WRONG  ${one}`);
  return areAllFine && wrong.length === 0;
}

/** What became of a test and of its variants, whose names begin with its own. */
function outcomeOf(title, results) {
  const outcomes = results.filter(({ name }) => name.startsWith(title)).map((one) => one.outcome);
  return ["failed", "skipped"].find((one) => outcomes.includes(one)) ?? outcomes[0] ?? "missing";
}
