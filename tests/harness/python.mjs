/**
 * Virtual environments of Python that tests make once, under `build`, from pinned requirements.
 */

import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { ROOT } from "./worker-modules.mjs";

const run = promisify(execFile);
/** The oldest Python that all pinned packages support. */
const IS_NEW_ENOUGH = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/** A program of the environment of this name. */
export function programOf(name, program = "python") {
  return path.join(folderOf(name), "bin", program);
}

/** Makes the environment unless it is there already; why it cannot be had, if so. */
export async function environmentMissing(name, requirements) {
  const wanted = fs.readFileSync(requirements, "utf8");
  // A copy of the requirements in the environment that was made from them.
  const stamp = path.join(folderOf(name), "requirements.txt");
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === wanted) return undefined;
  try {
    await run("python3", ["-c", IS_NEW_ENOUGH]);
  } catch {
    return "Python 3.10 or newer with venv is missing (Debian: python3-venv)";
  }
  fs.rmSync(folderOf(name), { recursive: true, force: true });
  await run("python3", ["-m", "venv", folderOf(name)]);
  const install = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", requirements];
  await run(programOf(name), install);
  fs.writeFileSync(stamp, wanted);
  return undefined;
}

function folderOf(name) {
  return path.join(ROOT, "build", name);
}
