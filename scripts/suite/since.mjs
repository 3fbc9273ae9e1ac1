// Which steps and files of tests a change touches: by what each file of tests imports, and by what
// the packages are built from. What lies further away is left to `npm test`.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { stop } from "../stop.mjs";
import { testFiles } from "./node-tests.mjs";
import { STEPS, withNeeded } from "./steps.mjs";

const IMPORT = /^\s*(?:import|export)\b[^"';]*?["'](\.[^"']+)["']/gm;
/** The packages of Rust that native tests cover one by one. */
const PACKAGES = ["room-checker", "room-core", "room-sim", "transparency", "xtask"];
/** The package whose native tests have a command of their own. */
const BUILDER = "xtask";
/** What the Worker is made from besides the core. */
const WORKER =
  /^(?:src|central|templates|analytics|transparency|webhooks)\/|^(?:rooms\.json|wrangler\.toml)$/;
/** What changes everything: tools, versions and settings. */
const EVERYTHING = /^(?:package-lock\.json|Cargo\.(?:toml|lock)|rust-toolchain\.toml)$/;
/** Steps that take seconds and read all of the repository. */
const ALWAYS = ["format", "tidy"];
/** The owner's screens: a bundle of their own, which its tests in a browser look at. */
const COCKPIT = /^cockpit\/(\w+?)(?:_\w+)?\.\w+$/;
/** What says that there is a built Worker, which a new cockpit can be put beside. */
const BUILT = "build/worker/gen/stamp";
/** Each folder of the core, and each of its tests. */
const CORE_SOURCE = /^room-core\/src\/(\w+)/;
const CORE_TESTS = "room-core/tests";
const CORE_TEST = /^room-core\/tests\/(\w+)/;
/** The steps that drive the built Worker, in which a change of `src` can show. */
const DRIVE_WORKER = ["golden", "languages", "workerd", "own", "attacks", "faults"];
/** What serves a site on its owner's machine: its tests run it and import nothing of it. */
const OWN_MACHINE = /^(?:scripts\/serve|scripts\/modules|examples\/own-machines)/;

/** Lists the steps for what differs from `commit`, files that are not committed included. */
export function stepsSince(commit) {
  return stepsTouchedBy(changedSince(commit));
}

/** Lists the steps for a change of these files. */
export function stepsTouchedBy(changed) {
  if (changed.length === 0) return [];
  if (changed.some((file) => EVERYTHING.test(file))) {
    return STEPS.filter(({ tier }) => tier === "change");
  }
  const names = new Set(ALWAYS);
  const steps = new Map();
  const packages = PACKAGES.filter((one) => changed.some((file) => file.startsWith(`${one}/`)));
  if (changed.some((file) => WORKER.test(file))) {
    for (const name of DRIVE_WORKER) names.add(name);
    if (changed.some((file) => file.endsWith(".rs"))) packages.push("waiting-room");
  }
  if (changed.some((file) => OWN_MACHINE.test(file))) names.add("own");
  if (changed.some((file) => /\.[cm]?[jt]sx?$/.test(file))) steps.set("lints", oxlint());
  if (packages.length > 0) {
    steps.set("lints", rustLints(packages));
    steps.set("native", nativeTests(packages, changed));
  }
  for (const step of STEPS.filter(({ folder, tier }) => folder && tier === "change")) {
    const touched = testFiles(step.folder).filter((file) => touches(file, changed));
    if (!names.has(step.name) && touched.length > 0) {
      steps.set(step.name, { ...step, files: touched });
    }
  }
  const chosen = withNeeded([...names, ...steps.keys()]);
  return [
    ...chosen.map((step) => steps.get(step.name) ?? step),
    ...cockpitSteps(changed, chosen.map(({ name }) => name)),
  ];
}

/**
 * The tests of the cockpit's screens that have changed. Only the cockpit is built anew for them, if
 * nothing else of the Worker is.
 */
function cockpitSteps(changed, chosen) {
  const screens = changed.map((file) => COCKPIT.exec(file)?.[1]).filter(Boolean);
  if (screens.length === 0 || chosen.includes("browser")) return [];
  const all = testFiles("tests/browser").filter((file) => file.includes("/cockpit"));
  const of = (screen) => all.filter((file) => file.endsWith(`/cockpit-${screen}.test.mjs`));
  // What has no tests of its own name is a part of several screens.
  const isKnown = screens.every((screen) => of(screen).length > 0);
  const files = isKnown ? [...new Set(screens.flatMap(of))] : all;
  const [browser, build] = ["browser", "build"].map((name) => named(name));
  if (chosen.includes("build") || !fs.existsSync(BUILT)) {
    return withNeeded(["browser"])
      .filter(({ name }) => !chosen.includes(name))
      .map((step) => (step.name === "browser" ? { ...step, files } : step));
  }
  const bundle = { ...build, commands: [["node", "scripts/cockpit.mjs"]] };
  return [bundle, { ...browser, files, needs: "build" }];
}

const named = (wanted) => STEPS.find(({ name }) => name === wanted);

function changedSince(commit) {
  const isThere = spawnSync("git", ["rev-parse", "--verify", "--quiet", `${commit}^{commit}`]);
  if (isThere.status !== 0) {
    stop(`--since must be a commit, branch or tag of this checkout, but is "${commit}"`);
  }
  const ofGit = (...parameters) => {
    const { status, stdout, stderr } = spawnSync("git", parameters, { encoding: "utf8" });
    if (status !== 0) stop(`git ${parameters.join(" ")} failed: ${stderr.trim()}`);
    return stdout.split("\n").filter(Boolean);
  };
  const committed = ofGit("diff", "--name-only", commit);
  return [...committed, ...ofGit("ls-files", "--others", "--exclude-standard")];
}

/** True if a file of tests, or what it imports, has changed. */
export function touches(file, changed) {
  const seen = new Set();
  const open = [file];
  for (let next; (next = open.pop()) !== undefined; ) {
    // What looks like an import may be a text, such as that of a folder.
    if (seen.has(next) || !fs.statSync(next, { throwIfNoEntry: false })?.isFile()) continue;
    seen.add(next);
    if (changed.includes(next)) return true;
    for (const [, specifier] of fs.readFileSync(next, "utf8").matchAll(IMPORT)) {
      open.push(path.join(path.dirname(next), specifier));
    }
  }
  return false;
}

function oxlint() {
  const lints = named("lints");
  return { ...lints, commands: lints.commands.slice(0, 1) };
}

function rustLints(packages) {
  const lints = named("lints");
  const [javaScript, rust] = lints.commands;
  return { ...lints, commands: [javaScript, only(packages, rust)] };
}

function nativeTests(packages, changed) {
  const native = named("native");
  const [workspace, builder] = native.commands;
  const built = packages.join() === "room-core" ? coreTests(changed) : [];
  const others = packages.filter((one) => one !== BUILDER);
  return {
    ...native,
    commands: [
      ...(others.length > 0 ? [only(others, workspace).concat(built)] : []),
      ...(packages.includes(BUILDER) ? [builder] : []),
    ],
  };
}

/**
 * The tests of the core that a change of it touches: those in its files, and those that name one of
 * its folders. Nothing, for all of them, where it changes more than that.
 */
function coreTests(changed) {
  const ofCore = changed.filter((file) => file.startsWith("room-core/"));
  const folders = ofCore.map((file) => CORE_SOURCE.exec(file)?.[1]).filter(Boolean);
  const tests = ofCore.map((file) => CORE_TEST.exec(file)?.[1]).filter(Boolean);
  if (folders.length + tests.length < ofCore.length || folders.includes("lib")) return [];
  const names = (folder) => new RegExp(`\\broom_core::(?:\\{[^}]*\\b)?${folder}\\b`);
  const touched = coreTestNames().filter(
    (test) => tests.includes(test) || folders.some((folder) => names(folder).test(textOf(test))),
  );
  return ["--lib", ...touched.flatMap((test) => ["--test", test])];
}

function coreTestNames() {
  const entries = fs.readdirSync(CORE_TESTS, { withFileTypes: true });
  const isTest = ({ name }) =>
    name.endsWith(".rs") || fs.existsSync(`${CORE_TESTS}/${name}/main.rs`);
  return entries.filter(isTest).map(({ name }) => path.parse(name).name);
}

/** All that a test of the core consists of. */
function textOf(test) {
  const folder = `${CORE_TESTS}/${test}`;
  if (!fs.existsSync(folder)) return fs.readFileSync(`${folder}.rs`, "utf8");
  const files = fs.readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".rs"));
  return files.map((file) => fs.readFileSync(path.join(folder, file), "utf8")).join("\n");
}

/** A command of cargo for these packages alone. */
function only(packages, command) {
  const chosen = packages.flatMap((one) => ["--package", one]);
  const without = command.join(" ").replace(` --exclude ${BUILDER}`, "").split(" ");
  return without.flatMap((word) => (word === "--workspace" ? chosen : word));
}
