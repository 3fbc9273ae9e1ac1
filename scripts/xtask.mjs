// Runs the builder of the Worker, the Rust program in xtask/.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

/**
 * Where the builder itself is compiled. Cargo lets one program at a time into such a folder, so in
 * the common one `npm start` would wait in silence for whatever compiles beside it.
 */
const BUILDER_FOLDER = "target/builder";

/** The command of cargo that runs the builder. */
const BUILDER = `run --quiet --locked --package xtask --target-dir ${BUILDER_FOLDER} --`.split(" ");

/** Builds all of the Worker: the wasms with their glue, the owner's cockpit, the analytics. */
export function buildWorker() {
  xtask("build");
  xtask("transparency");
  must("node", "scripts/cockpit.mjs");
  must("node", "scripts/analytics.mjs");
  must("node", "scripts/transparency.mjs");
}

/** Runs the builder, and ends this process if it fails: it has said why. */
export function xtask(...parameters) {
  must("cargo", ...BUILDER, ...parameters);
}

/**
 * Runs the builder with each of these lists of parameters at the same time, and ends this process
 * if one fails. A build of the wasm for the product mostly uses one processor.
 */
export async function xtasksAtOnce(...lists) {
  const runs = lists.map(async (parameters) => {
    const builder = spawn("cargo", [...BUILDER, ...parameters], { stdio: "inherit" });
    const [status] = await once(builder, "close");
    return status === 0;
  });
  if (!(await Promise.all(runs)).every(Boolean)) process.exit(1);
}

/** Runs any program, and ends this process if it fails. */
export function must(program, ...parameters) {
  const { status } = spawnSync(program, parameters, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
