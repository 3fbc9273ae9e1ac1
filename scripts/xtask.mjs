// Runs the builder of the Worker, the Rust program in xtask/.
import { spawnSync } from "node:child_process";

/** Builds all of the Worker: the wasm with its glue, the owner's cockpit, and the analytics. */
export function buildWorker() {
  xtask("build");
  must("node", "scripts/cockpit.mjs");
  must("node", "scripts/analytics.mjs");
}

/** Runs the builder, and ends this process if it fails: it has said why. */
export function xtask(...parameters) {
  must("cargo", "run", "--quiet", "--locked", "--package", "xtask", "--", ...parameters);
}

/** Runs any program, and ends this process if it fails. */
export function must(program, ...parameters) {
  const { status } = spawnSync(program, parameters, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
