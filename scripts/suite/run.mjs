// Runs steps of the suite, lanes side by side, and shows each piece of work when it is over.
import os from "node:os";

import { runCommand } from "./command.mjs";
import { runTestFile, testFiles } from "./node-tests.mjs";
import { Pool } from "./pool.mjs";
import { ALONE, placesOf } from "./steps.mjs";

/** Under CI a test that cannot run is a failure. */
const IN_CI = process.env.CI === "true";
/** What compiles leaves the processors to the tests beside it, which may wait for an answer. */
const COMMAND_PRIORITY = os.constants.priority.PRIORITY_LOW;
/** The line of Cargo's report on one test. */
const CARGO_TEST = /^test (?:\S+::)?(\w+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/gm;
const CARGO_OUTCOMES = { ok: "passed", FAILED: "failed", ignored: "skipped" };

/**
 * Runs all `steps`. Resolves with one entry for each: its `name`, `passed`, the `results` of its
 * tests, the `seconds` that its work took, those of a processor, and the `output` of what failed.
 *
 * @param {object[]} steps
 * @param {Map<string, number>} [secondsOf] how long files took before: the longest begin first
 */
export async function runSteps(steps, secondsOf = new Map()) {
  const places = placesOf(os.availableParallelism());
  const run = new Run(steps, secondsOf, places);
  const inLane = (wanted) => steps.filter(({ lane }) => lane === wanted);
  const lanes = [...new Set(steps.map(({ lane }) => lane))].filter((lane) => lane !== ALONE);
  await Promise.all(
    lanes.map((lane) => (places[lane] ? run.sideBySide(inLane(lane)) : run.inTurn(inLane(lane)))),
  );
  await run.inTurn(inLane(ALONE));
  return steps.map((step) => run.ended.get(step.name));
}

class Run {
  /** The steps that are over, by name. */
  ended = new Map();
  /** The end of each step, as a promise, and what fulfils it. */
  #endOf = new Map();
  #tellEnd = new Map();
  /** Where pieces of work wait for a place, by lane. */
  #pools = new Map();
  #secondsOf;

  constructor(steps, secondsOf, places) {
    this.#secondsOf = secondsOf;
    for (const { name, lane } of steps) {
      this.#pools.set(lane, this.#pools.get(lane) ?? new Pool(places[lane] ?? 1));
      this.#endOf.set(name, new Promise((tell) => this.#tellEnd.set(name, tell)));
    }
  }

  /** Runs steps one after the other. */
  async inTurn(steps) {
    for (const step of steps) await this.#begin(step);
  }

  /** Runs steps at once; those that need another one wait for it. */
  async sideBySide(steps) {
    await Promise.all(steps.map((step) => this.#begin(step)));
  }

  async #begin(step) {
    const before = await this.#endOf.get(step.needs);
    const end = before && !before.passed ? this.#leaveOut(step) : await this.#perform(step);
    this.ended.set(step.name, end);
    this.#tellEnd.get(step.name)(end);
  }

  async #perform(step) {
    const { name, lane, folder, environment, commands = [] } = step;
    const pool = this.#pools.get(lane);
    const pieces = [];
    for (const command of commands) {
      pieces.push(await pool.run(() => this.#command(step, command)));
    }
    const files = [...(step.files ?? (folder ? testFiles(folder) : []))].sort(
      (one, other) => this.#secondsBefore(other) - this.#secondsBefore(one),
    );
    const ofFiles = files.map((file) => pool.run(() => this.#file(file, environment)));
    pieces.push(...(await Promise.all(ofFiles)));
    return this.#end(name, pieces);
  }

  #secondsBefore(file) {
    return this.#secondsOf.get(file) ?? 0;
  }

  async #command({ name, lane, environment }, command) {
    const began = performance.now();
    const priority = lane === ALONE ? undefined : COMMAND_PRIORITY;
    const { code, output, cpuSeconds } = await runCommand(command, environment, priority);
    const results = [...output.matchAll(CARGO_TEST)].map(([, test, word]) => ({
      name: test,
      outcome: CARGO_OUTCOMES[word],
    }));
    const passed = code === 0;
    const seconds = since(began);
    const title = command.join(" ");
    return show(name, { title, passed, results, output, seconds, cpuSeconds });
  }

  async #file(file, environment) {
    const began = performance.now();
    const { code, results, output, cpuSeconds } = await runTestFile(file, environment);
    const without = results.length === 0 || (IN_CI && results.some(isSkipped));
    const passed = code === 0 && !without && results.every(({ outcome }) => outcome !== "failed");
    const seconds = since(began);
    return show(undefined, { title: file, passed, results, output, seconds, cpuSeconds });
  }

  #leaveOut({ name, needs }) {
    const output = `not run, since ${needs} failed\n`;
    const piece = { title: name, passed: false, results: [], output, seconds: 0, cpuSeconds: 0 };
    return this.#end(name, [piece]);
  }

  #end(name, pieces) {
    return {
      name,
      passed: pieces.every(({ passed }) => passed),
      results: pieces.flatMap(({ results }) => results),
      seconds: pieces.reduce((sum, { seconds }) => sum + seconds, 0),
      cpuSeconds: pieces.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      pieces: pieces.map(({ title, seconds }) => ({ title, seconds })),
      output: pieces.filter(({ passed }) => !passed).map(told).join("\n"),
    };
  }
}

/** True for a test that did not run. */
function isSkipped({ outcome }) {
  return outcome === "skipped";
}

function show(step, piece) {
  const { title, passed, seconds, cpuSeconds, output } = piece;
  const mark = passed ? "passed" : "FAILED";
  const times = `${seconds.toFixed(1)} s (CPU ${cpuSeconds.toFixed(1)} s)`;
  const head = `\n== ${step ? `${step}: ` : ""}${title}: ${mark} in ${times}`;
  console.log(`${head}\n${output.trimEnd()}`);
  return piece;
}

function told({ title, output }) {
  return `== ${title}\n${output.trimEnd()}`;
}

function since(began) {
  return (performance.now() - began) / 1_000;
}
