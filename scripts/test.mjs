// Runs the whole test suite, cheapest first, and says what ran. `--only <step>` runs one step (and
// the build where it needs one). Under CI a step that cannot run is a failure.
import { spawn } from "node:child_process";
import fs from "node:fs";

const IN_CI = process.env.CI === "true";

/**
 * The steps in their order.
 *
 * The `commands` of a step run one after the other, even if one fails. A step with a `folder` runs
 * the tests for Node in it; each says SKIPPED where the machine lacks something. A step with `inCi`
 * runs outside of CI only when it is asked for. A step with `built` needs the build, and so does a
 * folder without `built: false`.
 */
const STEPS = [
  { name: "format", commands: [words("cargo fmt --all --check")] },
  {
    name: "lints",
    commands: [
      words("node node_modules/oxlint/bin/oxlint"),
      words("cargo clippy --workspace --all-targets --all-features --locked -- -D warnings"),
    ],
  },
  {
    name: "documentation",
    commands: [words("cargo doc --workspace --no-deps --document-private-items --locked")],
    environment: { RUSTDOCFLAGS: "-D warnings" },
  },
  { name: "native", commands: [words("cargo test --workspace --locked --no-fail-fast")] },
  { name: "build", commands: [words("node scripts/build.mjs --debug")] },
  { name: "tidy", folder: "tests/tidy", built: false },
  { name: "scripts", folder: "tests/scripts", built: false },
  { name: "golden", folder: "tests/golden", built: false },
  { name: "languages", folder: "tests/languages" },
  { name: "workerd", folder: "tests/workerd" },
  { name: "deploy", folder: "tests/deploy" },
  { name: "attacks", commands: [words("node scripts/attacks.mjs")], built: true },
  { name: "soak", commands: [words("node scripts/soak.mjs")], inCi: true, built: true },
  { name: "library", folder: "client/test" },
  { name: "clients", folder: "tests/clients" },
  { name: "browser", folder: "tests/browser" },
  { name: "fuzz", commands: [words("node scripts/fuzz.mjs")], inCi: true },
  { name: "bare", folder: "tests/bare", built: false, inCi: true },
  { name: "mutants", commands: [words("node scripts/mutants.mjs --change")], inCi: true },
  { name: "bench", commands: [words("node bench/main.mjs --gate")], inCi: true, built: true },
];

/** How many lines of a failed step's output are shown once more at the very end. */
const LINES_SHOWN_MAX = 60;
/** The line at which the reports of Node and Cargo begin to say what failed. */
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

async function perform({ name, folder, environment, commands = [nodeTest(folder)] }) {
  console.log(`\n== ${name} ${"=".repeat(76 - name.length)}`);
  const began = Date.now();
  const runs = [];
  for (const command of commands) runs.push(await run(command, environment));
  const seconds = (Date.now() - began) / 1_000;
  const output = runs.map((one) => one.output).join("");
  const skipped = Number(/^\S+ skipped (\d+)$/m.exec(output)?.[1] ?? 0);
  const note = skipped > 0 ? `${skipped} tests SKIPPED, see above` : "";
  const passed = runs.every(({ code }) => code === 0) && !(IN_CI && skipped > 0);
  return { name, outcome: passed ? "passed" : "FAILED", seconds, note, output };
}

/** Shows the output of a command as it comes, and keeps it. */
function run([program, ...parameters], environment) {
  const colour = { CARGO_TERM_COLOR: process.stdout.isTTY ? "always" : "auto" };
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...colour, ...environment },
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

/**
 * The command that runs the tests of a folder, one file after the other: each starts a workerd of
 * its own, and some compare times.
 */
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
      `${name.padEnd(13)} ${outcome.padEnd(8)} ${seconds.toFixed(1).padStart(7)} s  ${note}`,
    );
  }
  for (const { name, output } of all.filter(({ outcome }) => outcome === "FAILED")) {
    console.log(`\n== ${name} failed ${"=".repeat(69 - name.length)}\n${failuresIn(output)}`);
  }
}

/** Finds what failed in an output: the list of failures if there is one, or the last lines. */
function failuresIn(output) {
  const list = FAILURES.exec(output);
  const lines = output.slice(list?.index ?? 0).trimEnd().split("\n");
  return (list ? lines.slice(0, LINES_SHOWN_MAX) : lines.slice(-LINES_SHOWN_MAX)).join("\n");
}

function words(text) {
  return text.split(" ");
}
