/**
 * The Worker of the version before, as it was built: for tests of the minutes after a deployment,
 * in which objects and isolates of two versions talk to each other.
 */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

import { ROOT, productFiles } from "./worker-modules.mjs";

const ARCHIVE = path.join(ROOT, "tests", "previous", "worker.tar.gz");
const FOLDER = path.join(ROOT, "build", "previous");

/** Unpacks the version before and returns the full path of its entry. */
export function previousEntry() {
  fs.rmSync(FOLDER, { recursive: true, force: true });
  fs.mkdirSync(FOLDER, { recursive: true });
  execFileSync("tar", ["-xzf", ARCHIVE, "-C", FOLDER]);
  return path.join(FOLDER, "src", "entry.js");
}

/** Makes what is built now the version before; to be called when a version is published. */
export function keepAsPrevious() {
  const files = productFiles().map((file) => path.relative(ROOT, file));
  execFileSync("tar", ["-czf", ARCHIVE, "-C", ROOT, ...files.sort()]);
  return fs.statSync(ARCHIVE).size;
}
