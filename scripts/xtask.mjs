// Runs the builder of the Worker, the Rust program in xtask/.
import { spawnSync } from "node:child_process";

/**
 * Where the builder itself is compiled. Cargo lets one program at a time into such a folder, so in
 * the common one `npm start` would wait in silence for whatever compiles beside it.
 */
const BUILDER_FOLDER = "target/builder";

/** Builds all of the Worker: the wasm with its glue, the owner's cockpit, and the analytics. */
export function buildWorker() {
  xtask("build");
  must("node", "scripts/cockpit.mjs");
  must("node", "scripts/analytics.mjs");
}

/** Runs the builder, and ends this process if it fails: it has said why. */
export function xtask(...parameters) {
  const builder = ["--package", "xtask", "--target-dir", BUILDER_FOLDER];
  must("cargo", "run", "--quiet", "--locked", ...builder, "--", ...parameters);
}

/** Runs any program, and ends this process if it fails. */
export function must(program, ...parameters) {
  const { status } = spawnSync(program, parameters, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
