// `npm run mutants`: breaks the core in thousands of small ways, one after the other, and says
// which of them no test notices. All of it takes a day, so flags choose parts.
//
// A mutant that no test can notice, since it changes nothing, stands in .cargo/mutants.toml.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { CORE, Tally } from "./mutants-summary.mjs";
import { addToPath } from "./rust.mjs";
import { stop } from "./stop.mjs";
import { HELP, readFlags, wholeNumber } from "./usage.mjs";

const VERSION = "27.1.0";
const TOOLS = path.resolve("target", "tools");
const FOUND = path.resolve("target", "mutants", "found");
/** How long `--change` takes at most, in milliseconds: beyond, no further mutant is tried. */
const CHANGE_MS = 9 * 60_000;
/** The part of that time that the first tests get; the rest is for the others. */
const FIRST_PASS = 0.6;
/** Tests that take seconds, of sizes and chances, or time things: no break is theirs alone. */
const SLOW_TESTS = [
  "no_value_is_too_large_however_much_happens",
  "each_of_six_wins_as_often_whatever_the_phase_and_the_moment_of_the_place",
  "a_token_is_compared_as_slowly_wherever_it_differs",
  "a_room_among_a_thousand_is_found_nearly_as_fast_as_among_twenty",
];
/** Tests that take seconds where nothing is optimised. */
const HEAVY_TESTS = [
  "everybody_has_the_same_chance_whatever_the_time_of_joining_and_the_way_to_refresh",
  "the_drawn_order_has_nothing_to_do_with_the_time_of_joining",
];
/**
 * The tests that each mutant meets: the quick ones first, in a build that is made in seconds, and
 * all where none of those fails.
 */
const PASSES = [
  { built: ["--lib"], optLevel: 0, skipped: [...SLOW_TESTS, ...HEAVY_TESTS] },
  { built: ["--lib", "--test=*"], optLevel: 1, skipped: SLOW_TESTS },
];
/**
 * The laws are tried with few cases, the same ones for each mutant. What the core needs is built
 * once and not for each run anew, in a folder of its own: cargo would take a broken core that lies
 * in the usual one for the one of this checkout.
 */
const ENVIRONMENT = {
  PROPTEST_CASES: "32",
  PROPTEST_RNG_SEED: "1",
  CARGO_TARGET_DIR: path.resolve("target", "mutants", "build"),
  CARGO_PROFILE_DEV_DEBUG: "0",
  CARGO_PROFILE_TEST_DEBUG: "0",
};
/** The statuses of cargo-mutants: all noticed, some missed, some made a test wait for ever. */
const DONE = [0, 2, 3];

/** Each flag: name, default or `undefined`, what it takes, what it means. */
const FLAGS = [
  ["file", [], "name", "Some files below room-core/src, such as 'machines/global_aggregator*'."],
  ["shard", undefined, "k/n", "One in n of every file; 0/20 is the first of twenty."],
  ["sample", undefined, "number", "Instead: about so many, of every file."],
  ["seed", undefined, "number", "Which of them. Default: by chance."],
  ["change", false, "", "Instead: what differs from a base, where the branch left main if none."],
  HELP,
];

const began = Date.now();
const wanted = parameters(process.argv.slice(2));
if (wanted.isChange) wanted.forCargo.push("--in-diff", diffSince(wanted.base ?? base()));
bringCargoMutants();
if (wanted.sample) wanted.forCargo.push("--shard", shardOf(wanted));
const tally = new Tally();
fs.rmSync(FOUND, { recursive: true, force: true });
fs.mkdirSync(FOUND, { recursive: true });
for (const [pass, suite] of PASSES.entries()) {
  const again = pass > 0 ? ["--iterate"] : [];
  const part = pass > 0 ? 1 : FIRST_PASS;
  const endsAt = wanted.isChange ? began + CHANGE_MS * part : Infinity;
  await tryMutants([...again, ...wanted.forCargo], suite, endsAt);
  tally.add(FOUND);
}
console.log(`\n${tally.text || "no mutant to try"}`);
process.exit(tally.missed.size > 0 ? 1 : 0);

/** Reads the command line: what goes on to cargo-mutants, and the base of a change. */
function parameters(all) {
  const more = { takes: "[base]", page: "tests/README.md" };
  const { values, positionals } = readFlags("mutants", FLAGS, all, more);
  const { file, shard, sample, seed, change: isChange } = values;
  const parts = [file.length > 0 || shard !== undefined, sample !== undefined, isChange];
  if (parts.filter(Boolean).length > 1) stop("take --file and --shard, or --sample, or --change");
  const [base] = positionals;
  if (base !== undefined && !isChange) stop("a base needs --change before it");
  if (seed !== undefined && sample === undefined) stop("--seed needs --sample <number>");
  const forCargo = file.flatMap((name) => ["--file", `${CORE}/${name}`]);
  if (shard !== undefined) forCargo.push("--shard", shard);
  if (sample === undefined) return { isChange, base, forCargo };
  return { isChange, forCargo, ...sampleOf(sample, seed) };
}

/** Reads how many mutants to draw, and with which seed; one by chance where none is given. */
function sampleOf(count, number = Math.floor(Math.random() * 1_000)) {
  const seed = Number(number);
  if (!(seed >= 0 && Number.isInteger(seed))) stop("--seed must be a whole number from 0");
  return { sample: wholeNumber(count, "--sample"), seed };
}

/** The part of all mutants that is a sample: one of so many like parts, by the seed. */
function shardOf({ sample, seed }) {
  const list = ["mutants", "--list", "--package", "room-core"];
  const { status, stdout, stderr } = spawnSync("cargo-mutants", list, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status !== 0) stop(`cargo-mutants could not list the mutants: ${stderr}`);
  const count = stdout.split("\n").filter(Boolean).length;
  const parts = Math.max(1, Math.round(count / sample));
  console.log(`of ${count} mutants part ${seed % parts} of ${parts}, by seed ${seed}`);
  return `${seed % parts}/${parts}`;
}

/**
 * Finds the commit before a change. On a branch that is where it left main. On main itself it is
 * the commit before the newest one: what landed together lands as one commit or one merge, and a
 * clone does not know more of it.
 */
function base() {
  const head = git("rev-parse", "HEAD");
  for (const main of ["origin/main", "main"]) {
    const left = git("merge-base", main, "HEAD");
    if (left && left !== head) return left;
  }
  return "HEAD~1";
}

/** Writes what differs in the core since `base` to a file; ends the process if that is nothing. */
function diffSince(from) {
  if (!git("rev-parse", "--verify", `${from}^{commit}`)) {
    pass(`${from} is not in this clone (a shallow one?): no change to look at`);
  }
  const differs = git("diff", "--no-color", from, "--", CORE);
  if (differs === "") pass(`nothing in ${CORE} differs from ${from}`);
  const file = path.resolve("target", "mutants", "change.diff");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${differs}\n`);
  return file;
}

function pass(sentence) {
  console.log(`mutants: ${sentence}`);
  process.exit(0);
}

/** Returns what git prints; `undefined` if it fails. */
function git(...parameters) {
  const options = { encoding: "utf8", maxBuffer: 1 << 28 };
  const { status, stdout } = spawnSync("git", parameters, options);
  return status === 0 ? stdout.trim() : undefined;
}

/** Installs cargo-mutants once, in this version, into a folder of this checkout. */
function bringCargoMutants() {
  addToPath(path.join(TOOLS, "bin"), "front");
  const { stdout } = spawnSync("cargo-mutants", ["mutants", "--version"], { encoding: "utf8" });
  if (stdout?.trim() === `cargo-mutants ${VERSION}`) return;
  console.log(`Installing cargo-mutants ${VERSION} into ${TOOLS} (once, some minutes) ...`);
  const install = ["install", "--quiet", "--locked", "--root", TOOLS, `cargo-mutants@${VERSION}`];
  const { status } = spawnSync("cargo", install, { stdio: "inherit" });
  if (status !== 0) stop("cargo could not install cargo-mutants: its message stands above");
}

/**
 * Tries the chosen mutants with these tests, no further one after `endsAt`. Ends the process where
 * cargo-mutants could not do its work.
 */
async function tryMutants(chosen, suite, endsAt) {
  const skipped = suite.skipped.flatMap((name) => ["--skip", name]);
  const options = ["--package", "room-core", "--output", FOUND, "--no-times", "--shuffle"];
  // A part is a sample of all files, not the mutants of some.
  if (chosen.includes("--shard")) options.push("--sharding", "round-robin");
  // To the build as well as to the run: of the other tests none is built.
  const built = suite.built.map((part) => `--cargo-arg=${part}`);
  const command = ["mutants", ...options, ...built, ...chosen, "--", "--", ...skipped];
  const optLevel = { CARGO_PROFILE_TEST_OPT_LEVEL: `${suite.optLevel}` };
  const env = { ...process.env, ...ENVIRONMENT, ...optLevel };
  const child = spawn("cargo-mutants", command, { stdio: ["ignore", "inherit", "inherit"], env });
  let isLate = false;
  const interrupt = () => {
    // It ends in its own time, and has then written what it found.
    isLate = child.kill("SIGINT");
  };
  const leftMs = Math.max(endsAt - Date.now(), 0);
  const timer = leftMs < Infinity ? setTimeout(interrupt, leftMs) : undefined;
  const status = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  if (!isLate && !DONE.includes(status)) stop(`cargo-mutants ended with ${status}: see above`);
}
