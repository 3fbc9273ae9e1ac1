/**
 * The Worker of the version before, as it was built: for tests of the minutes after a deployment,
 * in which objects and isolates of two versions talk to each other.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

import { filesFrom } from "../../scripts/modules.mjs";
import { ROOT, productFiles } from "./worker-modules.mjs";

const ARCHIVE = path.join(ROOT, "tests", "previous", "worker.tar.gz");
const FOLDER = path.join(ROOT, "build", "previous");

/**
 * Makes a release folder whose Worker is that of the version before; its commands are those of this
 * version. Nothing is installed in it: it shares the packages of this checkout.
 */
export function previousRelease(folder) {
  const parameters = ["scripts/release.mjs", "--no-build", "--folder", folder];
  execFileSync(process.execPath, parameters, { cwd: ROOT });
  fs.rmSync(path.join(folder, "build", "worker"), { recursive: true });
  execFileSync("tar", ["-xzf", ARCHIVE, "-C", folder]);
  fs.symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

/** Unpacks the version before, once for each archive, and returns the full path of its entry. */
export function previousEntry() {
  const version = createHash("sha256").update(fs.readFileSync(ARCHIVE)).digest("hex").slice(0, 16);
  const folder = path.join(FOLDER, version);
  if (!fs.existsSync(folder)) unpack(folder);
  return path.join(folder, "src", "entry.js");
}

function unpack(folder) {
  fs.mkdirSync(FOLDER, { recursive: true });
  const fresh = fs.mkdtempSync(`${folder}.`);
  execFileSync("tar", ["-xzf", ARCHIVE, "-C", fresh]);
  try {
    fs.renameSync(fresh, folder);
  } catch (error) {
    // Files of tests run side by side: another one was faster.
    if (error.code !== "ENOTEMPTY") throw error;
    fs.rmSync(fresh, { recursive: true });
  }
}

/** Makes what is built now the version before; to be called when a version is published. */
export function keepAsPrevious() {
  const own = filesFrom(path.join(ROOT, "src", "own_machines.js"));
  const files = [...new Set([...productFiles(), ...own])].map((file) => path.relative(ROOT, file));
  execFileSync("tar", ["-czf", ARCHIVE, "-C", ROOT, ...files.sort()]);
  return fs.statSync(ARCHIVE).size;
}
