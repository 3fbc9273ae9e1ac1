// `npm run nightly`: what is too long for each change: everything whole, with other seeds each
// time. Every part says what it held and how long it took; `--only <part>` runs one. A part that
// fails prints how to repeat it.
import { keepFigures } from "./suite/figures.mjs";
import { summary } from "./suite/report.mjs";
import { runSteps } from "./suite/run.mjs";
import { ALONE, STEPS } from "./suite/steps.mjs";
import { HELP, oneOf, readFlags } from "./usage.mjs";

const DAY_MS = 86_400_000;
/** All mutants of the core take a day: each night has its part, and a week has all of them. */
const NIGHTS = 7;
const LAST_STORY_MAX = 1_000_000;
const STORIES = 10_000;
/** Each target of the fuzzer gets so many seconds: together about 10^8 executions. */
const FUZZ_SECONDS = 600;
const SIMULATOR = "cargo run --quiet --locked --profile simulator -p room-sim --";

const EVERYTHING = { TEST_SAMPLE: "all", FRESH_SEEDS: "1", PROPTEST_CASES: "5000" };
/** What has a longer part below, or shows the same at any length. */
const LEFT_OUT = ["documentation", "bench"];
const tests = STEPS.filter(({ name }) => !LEFT_OUT.includes(name));
/** The parts, one after the other; each uses the whole machine. */
const PARTS = [
  { name: "stories", commands: [words(`${SIMULATOR} swarm --seeds ${seeds()} --threads 2`)] },
  {
    name: "scenarios",
    commands: [words(`${SIMULATOR} compare --algorithm escrow --data-centers 300 --seeds 1..1`)],
  },
  { name: "client", commands: [words("node scripts/sdk-tests.mjs")] },
  { name: "fuzzing", commands: [words(`node scripts/fuzz.mjs --seconds ${FUZZ_SECONDS}`)] },
  { name: "hour", commands: [words("node scripts/soak.mjs --minutes 60")] },
  { name: "broken laws", commands: [words("cargo run --locked -p xtask -- mutants")] },
  { name: "broken rows", commands: [words("node scripts/attack-mutants.mjs")] },
  { name: "mutants", commands: [words(`node scripts/mutants.mjs --shard ${shard()}`)] },
].map((part) => ({ ...part, lane: ALONE }));

const NAMES = ["tests", ...PARTS.map(({ name }) => name)];
const typed = NAMES.map((name) => (name.includes(" ") ? `"${name}"` : name)).join("|");
const FLAGS = [["only", undefined, "part", `One part: ${typed}.`], HELP];
const page = "docs/simulation.md";
const { only } = readFlags("nightly", FLAGS, process.argv.slice(2), { page }).values;
const parts = only === undefined ? PARTS : PARTS.filter(({ name }) => name === only);
const withTests = only === undefined || only === "tests";
if (only !== undefined) oneOf(only, NAMES, "--only");
Object.assign(process.env, EVERYTHING);
const began = performance.now();
const steps = await runSteps([...(withTests ? tests : []), ...parts]);
const wallSeconds = (performance.now() - began) / 1_000;
summary(steps, wallSeconds);
if (only === undefined) keepFigures("nightly", steps, wallSeconds);
process.exit(steps.every(({ passed }) => passed) ? 0 : 1);

/** Draws the seeds of as many stories, others each night. */
function seeds() {
  const first = 1 + Math.floor(Math.random() * (LAST_STORY_MAX - STORIES));
  return `${first}..${first + STORIES - 1}`;
}

/** Tonight's part of all mutants. */
function shard() {
  return `${Math.floor(Date.now() / DAY_MS) % NIGHTS}/${NIGHTS}`;
}

function words(text) {
  return text.split(" ");
}
