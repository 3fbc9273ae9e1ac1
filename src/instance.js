// The wasm instance: configures it, ends every call into it, and replaces it when a panic or trap
// broke it, so that no request but the culprit's is hurt. It knows nothing of visits or verdicts.
import * as wasm from "../build/worker/gen/waiting_room.js";
import rooms from "../rooms.json";

/** A working instance answers `pulse` at once; one that does not within this time is broken. */
const PULSE_LIMIT_MS = 500;

/** Holds `instanceId`, which grows with each instance of the wasm, whoever rebuilt it. */
export const current = wasm.__worker_init_state();
let configuredInstance;
let problem = "";
/** What the instances before knew of the registry: the next one must not begin with less. */
let registry = "";

/** Gives a new instance its configuration; false if that cannot be used (said once in the log). */
export function configured(env) {
  if (configuredInstance !== current.instanceId) {
    const texts = Object.entries(env).filter(([, value]) => typeof value === "string");
    const vars = JSON.stringify(Object.fromEntries(texts));
    problem = wasm.configure(JSON.stringify(rooms), vars, registry);
    configuredInstance = current.instanceId;
    if (problem) console.error(`the configuration cannot be used: ${problem}`);
  }
  return problem === "";
}

/** Makes each call in flight fail: a broken instance would never answer them. */
const inFlight = new Set();

/** Throws the broken instance away, with all its memory, and lets every call in flight fail now. */
export function rebuild(error) {
  wasm.__wbg_reset_state();
  failAll(error);
}

function failAll(error) {
  console.error("the wasm instance broke and was rebuilt:", error);
  const fails = [...inFlight];
  inFlight.clear();
  for (const fail of fails) fail(error);
}

/** Runs an asynchronous wasm call so that it ends in any case: answer, failure, or time limit. */
export function guard(call, limitMs) {
  return new Promise((resolve, reject) => {
    const end = (settle) => (value) => {
      inFlight.delete(fail);
      clearTimeout(timer);
      settle(value);
    };
    const fail = end(reject);
    const timer = setTimeout(async () => {
      const { instanceId } = current;
      const stuck = (await isStuck()) && current.instanceId === instanceId;
      if (stuck) rebuild(new Error("the instance runs its futures no more"));
      fail(new Error(`no answer within ${limitMs} ms`));
    }, limitMs);
    inFlight.add(fail);
    try {
      call().then(keep(end(resolve)), fail);
    } catch (error) {
      rebuild(error);
    }
  });
}

/** Keeps what the call learned of the registry before its answer goes on. */
function keep(settle) {
  return (value) => {
    try {
      registry = wasm.take_configuration() ?? registry;
    } catch (error) {
      rebuild(error);
    }
    settle(value);
  };
}

/** Tells a slow answer from an instance that lost its way, which must be rebuilt. */
function isStuck() {
  return new Promise((resolve) => {
    setTimeout(resolve, PULSE_LIMIT_MS, true);
    try {
      wasm.pulse().then(() => resolve(false));
    } catch {
      resolve(true);
    }
  });
}

/** What breaks inside a future surfaces as an uncaught error and nowhere else. */
function onUncaught({ error, reason = error }) {
  if (reason instanceof WebAssembly.RuntimeError || reason instanceof RangeError) rebuild(reason);
  // Any other exception that crossed the wasm ended it too. The glue then replaces the instance in
  // the next call, without a word: let that be this call, and tell those who wait.
  const { instanceId } = current;
  wasm.__worker_init_state();
  if (current.instanceId !== instanceId) failAll(reason);
}
addEventListener("error", onUncaught);
addEventListener("unhandledrejection", onUncaught);
