// Files of tests for Node: which there are, and one run of each in a process of its own.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { runCommand } from "./command.mjs";

/** Where Node keeps what it has compiled: most files load the same large libraries. */
const COMPILED = path.resolve("target", "suite", "compiled");
/** Longer than any file takes: a test that waits for ever does not hold up the run for ever. */
const FILE_MS = 1_500_000;
const REPORTER = path.join(import.meta.dirname, "results-reporter.mjs");
/** The lines in which Node's reporter counts what the suite counts itself. */
const COUNTS = /^ℹ (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n/gm;

/** Lists the files of tests in a folder, by their paths from the checkout. */
export function testFiles(folder) {
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).filter((name) => name.endsWith(".test.mjs"));
  return names.sort().map((name) => `${folder}/${name}`);
}

/**
 * Runs one file, with the variables of its step. Resolves with the `results` of its tests
 * ([{ name, outcome }], with an outcome of "passed", "failed" or "skipped"), its exit `code`, what
 * it printed and its `cpuSeconds`.
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
  const results = linesOf(kept).map((line) => JSON.parse(line));
  fs.rmSync(folder, { recursive: true, force: true });
  return { results, code, output: output.replace(COUNTS, ""), cpuSeconds };
}

function linesOf(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}
