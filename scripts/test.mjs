// Runs the test suite: `npm test` what a change can break, `npm test -- --gates` also what the
// README promises, as CI does. `--only <step>` runs one step and what it needs, `--since <commit>`
// the tests of what has changed since then. Under CI a test that cannot run is a failure.
import { parseArgs } from "node:util";

import { attackSteps, attackTable } from "./suite/attack-table.mjs";
import { keepFigures, secondsOfFiles } from "./suite/figures.mjs";
import { summary } from "./suite/report.mjs";
import { runSteps } from "./suite/run.mjs";
import { stepsSince } from "./suite/since.mjs";
import { STEPS, stepsFor, stepsOf } from "./suite/steps.mjs";
import { stop } from "./stop.mjs";

/** The step that takes the tests of all known attacks, wherever they are. */
const ATTACKS = "attacks";
const USAGE =
  "usage: npm test -- [--gates | --since <commit> | " +
  `--only <${STEPS.map(({ name }) => name).join("|")}>]`;

const options = parameters();
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

function parameters() {
  try {
    const text = { type: "string" };
    const gates = { type: "boolean", default: false };
    const { values } = parseArgs({ options: { gates, only: text, since: text } });
    return values;
  } catch (error) {
    return stop(`${error.message}\n  ${USAGE}`);
  }
}

function stepsOfRun() {
  if (options.since) return stepsSince(options.since);
  if (!options.only) return stepsOf(options);
  if (options.only === ATTACKS) return attackSteps();
  return stepsFor(options.only) ?? stop(USAGE);
}
