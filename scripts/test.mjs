// Runs the test suite: `npm test` what a change can break. Under CI a test that cannot run is a
// failure.
import { attackSteps, attackTable } from "./suite/attack-table.mjs";
import { keepFigures, secondsOfFiles } from "./suite/figures.mjs";
import { summary } from "./suite/report.mjs";
import { runSteps } from "./suite/run.mjs";
import { stepsSince } from "./suite/since.mjs";
import { STEPS, stepsFor, stepsOf } from "./suite/steps.mjs";
import { stop } from "./stop.mjs";
import { HELP, oneOf, readFlags } from "./usage.mjs";

/** The step that takes the tests of all known attacks, wherever they are. */
const ATTACKS = "attacks";
const PARTS = STEPS.map(({ name }) => name);
/** Each flag: name, default or `undefined`, what it takes, what it means. */
const FLAGS = [
  ["gates", false, "", "Also what the README promises, as CI does."],
  ["only", undefined, "step", `One step and what it needs: ${PARTS.join("|")}.`],
  ["since", undefined, "commit", "The tests of what has changed since then."],
  HELP,
];

const more = { page: "tests/README.md" };
const { values: options } = readFlags("test", FLAGS, process.argv.slice(2), more);
const began = performance.now();
const chosen = stepsOfRun();
if (chosen.length === 0) stop("nothing that a test reads has changed");
const steps = await runSteps(chosen, secondsOfFiles());
const isWhole = !options.only && !options.since;
const hasAttacks = isWhole || options.only === ATTACKS;
const attacksHold = !hasAttacks || attackTable(steps.flatMap(({ results }) => results));
const wallSeconds = (performance.now() - began) / 1_000;
summary(steps, wallSeconds);
if (isWhole) keepFigures(options.gates ? "gates" : "change", steps, wallSeconds);
process.exit(attacksHold && steps.every(({ passed }) => passed) ? 0 : 1);

function stepsOfRun() {
  if (options.since) return stepsSince(options.since);
  if (!options.only) return stepsOf(options);
  if (options.only === ATTACKS) return attackSteps();
  return stepsFor(oneOf(options.only, PARTS, "--only"));
}
