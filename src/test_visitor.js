// `/_waiting-room/test-visitor`: a visitor whom the owner sends through the line, to see that it
// works. The wasm decides about it as about anybody, and it takes a place; its requests never reach
// the site. It makes the calls of the API that an owner would make: the wasm decides who may.
import * as wasm from "../build/worker/gen/waiting_room.js";
import { coloOf } from "./client.js";
import { visits } from "./instance.js";
import { refusal } from "./live.js";
import { decode } from "./verdict.js";

/** Where it stands, below a host of owners. */
export const TEST_VISITOR_PATH = "/_waiting-room/test-visitor";
/** The longest body of a question, in bytes: an address and a ticket. */
export const VISIT_BYTES_MAX = 16 * 1_024;
const ROOM = /^([0-9a-f]{32})\/([0-9a-f]{32})$/;
const DECISION_LIMIT_MS = 5_000;
const HEADERS = [
  ["content-type", "application/json"],
  ["cache-control", "private, no-store"],
];

/**
 * Returns the verdict that tells what became of one visit: `{ outcome, ticket, cookie }`, where
 * `outcome` is "inside", "waits", "left", "stays" (to the end of its session: the room's log counts
 * whole ones), or why the room does not decide, as the API's trial of a request says it.
 * `ask(method, path, body)` makes a call of the API with the credentials of the request, and
 * returns its verdict; `readBody()` reads the body: `{ url, ticket, leaves }`.
 */
export async function testVisitor(request, ask, readBody, env) {
  const named = ROOM.exec(new URL(request.url).searchParams.get("room") ?? "");
  const [, zone, id] = named ?? [];
  const room = `zones/${zone}/waiting_rooms/${id}`;
  // Without a body it is only asked who may steer the room: a test visitor takes a place.
  const access = await ask("PATCH", room);
  // Who sends no token is refused before the path is looked at.
  if (!named && access.status === 404) {
    return refusal(400, 1_100, "The parameter room must be <zone id>/<room id>.");
  }
  if (access.kind !== "read-body") return access;
  const { url: address, ticket = "", leaves } = visitIn(await readBody());
  const question = new TextEncoder().encode(JSON.stringify({ url: address }));
  const tried = await ask("POST", `${room}/rules/test`, question);
  if (tried.status !== 200) return tried;
  const { outcome } = JSON.parse(tried.body).result;
  if (outcome !== "decided_by_room") return told({ outcome });
  const colo = coloOf(request);
  if (leaves) {
    if (wasm.is_logged_whole(address)) return told({ outcome: "stays" });
    const removed = wasm.revoke(address, ticket, colo);
    return told({ outcome: "left" }, removed !== undefined);
  }
  const visit = new Request(address);
  const decide = () => wasm.handle(visit, address, "GET", ticket, "", colo, env);
  const verdict = decode(await visits.guard(decide, DECISION_LIMIT_MS));
  const cookie = verdict.setCookie ?? cookieIn(verdict.cookies) ?? null;
  const kept = cookie ? cookie.split(";")[0] : ticket;
  const became = OUTCOMES[verdict.kind] ?? "undecided";
  return told({ outcome: became, ticket: kept, cookie }, verdict.after);
}

const OUTCOMES = { forward: "inside", respond: "waits" };

function visitIn(body) {
  try {
    const { url, ticket, leaves } = JSON.parse(new TextDecoder().decode(body));
    return { url, ticket: typeof ticket === "string" ? ticket : undefined, leaves };
  } catch {
    return {};
  }
}

function cookieIn(cookies = []) {
  return cookies[0]?.[1];
}

function told(result, after = false) {
  const body = JSON.stringify({ success: true, errors: [], messages: [], result });
  return { kind: "respond", after, status: 200, headers: HEADERS, body };
}
