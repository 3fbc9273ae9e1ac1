// The instances of the wasm modules, that of visits and that of `central.js`: configures them, and
// goes on with the last good deployment where the present one is refused.
import { env as environment } from "cloudflare:workers";
import * as wasm from "../build/worker/gen/waiting_room.js";
import rooms from "../rooms.json";
import { within } from "./copies.js";
import { withoutKept } from "./last_good.js";
import { Part, parts } from "./part.js";

export { rebuild } from "./part.js";

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

/** The module of visits, which every isolate has. */
export const visits = new Part(wasm);
/** Since when this isolate answers, how many requests it got, how many of the doctor, its name. */
export const life = { began: 0, served: 0, examined: 0, id: "" };
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

/** What of the deployment in use the entry needs. */
export const deployed = { originUrl: undefined };

/** Configures a new instance, and logs its notes; false if there is nothing that can be used. */
export function configured(env) {
  const { instanceId } = visits.current;
  if (loggedInstance !== instanceId) {
    prepare(visits, env);
    loggedInstance = instanceId;
    wasm.log_notes();
    life.began ||= Date.now();
  }
  return problem === "";
}

/** Configures the instance of a module, if it is new. */
export function prepare(part, env) {
  if (part.configuredInstance !== part.current.instanceId) configure(part, env);
}

function configure(part, env) {
  const texts = Object.entries(env).filter(([, value]) => typeof value === "string");
  const vars = Object.fromEntries(texts);
  const refusal = use(part, roomsJson, vars, "");
  problem = refusal && lastGood ? use(part, lastGood.rooms, withLast(vars), refusal) : refusal;
  part.configuredInstance = part.current.instanceId;
}

function use(part, roomsText, vars, refusal) {
  deployed.originUrl = vars.ORIGIN_URL;
  return part.configure(roomsText, JSON.stringify(vars), refusal);
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
    if (lastGood) for (const part of parts) configure(part, env);
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
    configure(visits, environment);
  } catch (error) {
    // The platform would start no isolate. The first request tries again, and replaces the wasm.
    console.error(`not configured at the start: ${error}`);
  }
}
