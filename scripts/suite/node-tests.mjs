// Files of tests for Node: which there are, and one run of each in a process of its own.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { runCommand } from "./command.mjs";
import { END } from "./results-reporter.mjs";

/** Where Node keeps what it has compiled: most files load the same large libraries. */
const COMPILED = path.resolve("target", "suite", "compiled");
/** Longer than any file takes: a test that waits for ever does not hold up the run for ever. */
const FILE_MS = 1_500_000;
const REPORTER = path.join(import.meta.dirname, "results-reporter.mjs");
/** The lines in which Node's reporter counts what the suite counts itself. */
const COUNTS = /^ℹ (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n/gm;
/** What is said of a process without the reporter's last line. */
const ENDED_EARLY = "The process ended before its tests did.";

/** Lists the files of tests in a folder, by their paths from the checkout. */
export function testFiles(folder) {
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).filter((name) => name.endsWith(".test.mjs"));
  return names.sort().map((name) => `${folder}/${name}`);
}

/**
 * Runs one file, with the variables of its step. Resolves with the `results` of its tests
 * ([{ name, outcome }], with an outcome of "passed", "failed" or "skipped"), its exit `code`, what
 * it printed and its `cpuSeconds`. A process that ends before its tests do has failed.
 */
export async function runTestFile(file, variables) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-results-"));
  const kept = path.join(folder, "results");
  // Without `--test`, by which Node would start another process for the one file.
  const options = [
    ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
    ...[`--test-reporter=${REPORTER}`, `--test-reporter-destination=${kept}`],
  ];
  const environment = { NODE_COMPILE_CACHE: COMPILED, ...variables };
  const command = ["node", ...options, file];
  const { code, output, cpuSeconds } = await runCommand(command, environment, 0, FILE_MS);
  const lines = linesOf(kept);
  fs.rmSync(folder, { recursive: true, force: true });
  const results = lines.filter((line) => line !== END).map((line) => JSON.parse(line));
  const told = { results, output: output.replace(COUNTS, ""), code, cpuSeconds };
  if (lines.at(-1) === END) return told;
  return { ...told, output: `${told.output}${ENDED_EARLY}\n`, code: code || 1 };
}

function linesOf(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}
