// The entry: stands around the wasm, performs its verdicts, and gives the objects
// their RPC methods. It may not decide who waits and who enters, or look into a ticket.
//
// A verdict is one string. Its first letter says what to do:
//   P                      fetch the origin with the untouched request
//   C<set-cookie>          the same, and append this cookie to the answer, which no cache may keep
//   S<cookies>\n<set-cookie>
//                          P or, with a set-cookie, C; the origin gets these cookies instead
//   O<P, C or S>           the same, and the origin's answer may order the end of the session
//   U<url>\n<P, C, S or O> the same; the origin gets this address instead
//   G<status>\n<name: value lines>\n\n<body>
//                          answer with this page
//   W<as G>                the same, and the body goes on with what `listen` says each second
//   M                      a request of the management surface: `managed` answers with a G
//   H                      (from `glance` alone) ask `handle`, which may wait for others
//   F                      (made here alone) no verdict: the var ON_FAILURE says what to do
// p, c, s, o, u, g, w and f are P, C, S, O, U, G, W and F with work left for `after`, once the
// answer is on its way.
import { DurableObject } from "cloudflare:workers";
import * as wasm from "../build/worker/gen/waiting_room.js";
import { HOLD } from "./hold_page.js";
import { configured, current, guard, rebuild } from "./instance.js";
import { managed } from "./manage.js";
import { streamed } from "./stream.js";

/** A decision that takes longer is given up, in milliseconds; the origin's time is not counted. */
const DECISION_LIMIT_MS = 5_000;
/** An object's answer that takes longer is given up, in milliseconds. Callers give up earlier. */
const OBJECT_LIMIT_MS = 15_000;
/** The headers that `handle` may read. Each costs, so the list is short. */
const DECISION_HEADERS = [
  "accept",
  "access-control-request-method",
  "purpose",
  "sec-purpose",
  "upgrade",
];
/** Where the platform does not say which data center this is. */
const UNKNOWN_COLO = "ZZZ";
/** Only an origin may send this header. */
const COMMAND_HEADER = "cf-waiting-room-command";

export default {
  // Not async, and the request goes to the origin as it came: both are measurably cheaper.
  fetch(request, env, ctx) {
    if (request.headers.has(COMMAND_HEADER)) {
      request = new Request(request);
      request.headers.delete(COMMAND_HEADER);
    }
    let verdict;
    try {
      verdict = glance(request, env);
    } catch (error) {
      rebuild(error);
      verdict = glanceAgain(request, env);
    }
    return verdict === "H" ? handle(request, env, ctx) : perform(verdict, request, env, ctx);
  },
};

export const DataCenterCounter = objectClass(wasm.DataCenterCounter);
export const DataCenterAggregator = objectClass(wasm.DataCenterAggregator);
export const GlobalAggregator = objectClass(wasm.GlobalAggregator);
export const Registry = objectClass(wasm.Registry);

/** The synchronous question: most visits end here. */
function glance(request, env) {
  if (!configured(env)) return wasm.is_for_operator(request.url) ? "M" : "F";
  const { headers } = request;
  const verdict = wasm.glance(
    request.url,
    request.method,
    headers.get("cookie") ?? "",
    headers.get("sec-purpose") ?? "",
    headers.get("upgrade") ?? "",
    request,
  );
  return verdict ?? "P";
}

/** After a failure: what a fresh instance can still answer without help from anywhere. */
function glanceAgain(request, env) {
  try {
    const verdict = glance(request, env);
    return verdict === "H" ? "F" : verdict;
  } catch (error) {
    rebuild(error);
    return "F";
  }
}

/** The question that may wait for an object or a cache. */
async function handle(request, env, ctx) {
  const { url, method, headers } = request;
  let lines = "";
  for (const name of DECISION_HEADERS) {
    const value = headers.get(name);
    if (value !== null) lines += `${name}: ${value}\n`;
  }
  const cookie = headers.get("cookie") ?? "";
  const colo = request.cf?.colo ?? UNKNOWN_COLO;
  let verdict;
  try {
    const decision = () => wasm.handle(request, url, method, cookie, lines, colo, env);
    verdict = await guard(decision, DECISION_LIMIT_MS);
  } catch (error) {
    console.error(`no decision, asking a fresh instance: ${error}`);
    verdict = glanceAgain(request, env);
  }
  return perform(verdict, request, env, ctx);
}

function perform(verdict, request, env, ctx) {
  const letter = verdict[0];
  if (letter >= "a") report(env, ctx);
  switch (letter) {
    case "P":
    case "p":
      return toOrigin(request, env);
    case "C":
    case "c":
    case "S":
    case "s":
      return pass(verdict, request, env);
    case "O":
    case "o":
      return heed(verdict.slice(1), request, env, ctx);
    case "U":
    case "u":
      return performAt(verdict.slice(1), request, env, ctx);
    case "G":
    case "g":
      return page(verdict, request.method);
    case "W":
    case "w":
      return page(verdict, "GET", (text) => streamed(text, request, env, () => report(env, ctx)));
    case "M":
      return managed(request, env).then((answer) => perform(answer, request, env, ctx));
    default:
      return env.ON_FAILURE === "pass" && hasOrigin(env)
        ? toOrigin(request, env)
        : page(HOLD, request.method);
  }
}

/** The request at another address, by the verdict that follows it. */
function performAt(urlAndVerdict, request, env, ctx) {
  const [url] = urlAndVerdict.split("\n", 1);
  return perform(urlAndVerdict.slice(url.length + 1), new Request(url, request), env, ctx);
}

/** False where ORIGIN_URL should lead to the origin and is no address. */
function hasOrigin(env) {
  return env.ORIGIN || !env.ORIGIN_URL || URL.canParse(env.ORIGIN_URL);
}

/** The origin of the zone, a Worker bound as ORIGIN, or the address in the var ORIGIN_URL. */
function toOrigin(request, env) {
  if (env.ORIGIN) return env.ORIGIN.fetch(request);
  if (!env.ORIGIN_URL) return fetch(request);
  const url = new URL(request.url);
  const { protocol, hostname, port } = new URL(env.ORIGIN_URL);
  return fetch(new Request(Object.assign(url, { protocol, hostname, port }), request));
}

function pass(verdict, request, env) {
  const [asked, setCookie] = parts(verdict, request);
  const response = toOrigin(asked, env);
  return setCookie ? withCookie(response, setCookie) : response;
}

/** The request as the origin gets it, and the cookie for its answer. */
function parts(verdict, request) {
  const rest = verdict.slice(1);
  if (verdict[0] === "C" || verdict[0] === "c") return [request, rest];
  if (verdict[0] === "P") return [request, ""];
  const [cookies, setCookie] = rest.split("\n");
  const headers = new Headers(request.headers);
  if (cookies) headers.set("cookie", cookies);
  else headers.delete("cookie");
  return [new Request(request, { headers }), setCookie];
}

/** The command header of an origin that may end sessions is for us and goes no further. */
async function heed(verdict, request, env, ctx) {
  const [asked, setCookie] = parts(verdict, request);
  const response = await toOrigin(asked, env);
  const command = response.headers.get(COMMAND_HEADER);
  if (command === null) return setCookie ? withCookie(response, setCookie) : response;
  const answer = new Response(response.body, response);
  answer.headers.delete(COMMAND_HEADER);
  // A visitor who came in with this very request has the ticket in the cookie that was to be set.
  const tickets = setCookie || (request.headers.get("cookie") ?? "");
  const removed = command.trim().toLowerCase() === "revoke" && revoked(request, tickets, env, ctx);
  return removed || setCookie ? withCookie(answer, removed || setCookie) : answer;
}

/** The cookie that removes the ticket of the session that has ended; nothing if there was none. */
function revoked({ url, cf }, tickets, env, ctx) {
  try {
    const cookie = wasm.revoke(url, tickets, cf?.colo ?? UNKNOWN_COLO);
    if (cookie) report(env, ctx);
    return cookie;
  } catch (error) {
    rebuild(error);
  }
}

async function withCookie(response, cookie) {
  const original = await response;
  const answer = new Response(original.body, original);
  answer.headers.append("set-cookie", cookie);
  answer.headers.set("cache-control", "private, no-store");
  return answer;
}

function page(verdict, method, bodyOf = (text) => text || null) {
  const end = verdict.indexOf("\n\n");
  const [status, ...lines] = verdict.slice(1, end).split("\n");
  // One by one: as a list of pairs they cost workerd six times as much.
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(": ");
    headers.append(line.slice(0, colon), line.slice(colon + 2));
  }
  const body = method === "HEAD" ? null : bodyOf(verdict.slice(end + 2));
  return new Response(body, { status: Number(status), headers });
}

/** Makes the class that the platform knows, an RPC target, around the one in wasm. */
function objectClass(Shell) {
  return class extends DurableObject {
    #shell;
    #instance;

    /** @param {string} message @returns {Promise<string>} */
    call(message) {
      return guard(() => this.#current().call(message), OBJECT_LIMIT_MS);
    }

    /** The shell of the running instance: after a rebuild the object starts as if restarted. */
    #current() {
      if (!configured(this.env)) throw new Error("the configuration cannot be used");
      if (this.#instance !== current.instanceId) {
        this.#shell = new Shell(this.ctx, this.env);
        this.#instance = current.instanceId;
      }
      return this.#shell;
    }
  };
}

/** Does the work that is left, once the answer is on its way. */
function report(env, ctx) {
  ctx.waitUntil(guard(() => wasm.after(env), OBJECT_LIMIT_MS).catch(logged));
}

const logged = (error) => console.error(`a report failed: ${error}`);
