// Runs the builder of the Worker, the Rust program in xtask/.
import { spawnSync } from "node:child_process";

/** Ends this process where the builder fails: it has said why. */
export function xtask(...parameters) {
  must("cargo", "run", "--quiet", "--locked", "--package", "xtask", "--", ...parameters);
}

/** The same for any program. */
export function must(program, ...parameters) {
  const { status } = spawnSync(program, parameters, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
