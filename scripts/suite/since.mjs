// Which steps and files of tests a change touches: by what each file of tests imports, and by what
// the packages are built from.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { stop } from "../stop.mjs";
import { testFiles } from "./node-tests.mjs";
import { STEPS, withNeeded } from "./steps.mjs";

const IMPORT = /^\s*(?:import|export)\b[^"';]*?["'](\.[^"']+)["']/gm;
/** The packages of Rust that native tests cover one by one. */
const PACKAGES = ["room-core", "room-sim", "xtask"];
/** What the Worker is made from besides the core. */
const WORKER = /^(?:src|templates|analytics|webhooks)\/|^(?:rooms\.json|wrangler\.toml)$/;
/** What changes everything: tools, versions and settings. */
const EVERYTHING = /^(?:package-lock\.json|Cargo\.(?:toml|lock)|rust-toolchain\.toml)$/;
/** Steps that take seconds and read all of the repository. */
const ALWAYS = ["format", "tidy"];
/** The steps that drive the built Worker, in which a change of `src` can show. */
const DRIVE_WORKER = ["golden", "languages", "workerd", "attacks", "faults"];

/** Lists the steps for what differs from `commit`, files that are not committed included. */
export function stepsSince(commit) {
  const changed = changedSince(commit);
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
  if (changed.some((file) => /\.[cm]?[jt]sx?$/.test(file))) steps.set("lints", oxlint());
  if (packages.length > 0) {
    steps.set("lints", rustLints(packages));
    steps.set("native", nativeTests(packages));
  }
  for (const step of STEPS.filter(({ folder, tier }) => folder && tier === "change")) {
    const touched = testFiles(step.folder).filter((file) => touches(file, changed));
    if (!names.has(step.name) && touched.length > 0) {
      steps.set(step.name, { ...step, files: touched });
    }
  }
  return withNeeded([...names, ...steps.keys()]).map((step) => steps.get(step.name) ?? step);
}

function changedSince(commit) {
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
  const lints = STEPS.find(({ name }) => name === "lints");
  return { ...lints, commands: lints.commands.slice(0, 1) };
}

function rustLints(packages) {
  const lints = STEPS.find(({ name }) => name === "lints");
  const [javaScript, rust] = lints.commands;
  return { ...lints, commands: [javaScript, only(packages, rust)] };
}

function nativeTests(packages) {
  const native = STEPS.find(({ name }) => name === "native");
  return { ...native, commands: native.commands.map((command) => only(packages, command)) };
}

/** A command of cargo for these packages and not for the workspace. */
function only(packages, command) {
  const chosen = packages.flatMap((one) => ["--package", one]);
  return command.flatMap((word) => (word === "--workspace" ? chosen : word));
}
