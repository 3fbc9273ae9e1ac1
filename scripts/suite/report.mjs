// What a run of the suite says at its end: each step, what failed, and a line that counts.

/** How many lines of a failed piece of work are shown once more at the very end. */
const LINES_SHOWN_MAX = 60;
/** The line at which the reports of Node and Cargo begin to say what failed. */
const FAILURES = /^(?:✖ failing tests:|failures:)$/m;

/** Prints the summary of steps, as `runSteps` returns them. */
export function summary(steps, wallSeconds) {
  console.log(`\n== summary ${"=".repeat(69)}`);
  for (const step of steps) console.log(lineOf(step));
  console.log(`in all ${minutes(wallSeconds)}, steps side by side`);
  for (const { name, output } of steps.filter(({ passed }) => !passed)) {
    console.log(`\n== ${name} failed ${"=".repeat(69 - name.length)}\n${failuresIn(output)}`);
  }
  const counts = countsOf(steps);
  console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
}

/** Counts the tests of steps by outcome; a step without any counts as one. */
export function countsOf(steps) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, results } of steps) {
    for (const { outcome } of results) counts[outcome] += 1;
    const isTold = passed ? results.length > 0 : results.some((one) => one.outcome === "failed");
    if (!isTold) counts[passed ? "passed" : "failed"] += 1;
  }
  return counts;
}

function lineOf({ name, passed, results, seconds, cpuSeconds }) {
  const tests = results.length > 0 ? `${results.length} tests` : "";
  const skipped = results.filter(({ outcome }) => outcome === "skipped").length;
  const note = skipped > 0 ? `${skipped} SKIPPED, see above` : "";
  const cells = [
    name.padEnd(13),
    (passed ? "passed" : "FAILED").padEnd(6),
    tests.padStart(11),
    `${seconds.toFixed(1).padStart(7)} s of work`,
    `${cpuSeconds.toFixed(1).padStart(7)} s of CPU`,
    note,
  ];
  return cells.join("  ").trimEnd();
}

/** Finds what failed in an output: the list of failures if there is one, or the last lines. */
function failuresIn(output) {
  const list = FAILURES.exec(output);
  const lines = output.slice(list?.index ?? 0).trimEnd().split("\n");
  return (list ? lines.slice(0, LINES_SHOWN_MAX) : lines.slice(-LINES_SHOWN_MAX)).join("\n");
}

function minutes(seconds) {
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
