/** Builds what is preloaded into workerd, a library in C, once for each version of its source. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

const BUILD = path.join(import.meta.dirname, "..", "..", "build");
const COMPILERS = [process.env.CC, "cc", "gcc", "clang"].filter(Boolean);
const FLAGS = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"];
const built = new Map();

/** Says why nothing can be preloaded on this machine; `undefined` if it can. */
export function preloadMissing(name) {
  if (process.platform !== "linux") return `${name} is a preload for Linux`;
  return builtPreload(name) ? undefined : `no C compiler (tried ${COMPILERS.join(", ")})`;
}

/** Returns the path of a compiled library, such as "clock"; `undefined` without a C compiler. */
export function builtPreload(name) {
  if (!built.has(name)) built.set(name, build(name));
  return built.get(name);
}

function build(name) {
  const source = path.join(import.meta.dirname, `${name}.c`);
  const version = createHash("sha256").update(fs.readFileSync(source)).digest("hex").slice(0, 16);
  const target = path.join(BUILD, `test-${name}-${version}.so`);
  return fs.existsSync(target) ? target : compile(source, target);
}

function compile(source, target) {
  fs.mkdirSync(BUILD, { recursive: true });
  const fresh = `${target}.${process.pid}`;
  for (const compiler of COMPILERS) {
    const run = spawnSync(compiler, [...FLAGS, "-o", fresh, source], { encoding: "utf8" });
    if (run.error?.code === "ENOENT") continue;
    if (run.status !== 0) throw new Error(`${compiler} cannot build ${source}:\n${run.stderr}`);
    // Test files may run side by side: the last one replaces an identical file.
    fs.renameSync(fresh, target);
    return target;
  }
}
