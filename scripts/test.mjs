// Runs the whole test suite, cheapest first, and says what ran. `--only <step>` runs one step (and
// the build where it needs one). Under CI a step that cannot run is a failure.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";

const IN_CI = process.env.CI === "true";

/**
 * In order. `folder` holds tests for Node; each says SKIPPED where the machine lacks something. A
 * step with `inCi` takes part elsewhere only when asked for; one with `built` needs the build, as
 * all folders do but those with `built: false`.
 */
const STEPS = [
  { name: "format", command: ["cargo", "fmt", "--all", "--check"] },
  {
    name: "lints",
    command: words("cargo clippy --workspace --all-targets --all-features --locked -- -D warnings"),
  },
  { name: "native", command: words("cargo test --workspace --locked --no-fail-fast") },
  { name: "build", command: ["node", "scripts/build.mjs", "--debug"] },
  { name: "tidy", folder: "tests/tidy" },
  { name: "scripts", folder: "tests/scripts", built: false },
  { name: "languages", folder: "tests/languages" },
  { name: "workerd", folder: "tests/workerd" },
  { name: "attacks", folder: "tests/attacks" },
  { name: "library", folder: "client/test" },
  { name: "clients", folder: "tests/clients" },
  { name: "browser", folder: "tests/browser" },
  { name: "bare", folder: "tests/bare", built: false, inCi: true },
  { name: "bench", command: words("node bench/main.mjs --gate"), inCi: true, built: true },
];

/** What a failed step said last is shown once more at the very end, at most this much of it. */
const LINES_SHOWN_MAX = 60;
/** Where Node's and Cargo's reports of a run begin to say what failed. */
const FAILURES = /^(?:✖ failing tests:|failures:)$/m;

const results = [];
for (const step of chosen(process.argv.slice(2))) results.push(await perform(step));
summary(results);
process.exit(results.every(({ outcome }) => outcome !== "FAILED") ? 0 : 1);

function chosen([flag, only]) {
  if (flag === undefined) return STEPS.filter((step) => isPresent(step) && (IN_CI || !step.inCi));
  const wanted = STEPS.find(({ name }) => name === only);
  if (flag !== "--only" || !wanted || !isPresent(wanted)) {
    const names = STEPS.filter(isPresent).map(({ name }) => name);
    console.error(`usage: npm test -- [--only <${names.join("|")}>]`);
    process.exit(2);
  }
  const needsBuild = wanted.built ?? wanted.folder !== undefined;
  return needsBuild ? [STEPS.find(({ name }) => name === "build"), wanted] : [wanted];
}

function isPresent({ folder }) {
  return !folder || testFiles(folder).length > 0;
}

async function perform({ name, command, folder }) {
  console.log(`\n== ${name} ${"=".repeat(76 - name.length)}`);
  const began = Date.now();
  const { code, output } = await run(command ?? nodeTest(folder));
  const seconds = (Date.now() - began) / 1_000;
  const skipped = Number(/^\S+ skipped (\d+)$/m.exec(output)?.[1] ?? 0);
  const note = skipped > 0 ? `${skipped} tests SKIPPED, see above` : "";
  const passed = code === 0 && !(IN_CI && skipped > 0);
  return { name, outcome: passed ? "passed" : "FAILED", seconds, note, output };
}

/** Shows the output of a command as it comes, and keeps it. */
function run([program, ...parameters]) {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, CARGO_TERM_COLOR: process.stdout.isTTY ? "always" : "auto" },
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      process.stdout.write(chunk);
      output += chunk;
    });
    child.on("error", (error) => resolve({ code: 1, output: String(error) }));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** One file after the other: each starts a workerd of its own, and some compare times. */
function nodeTest(folder) {
  const options = ["--test", "--test-concurrency=1", "--test-reporter=spec"];
  return ["node", ...options, ...testFiles(folder)];
}

function testFiles(folder) {
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).filter((name) => name.endsWith(".test.mjs"));
  return names.sort().map((name) => `${folder}/${name}`);
}

function summary(all) {
  console.log(`\n== summary ${"=".repeat(69)}`);
  for (const { name, outcome, seconds, note } of all) {
    console.log(
      `${name.padEnd(10)} ${outcome.padEnd(8)} ${seconds.toFixed(1).padStart(7)} s  ${note}`,
    );
  }
  for (const { name, output } of all.filter(({ outcome }) => outcome === "FAILED")) {
    console.log(`\n== ${name} failed ${"=".repeat(69 - name.length)}\n${failuresIn(output)}`);
  }
}

/** What failed, without what passed: the list of failures if there is one, or the last words. */
function failuresIn(output) {
  const list = FAILURES.exec(output);
  const lines = output.slice(list?.index ?? 0).trimEnd().split("\n");
  return (list ? lines.slice(0, LINES_SHOWN_MAX) : lines.slice(-LINES_SHOWN_MAX)).join("\n");
}

function words(text) {
  return text.split(" ");
}
