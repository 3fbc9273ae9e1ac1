// The module in Rust, in the Worker: loaded when a log is asked for the first time.

let ready;

/** The functions of the module. */
export function loaded() {
  ready ??= load();
  return ready;
}

async function load() {
  const glue = await import("../build/transparency/transparency.js");
  const { default: module } = await import("../build/transparency/transparency_bg.wasm");
  glue.initSync({ module });
  return glue;
}
