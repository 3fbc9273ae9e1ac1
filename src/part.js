// The modules of wasm with their instances: sees to it that every call into one ends, and replaces
// the instances when a panic or trap broke one, so that other requests than the one at fault go on.

/** A working instance answers `pulse` at once; one that takes more milliseconds is broken. */
const PULSE_LIMIT_MS = 500;

/** The modules that are loaded. */
export const parts = [];

/**
 * Replaces all instances, with all their memory, and lets every call in flight fail now: which of
 * them broke is not always told.
 */
export function rebuild(error) {
  console.error("the wasm instance broke and was rebuilt:", error);
  for (const part of parts) part.replace(error);
}

/** A module of those that `src/lib.rs` describes. */
export class Part {
  /** The instance that was configured last; `instance.js` keeps it. */
  configuredInstance;
  /** The registry's configuration as the last instance knew it: the next one begins with it. */
  #registry = "";
  /** For each call in flight a function that makes it fail: a broken instance answers none. */
  #inFlight = new Set();

  /** @param {object} wasm the module's functions and classes */
  constructor(wasm) {
    this.wasm = wasm;
    /** Its `instanceId` grows with each instance, whether we or the glue rebuilt it. */
    this.current = wasm.__worker_init_state();
    parts.push(this);
  }

  /** Configures the instance; returns "" or why this configuration cannot be used. */
  configure(rooms, vars, refusal) {
    return this.wasm.configure(rooms, vars, this.#registry, refusal);
  }

  /** Replaces the instance, and lets every call in flight fail now. */
  replace(error) {
    this.wasm.__wbg_reset_state();
    const fails = [...this.#inFlight];
    this.#inFlight.clear();
    for (const fail of fails) fail(error);
  }

  /** Runs an asynchronous call so that it ends in any case: by answer, failure or time limit. */
  guard(call, limitMs) {
    return new Promise((resolve, reject) => {
      const end = (settle) => (value) => {
        this.#inFlight.delete(fail);
        clearTimeout(timer);
        settle(value);
      };
      const fail = end(reject);
      const timer = setTimeout(async () => {
        const { instanceId } = this.current;
        const stuck = (await this.#isStuck()) && this.current.instanceId === instanceId;
        if (stuck) rebuild(new Error("the instance runs its futures no more"));
        fail(new Error(`no answer within ${limitMs} ms`));
      }, limitMs);
      this.#inFlight.add(fail);
      try {
        call().then(this.#keep(end(resolve)), fail);
      } catch (error) {
        rebuild(error);
      }
    });
  }

  /** Makes a `settle` that first keeps what the call has learned of the registry. */
  #keep(settle) {
    return (value) => {
      try {
        this.#registry = this.wasm.take_configuration() ?? this.#registry;
      } catch (error) {
        rebuild(error);
      }
      settle(value);
    };
  }

  /** Resolves to true if the instance runs no futures any more, and to false if it is only slow. */
  #isStuck() {
    return new Promise((resolve) => {
      setTimeout(resolve, PULSE_LIMIT_MS, true);
      try {
        this.wasm.pulse().then(() => resolve(false));
      } catch {
        resolve(true);
      }
    });
  }

  /** Whether an exception that crossed the wasm has broken the instance. */
  isBroken() {
    // The glue replaces such an instance in the next call and tells nobody: this is the next call.
    const { instanceId } = this.current;
    this.wasm.__worker_init_state();
    return this.current.instanceId !== instanceId;
  }
}

/** Handles uncaught errors: what breaks inside a future of the wasm shows nowhere else. */
function onUncaught({ error, reason = error }) {
  const isOfWasm = reason instanceof WebAssembly.RuntimeError || reason instanceof RangeError;
  if (isOfWasm || parts.some((part) => part.isBroken())) rebuild(reason);
}
addEventListener("error", onUncaught);
addEventListener("unhandledrejection", onUncaught);
