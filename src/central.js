// The module of the central objects and of the management surface, in Rust like that of visits:
// `src/lib.rs` says what is in which. Nearly every isolate does without it, so it is loaded when it
// is first asked for.
import { prepare } from "./instance.js";
import { Part } from "./part.js";

let part;

/**
 * Returns the module, with an instance that is configured.
 *
 * @returns {Promise<Part>}
 */
export async function central(env) {
  if (!part) await load();
  prepare(part, env);
  return part;
}

/** No promise of it is kept: a request may end at any wait, with all that waits for it. */
async function load() {
  const wasm = await import("../build/worker/central/central.js");
  const { default: module } = await import("../build/worker/central/central_bg.wasm");
  if (part) return;
  wasm.initSync({ module });
  part = new Part(wasm);
}
