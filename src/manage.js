// Requests of the management surface, `/_waiting-room/`: serves the cockpit's files, reads the body
// when the wasm asks for it, and adds the description of the API, what the doctor measures, the
// metrics, streams of numbers, test visitors, logs of admissions, answers in GraphQL and whom
// Cloudflare Access has signed in. The wasm decides who may do what.
import * as wasm from "../build/worker/gen/waiting_room.js";
import { beginning } from "./body.js";
import { central } from "./central.js";
import { clientAddress } from "./client.js";
import { cockpitFile } from "./cockpit.js";
import { deletesRooms, withoutRest } from "./deleted.js";
import { examined } from "./doctor.js";
import { GRAPHQL_PATH, QUESTION_BYTES_MAX, graphql } from "./graphql.js";
import { LIVE_PATH, live } from "./live.js";
import { METRICS_PATH, metrics } from "./metrics.js";
import description from "./openapi.json.txt";
import { asksLog, ownersLog } from "./transparency.js";
import { TEST_VISITOR_PATH, VISIT_BYTES_MAX, testVisitor } from "./test_visitor.js";
import { lastUsage } from "./usage.js";
import { decode } from "./verdict.js";

/** How long an operation may take, in milliseconds; reading the body is not counted. */
const OPERATION_LIMIT_MS = 5_000;
/** How long its body may take, in milliseconds. */
const BODY_LIMIT_MS = 30_000;
/** The headers that may carry a token, the version that a change is about, and a call's own key. */
const HEADERS_READ = [
  "authorization",
  "x-auth-email",
  "x-auth-key",
  "if-match",
  "idempotency-key",
];
/** The header with Cloudflare Access' token, which is looked at where no other token is sent. */
const ACCESS_HEADER = "cf-access-jwt-assertion";
/** The methods of calls that change nothing. */
const READING = ["GET", "HEAD"];
const NO_ANSWER = {
  success: false,
  errors: [{ code: 1000, message: "No answer: read before you repeat a change." }],
  messages: [],
  result: null,
};

/** Returns the decoded verdict. The body is read only once the wasm has seen a token. */
export async function managed(request, env, ctx) {
  try {
    const file = await cockpitFile(request, env);
    if (file) return file;
    const { url, method } = request;
    const credentials = credentialsOf(request) + (await personOf(request, env));
    const operation = (call, body) => operated({ ...call, credentials }, body, env, ctx);
    const ask = (path) => operation({ url: path, method: "GET" });
    const { pathname } = new URL(url);
    const reads = READING.includes(method);
    if (reads && pathname === METRICS_PATH) return await metrics(url, ask, () => lastUsage(env));
    if (method === "GET" && pathname === LIVE_PATH) return await live(url, ask);
    if (method === "POST" && pathname === TEST_VISITOR_PATH) {
      const call = (by, path, body) => {
        const address = new URL(`/_waiting-room/client/v4/${path}`, url).href;
        return operation({ url: address, method: by }, body);
      };
      return await testVisitor(request, call, () => bodyOf(request, VISIT_BYTES_MAX), env);
    }
    if (pathname === GRAPHQL_PATH) {
      return await graphql(url, method, ask, () => bodyOf(request, QUESTION_BYTES_MAX));
    }
    if (asksLog(method, pathname)) return await ownersLog(url, ask, env);
    const verdict = await operation({ url, method });
    if (verdict.kind === "describe") return { ...verdict, kind: "respond", body: description };
    if (verdict.kind === "examine") {
      const known = wasm.doctors_answer(url);
      return { ...verdict, kind: "respond", body: await examined(known, request, env) };
    }
    const done = await withBody(request, verdict, operation);
    return deletesRooms(method, pathname) ? await withoutRest(url, done, ask, env) : done;
  } catch (error) {
    console.error(`a request of the management surface failed: ${error}`);
    const headers = [
      ["content-type", "application/json"],
      ["cache-control", "private, no-store"],
    ];
    return { kind: "respond", after: false, status: 503, headers, body: JSON.stringify(NO_ANSWER) };
  }
}

/** Makes the call again with its body, if `verdict` asks for that. */
async function withBody(request, verdict, operation) {
  if (verdict.kind !== "read-body") return verdict;
  const { url, method } = request;
  return operation({ url, method }, await bodyOf(request, verdict.atMostBytes));
}

/** Who calls, a line for each header: what may be a token, and from where guesses are counted. */
function credentialsOf(request) {
  let lines = `client-address: ${clientAddress(request)}\n`;
  for (const name of HEADERS_READ) {
    const value = request.headers.get(name);
    if (value !== null) lines += `${name}: ${value}\n`;
  }
  return lines;
}

/** Whom Cloudflare Access has signed in, or why nobody: a line, "" where it is not asked. */
async function personOf(request, env) {
  const { headers } = request;
  const isAsked = Boolean(env.ACCESS_TEAM) && headers.has(ACCESS_HEADER);
  if (!isAsked || headers.has("authorization") || headers.has("x-auth-key")) return "";
  // A module of its own: visits never run it.
  const { signedIn } = await import("./access.js");
  const { person, refusal } = await signedIn(request, env);
  return person ? `access-person: ${person}\n` : `access-refusal: ${refusal}\n`;
}

/** Performs an operation, and lets visits look for what it has changed. */
async function operated({ url, method, credentials }, body, env, ctx) {
  const part = await central(env);
  const answer = () => part.wasm.manage(url, method, credentials, body, env);
  const verdict = decode(await part.guard(answer, OPERATION_LIMIT_MS));
  if (verdict.after) {
    const refreshed = part.guard(() => part.wasm.refresh(env), OPERATION_LIMIT_MS);
    ctx.waitUntil(refreshed.catch((error) => console.error(`no newer configuration: ${error}`)));
  }
  const hasChanged = !READING.includes(method) && verdict.status < 300;
  if (hasChanged) wasm.expect_change();
  return { ...verdict, after: hasChanged };
}

async function bodyOf(request, most) {
  const body = await beginning(request, most, BODY_LIMIT_MS);
  if (body === undefined) throw new Error("its body did not come");
  return body;
}
