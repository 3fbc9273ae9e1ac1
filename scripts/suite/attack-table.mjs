// The known attacks in a run of the suite: the steps that have their tests, and the table of what
// became of those.
import { problems, rowsWithTests } from "../attack-rows.mjs";
import { withNeeded } from "./steps.mjs";

const MARKS = { passed: "ok", failed: "FAILED", missing: "NOT RUN", skipped: "SKIPPED" };

/** The steps with all tests of the rows, and no more files than they need. */
export function attackSteps() {
  const named = rowsWithTests().flatMap(({ tests }) => tests.map(({ file }) => file));
  const files = (folder) => [...new Set(named)].filter((file) => file.startsWith(folder));
  const native = "cargo test --package room-core --locked --no-fail-fast".split(" ");
  const only = {
    workerd: { files: files("tests/workerd/") },
    own: { files: files("tests/own/") },
    native: { commands: [native] },
  };
  const steps = withNeeded(["attacks", "faults", "workerd", "own", "native"]);
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
