// The wasm instance: configures it, sees to it that every call into it ends, and replaces it when a
// panic or trap broke it, so that other requests than the one at fault go on.
import { env as environment } from "cloudflare:workers";
import * as wasm from "../build/worker/gen/waiting_room.js";
import rooms from "../rooms.json";
import { within } from "./copies.js";
import { withoutKept } from "./last_good.js";

/** A working instance answers `pulse` at once; one that takes more milliseconds is broken. */
const PULSE_LIMIT_MS = 500;
/**
 * The most characters of rooms.json that are read when an isolate starts: 10,000 plain rooms, which
 * take 0.15 s; as many characters of rules take 0.4 s. The platform refuses a Worker whose start
 * takes 1 s of CPU time.
 */
const READ_AT_START_MAX = 3_000_000;
/** How long the last good deployment is waited for, in milliseconds: a slow start of its object. */
const LAST_GOOD_LIMIT_MS = 3_500;
/** Where there was none, it is looked for again after this many milliseconds. */
const LOOK_AGAIN_MS = 5_000;
/** While another request looks for it, those who wait look whether it is there so often. */
const POLL_MS = 20;

/** Its `instanceId` grows with each instance of the wasm, whether we or the glue rebuilt it. */
export const current = wasm.__worker_init_state();
/** Since when this isolate answers, how many requests it got, how many of the doctor, its name. */
export const life = { began: 0, served: 0, examined: 0, id: "" };
let configuredInstance;
/** The instance whose notes were logged. */
let loggedInstance;
let problem = "";
/** What was said of a problem last. */
let loggedProblem = "";
const roomsJson = JSON.stringify(rooms);
/** What counts instead of a deployment that is refused, once it was found: its rooms and vars. */
let lastGood;
/** Until when a request looks for it, and when it may be looked for again. */
const look = { until: 0, nextAt: 0 };
/** The registry's configuration as the last instance knew it: the next one begins with it. */
let registry = "";

/** What of the deployment in use the entry needs. */
export const deployed = { originUrl: undefined };

/** Configures a new instance, and logs its notes; false if there is nothing that can be used. */
export function configured(env) {
  if (loggedInstance !== current.instanceId) {
    if (configuredInstance !== current.instanceId) configure(env);
    loggedInstance = current.instanceId;
    wasm.log_notes();
    life.began ||= Date.now();
  }
  return problem === "";
}

function configure(env) {
  const texts = Object.entries(env).filter(([, value]) => typeof value === "string");
  const vars = Object.fromEntries(texts);
  const refusal = use(roomsJson, vars, "");
  problem = refusal && lastGood ? use(lastGood.rooms, withLast(vars), refusal) : refusal;
  configuredInstance = current.instanceId;
}

function use(roomsText, vars, refusal) {
  deployed.originUrl = vars.ORIGIN_URL;
  return wasm.configure(roomsText, JSON.stringify(vars), registry, refusal);
}

/** The variables with those of the last good deployment; all others, secrets too, as given now. */
function withLast(vars) {
  return { ...withoutKept(vars), ...lastGood.vars };
}

/** Whether the deployment is refused, and it is time to look for the last good one. */
export function mayRecover() {
  const now = Date.now();
  return problem !== "" && (now >= look.nextAt || now < look.until);
}

/**
 * Goes on with the last good deployment if the present one is refused; one request at a time looks
 * for it. Resolves once it is in use, or there is none for now, and logs which.
 *
 * @param {() => Promise<{ rooms: string, vars: object } | undefined>} find
 */
export async function recover(env, find) {
  // By the time and not by a promise: a request may end at any wait, with all that waits for it.
  while (Date.now() < look.until) await new Promise((wake) => setTimeout(wake, POLL_MS));
  if (!mayRecover()) return;
  look.until = Date.now() + LAST_GOOD_LIMIT_MS;
  look.nextAt = Date.now() + LOOK_AGAIN_MS;
  try {
    const refusal = problem;
    const unknown = (error) => console.error(`the last good deployment is not known: ${error}`);
    lastGood = (await within(LAST_GOOD_LIMIT_MS, find().catch(unknown))) ?? lastGood;
    if (lastGood) configure(env);
    // Its notes are those that count now.
    loggedInstance = undefined;
    const served = problem ? "" : "; the last good one counts";
    logProblem(`the configuration cannot be used: ${refusal}${served}`);
  } finally {
    look.until = 0;
  }
}

/** Logs a problem once, however often it is met. */
function logProblem(line) {
  if (line !== loggedProblem) console.error(line);
  loggedProblem = line;
}

/** The deployment to be kept as the last good one: what is in use, unless that is kept already. */
export function goodDeployment() {
  return problem || lastGood ? undefined : roomsJson;
}

// The first visitor need not wait for it. Logs go with a request: written now, nobody reads them.
if (roomsJson.length <= READ_AT_START_MAX) {
  try {
    configure(environment);
  } catch (error) {
    // The platform would start no isolate. The first request tries again, and replaces the wasm.
    console.error(`not configured at the start: ${error}`);
  }
}

/** For each call in flight a function that makes it fail: a broken instance answers none. */
const inFlight = new Set();

/** Replaces a broken instance, with all its memory, and lets every call in flight fail now. */
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

/** Runs an asynchronous wasm call so that it ends in any case: by answer, failure or time limit. */
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

/** Makes a `settle` that first keeps what the call has learned of the registry. */
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

/** Resolves to true if the instance runs no futures any more, and to false if it is only slow. */
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

/** Handles uncaught errors: what breaks inside a future of the wasm shows nowhere else. */
function onUncaught({ error, reason = error }) {
  if (reason instanceof WebAssembly.RuntimeError || reason instanceof RangeError) rebuild(reason);
  // Any other exception that crossed the wasm has broken it too. The glue then replaces the
  // instance in the next call and tells nobody: make this call now, and let the calls in flight
  // fail.
  const { instanceId } = current;
  wasm.__worker_init_state();
  if (current.instanceId !== instanceId) failAll(reason);
}
addEventListener("error", onUncaught);
addEventListener("unhandledrejection", onUncaught);
