// The entry of the Worker: asks the wasm about each request, performs the verdict that it returns,
// and makes the classes of the objects. The wasm decides who waits and who enters, and it alone
// opens tickets. `src/verdict.js` reads the verdicts.
import { DurableObject } from "cloudflare:workers";
import { PLACE_QUERY } from "../build/worker/gen/constants.js";
import * as wasm from "../build/worker/gen/waiting_room.js";
import { logged } from "./admissions.js";
import { beginning } from "./body.js";
import { central } from "./central.js";
import { coloOf } from "./client.js";
import { examinedObject } from "./doctor.js";
import { drop, forget, isDropped } from "./forget.js";
import { holdPage } from "./hold_page.js";
import {
  configured,
  deployed,
  goodDeployment,
  life,
  mayRecover,
  rebuild,
  recover,
  visits,
} from "./instance.js";
import { askedLastGood, keepLastGood, keptLastGood, lastGoodNear, parsed } from "./last_good.js";
import { managed } from "./manage.js";
import {
  cacheHeaders,
  COMMAND_HEADER,
  foreignHeaders,
  headOf,
  isCopy,
  isPreflight,
  LOCK_HEADER,
  namesIn,
  sendable,
  STATUS_MAX,
  unreachable,
} from "./origin.js";
import { streamed } from "./stream.js";
import { logAnswer } from "./transparency.js";
import { checkUsage, keptUsage } from "./usage.js";
import { decode } from "./verdict.js";
import { onAlarm } from "./webhooks.js";

/** How long a decision may take, in milliseconds; the time of the origin is not counted. */
const DECISION_LIMIT_MS = 5_000;
/** How long rules wait for the beginning of a body, in milliseconds; then those do not match. */
const BODY_LIMIT_MS = 3_000;
/** How long an object's answer may take, in milliseconds. Callers give up earlier. */
const OBJECT_LIMIT_MS = 15_000;
/**
 * How long the work after an answer may take: in a calm room a request works on reports for 24 s,
 * and sends the last within 4 s. The platform ends it after 30 s.
 */
const REPORT_LIMIT_MS = 29_000;
/**
 * When it begins, in milliseconds after the decision: all that is ready to run in workerd does so
 * before an answer leaves, and in a fresh isolate this work takes as long as the visit itself.
 */
const REPORT_DELAY_MS = 20;
/** The verdicts that are made here because the wasm cannot: see `verdict.js`. */
const UNDECIDED = decode("F");
const MANAGE = decode("M");
/** The deployment is refused, and the last good one was not looked for yet. */
const RECOVER = { kind: "recover" };
/** The most frequent verdict, which the wasm tells by telling nothing. */
const PASS = decode("P");
/** The header by which a visitor's browser hears how long the session lasts. */
const SESSION_HEADER = "waiting-room-session";
/** How long one value of it is sent, in milliseconds; each is good for two minutes. */
const LOCK_REUSE_MS = 10_000;
/** What stands for bytes that are no UTF-8. */
const UNREADABLE = "\ufffd";
/** As much of a visitor's form is read, in bytes. */
const FORM_BYTES_MAX = 1_024;
/** Headers by which some servers take the method of a preflight for another. */
const OVERRIDE_HEADERS = new Set(["x-http-method-override", "x-http-method", "x-method-override"]);
/** The heads of pages as the platform has them, by the list that `verdict.js` read once. */
const heads = new WeakMap();
/** The present value of the lock's header. */
const lock = { value: "", until: 0 };

export default {
  // Not async, and the request goes to the origin as it came: both are measurably cheaper.
  fetch(request, env, ctx) {
    life.served += 1;
    // Each look at a request costs about a microsecond: none is taken twice.
    let { headers } = request;
    const foreign = namesIn(headers, foreignHeaders);
    if (foreign.length > 0) {
      request = new Request(request);
      ({ headers } = request);
      for (const name of foreign) headers.delete(name);
    }
    return answered(request, headers, env, ctx);
  },

  /** The cron trigger, which stands only where the owner wants to know what is used of the plan. */
  scheduled(_, env) {
    return checkUsage(env);
  },
};

/** What the objects of a class do without their machine. */
class Keeper extends DurableObject {
  /** Deletes all that it keeps; only the global aggregator of a deleted room is asked. */
  drop() {
    return drop(this.ctx);
  }

  /** Answers for the log of a room's admissions; only aggregators are asked. */
  log(question) {
    return logged(this.ctx, this.env, question);
  }

  /** Keeps what is used of the plan, or tells it; only the registry is asked. */
  usage(found) {
    return keptUsage(this.ctx, this.env, found);
  }
}

export const DataCenterCounter = objectClass("DataCenterCounter", () => visits);
export const DataCenterAggregator = objectClass("DataCenterAggregator", () => visits);
export const GlobalAggregator = objectClass("GlobalAggregator", central);
export const Registry = objectClass("Registry", central);

/** Answers a request from memory, or by what the wasm has to wait for. */
function answered(request, headers, env, ctx) {
  let verdict;
  try {
    verdict = glance(request, headers, env);
  } catch (error) {
    rebuild(error);
    verdict = glanceAgain(request, env);
  }
  if (verdict.kind === "handle") return handle(request, env, ctx);
  if (verdict !== RECOVER) return perform(verdict, request, env, ctx);
  const looked = recover(env, () => lastGoodNear(request.url, env, ctx));
  return looked.then(() => answered(request, headers, env, ctx));
}

/** Asks the wasm for a verdict without waiting: most visits are decided here. */
function glance(request, headers, env) {
  const { url } = request;
  if (!configured(env)) {
    if (mayRecover()) return RECOVER;
    return wasm.is_for_operator(url) ? MANAGE : UNDECIDED;
  }
  const cookie = headers.get("cookie") ?? "";
  const verdict = wasm.glance(url, request.method, cookie, Date.now(), request);
  return verdict === undefined ? PASS : decode(verdict);
}

/** Asks a fresh instance after a failure; what it cannot decide without waiting is undecided. */
function glanceAgain(request, env) {
  try {
    const verdict = glance(request, request.headers, env);
    return verdict.kind === "handle" ? UNDECIDED : verdict;
  } catch (error) {
    rebuild(error);
    return UNDECIDED;
  }
}

/** Asks the wasm for a verdict that may wait for an object or a cache, and performs it. */
async function handle(request, env, ctx) {
  const { url, method, headers } = request;
  const form = method === "POST" && url.endsWith(PLACE_QUERY) ? await formOf(request) : "";
  const cookie = headers.get("cookie") ?? "";
  const colo = coloOf(request);
  let verdict;
  try {
    const known = [request, url, method, cookie, form, colo, env];
    const decide = async (...body) =>
      decode(await visits.guard(() => wasm.handle(...known, ...body), DECISION_LIMIT_MS));
    verdict = await decide(false);
    if (verdict.kind === "read-body") {
      // The origin gets the other half of the copy, whole and as it comes.
      const copy = request.clone();
      verdict = await decide(true, await beginning(copy, verdict.atMostBytes, BODY_LIMIT_MS));
    }
  } catch (error) {
    console.error(`no decision, asking a fresh instance: ${error}`);
    verdict = glanceAgain(request, env);
  }
  return perform(verdict, request, env, ctx);
}

/** Reads a short form in one line; the request keeps its body, which may be for the origin. */
async function formOf(request) {
  const bytes = await beginning(request.clone(), FORM_BYTES_MAX, BODY_LIMIT_MS);
  return new TextDecoder().decode(bytes).replaceAll(/[\r\n]/g, "");
}

/** Does what a verdict says. */
function perform(verdict, request, env, ctx) {
  if (verdict.after) report(env, ctx);
  switch (verdict.kind) {
    case "forward":
      return forward(verdict, request, env, ctx);
    case "respond":
      return page(verdict, request.method);
    case "stream":
      return page(verdict, "GET", (text) => streamed(text, request, env, () => report(env, ctx)));
    case "log":
      return logAnswer(verdict, request.method, env).then((log) => page(log, request.method));
    case "manage":
      return managed(request, env, ctx).then((answer) => perform(answer, request, env, ctx));
    default:
      return env.ON_FAILURE === "pass" && hasOrigin(env)
        ? toOrigin(request, env).then(sendable, unreachable)
        : page(decode(holdPage(request)), request.method);
  }
}

/** Fetches the origin's answer; request and answer are changed as the verdict says. */
function forward({ url, cookies, setCookie, session, heedsCommands }, request, env, ctx) {
  const asked = url === null ? request : new Request(url, request);
  const sent = cookies === null ? asked : withCookies(asked, cookies);
  const response = toOrigin(sent, env);
  // Whoever sends a session along has said more than a preflight does, and gets as little.
  if (cookies === "" && isPreflight(sent)) return response.then(headOf, unreachable);
  if (heedsCommands) return heed(response, { setCookie, session }, asked, env, ctx);
  if (setCookie === null) return response.then(withoutCommand, unreachable);
  const answer = (original) => withCookie(original, setCookie, session);
  return response.then(answer, (error) => answer(unreachable(error)));
}

/** Takes a command out of an answer that none is heeded in, so that no visitor learns of it. */
function withoutCommand(response) {
  if (!response.headers.has(COMMAND_HEADER)) return sendable(response);
  const answer = copyOf(response);
  answer.headers.delete(COMMAND_HEADER);
  return answer;
}

/** Returns an answer whose headers can be changed. */
function copyOf(original) {
  const answer = sendable(original, STATUS_MAX);
  return new Response(answer.body, answer);
}

/**
 * Returns the request with these cookies instead of the visitor's; "" for none. If they are no
 * UTF-8, the platform has not read all of their bytes, and they go on as they came.
 */
function withCookies(request, cookies) {
  if (cookies.includes(UNREADABLE)) return request;
  const headers = new Headers(request.headers);
  if (cookies) headers.set("cookie", cookies);
  else headers.delete("cookie");
  if (request.method === "OPTIONS") {
    for (const name of namesIn(headers, OVERRIDE_HEADERS)) headers.delete(name);
  }
  return new Request(request, { headers });
}

/** Whether the origin can be reached: false if ORIGIN_URL is needed for it and is no address. */
function hasOrigin(env) {
  return env.ORIGIN || !deployed.originUrl || URL.canParse(deployed.originUrl);
}

/** Sends a request to the Worker bound as ORIGIN, or to ORIGIN_URL, or to the zone's own origin. */
function toOrigin(request, env) {
  if (env.ORIGIN_LOCK_SECRET) request = locked(request, env.ORIGIN_LOCK_SECRET);
  if (env.ORIGIN) return env.ORIGIN.fetch(request);
  if (!deployed.originUrl) return fetch(request);
  const url = new URL(request.url);
  const { protocol, hostname, port } = new URL(deployed.originUrl);
  return fetch(new Request(Object.assign(url, { protocol, hostname, port }), request));
}

/** Returns the request with the header of the origin lock. */
function locked(request, secret) {
  const now = Date.now();
  if (now >= lock.until) {
    Object.assign(lock, { value: wasm.origin_lock(secret), until: now + LOCK_REUSE_MS });
  }
  const sent = new Request(request);
  sent.headers.set(LOCK_HEADER, lock.value);
  return sent;
}

/** Performs the command in the answer of an origin that may end sessions, and takes it out. */
async function heed(awaited, { setCookie, session }, request, env, ctx) {
  const response = await awaited.then(sendable, unreachable);
  const command = response.headers.get(COMMAND_HEADER);
  if (command === null) return setCookie ? withCookie(response, setCookie, session) : response;
  const answer = copyOf(response);
  answer.headers.delete(COMMAND_HEADER);
  // If this very request was admitted, the ticket is in the cookie that was to be set.
  const tickets = setCookie || (request.headers.get("cookie") ?? "");
  const revokes = command.trim().toLowerCase() === "revoke" && !isCopy(response);
  const removed = revokes && revoked(request, tickets, env, ctx);
  if (removed) {
    await visits.guard(() => wasm.tell_end(request.url, env), DECISION_LIMIT_MS).catch(failed);
    return withCookie(answer, removed, null);
  }
  return setCookie ? withCookie(answer, setCookie, session) : answer;
}

/** Ends the session of a ticket; returns the cookie that removes it, nothing if there was none. */
function revoked(request, tickets, env, ctx) {
  try {
    const cookie = wasm.revoke(request.url, tickets, coloOf(request));
    if (cookie) report(env, ctx);
    return cookie;
  } catch (error) {
    rebuild(error);
  }
}

function withCookie(original, cookie, session) {
  const answer = copyOf(original);
  const { headers } = answer;
  headers.delete(COMMAND_HEADER);
  for (const name of cacheHeaders) headers.delete(name);
  headers.append("set-cookie", cookie);
  headers.set("cache-control", "private, no-store");
  if (session !== null) headers.set(SESSION_HEADER, session);
  return answer;
}

function page({ status, headers, cookies = [], body }, method, bodyOf = (text) => text || null) {
  let head = heads.get(headers);
  if (!head) {
    head = new Headers();
    // One by one, since a list of pairs costs workerd six times as much.
    for (const [name, value] of headers) head.append(name, value);
    heads.set(headers, head);
  }
  const sent = method === "HEAD" ? null : bodyOf(body);
  const answer = new Response(sent, { status, headers: head });
  for (const [name, value] of cookies) answer.headers.append(name, value);
  return answer;
}

/**
 * Makes a Durable Object class, an RPC target, around the class of this name in wasm. `load(env)`
 * returns the module that has it, or a promise of it.
 */
function objectClass(className, load) {
  const isRegistry = className === "Registry";
  const isGlobal = className === "GlobalAggregator";
  return class extends Keeper {
    #shell;
    #instance;
    /** Whether the deployment was looked at to be kept; it stays the same as long as the object. */
    #isKept = false;
    /** Since when the object is in memory, and how many calls it has got, for the doctor. */
    #life = { began: Date.now(), calls: 0 };

    /**
     * @param {string} message
     * @param {string} [name] the object's own, which the platform does not always tell
     * @returns {Promise<string>}
     */
    async call(message, name) {
      this.#life.calls += 1;
      if (isDropped(this.ctx)) throw new Error("the room was deleted");
      if (!configured(this.env) && mayRecover()) {
        const kept = async () => parsed(keptLastGood(this.ctx));
        await recover(this.env, isRegistry ? kept : () => askedLastGood(this.env));
      }
      if (!configured(this.env)) throw new Error("the configuration cannot be used");
      const part = await load(this.env);
      return part.guard(() => this.#current(part).call(message, name), OBJECT_LIMIT_MS);
    }

    /** Wakes the object; only the global aggregator sets alarms. */
    alarm() {
      forget(this.ctx);
      return onAlarm(this.ctx, this.env, (message) => this.call(message));
    }

    /** Tells the doctor what can be known without the machine: it sleeps on. */
    examine(question) {
      return examinedObject(this.ctx, this.env, this.#life, question);
    }

    /** Tells the last deployment that could be used; only the registry is asked. */
    lastGood() {
      this.#keepDeployment();
      return keptLastGood(this.ctx);
    }

    /** In the registry: keeps the deployment, if it can be used and runs here itself. */
    #keepDeployment() {
      const good = isRegistry && configured(this.env) && goodDeployment();
      if (good && !this.#isKept) keepLastGood(this.ctx, good, this.env);
      this.#isKept = true;
    }

    /** Returns the object in the running instance: after a rebuild a new one, as if restarted. */
    #current({ wasm: { [className]: Shell }, current: { instanceId } }) {
      if (this.#instance !== instanceId) {
        this.#shell = new Shell(this.ctx, this.env);
        this.#instance = instanceId;
        if (isGlobal) forget(this.ctx);
        this.#keepDeployment();
      }
      return this.#shell;
    }
  };
}

/** Lets the wasm do the work that is left, once the answer is on its way. */
function report(env, ctx) {
  const begin = new Promise((wake) => setTimeout(wake, REPORT_DELAY_MS));
  const work = () => visits.guard(() => wasm.after(env), REPORT_LIMIT_MS);
  ctx.waitUntil(begin.then(work).catch(failed));
}

const failed = (error) => console.error(`a report failed: ${error}`);
