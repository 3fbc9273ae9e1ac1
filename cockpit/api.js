// Calls of the management API from the page, and what is to be said when one fails.
import { secondsOf } from "../transparency/download.js";
import { localized } from "./facts.js";
import { rightsOf } from "./roles.js";

const BASE = "/_waiting-room/client/v4/";
const LIVE = "/_waiting-room/live";
const VISITOR = "/_waiting-room/test-visitor";
/** How long an answer may take, in milliseconds: an object's silence is told within 5 s. */
const PATIENCE_MS = 8_000;
const ENTRIES_PER_PAGE = 1_000;
/** How many entries of the audit log are looked at for changes that can be undone. */
const LOG_ENTRIES = 500;
/** The status of a change of a version that is not the present one. */
export const CHANGED = 412;
const MISSING_TOKEN = 10_000;
const GUESSED_TOO_OFTEN = 10_429;
/** Cloudflare Access' status for a call of a page whose sign-in has ended. */
const SIGNED_OUT = 401;

/**
 * A call that was not answered as hoped; its message is for the owner, `errors` are its parts:
 * `{ field, pointer, message }`, with the field of the body that one is about, and its place.
 */
export class Refusal extends Error {
  constructor(message, { status = 0, code = 0, errors = [] } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }

  /** Whether the token opens nothing any more, or Cloudflare Access signs nobody in. */
  get isOfToken() {
    return this.code === MISSING_TOKEN || this.status === SIGNED_OUT;
  }
}

/** Calls the API with a token, or without by Cloudflare Access, and returns its `result`. */
export async function call(...parameters) {
  return (await ask(...parameters)).result;
}

/**
 * Calls the API with a token, and returns its answer: `{ result, messages, tag }`, where the `tag`
 * names the version of a document. A change with a tag is made of that version alone, else the
 * refusal has the status `CHANGED`.
 */
export async function ask(token, method, path, body, tag) {
  const headers = tag && { "if-match": tag };
  return answered(token, BASE + path, { method, headers, body: body && JSON.stringify(body) });
}

/** Reads the bytes of a file below the API; a refusal has `retryAfterS` if it says so. */
export async function bytes(token, path) {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const response = await send(token, BASE + path, { signal });
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  const refusal = refusalOf(response.status, await response.json().catch(() => undefined));
  const retryAfterS = secondsOf(response.headers.get("retry-after"));
  throw Object.assign(refusal, { retryAfterS });
}

/** Sends a test visitor to a room, `zone/room`, and returns what became of the visit. */
export async function visit(token, room, body) {
  const options = { method: "POST", body: JSON.stringify(body) };
  return (await answered(token, `${VISITOR}?room=${room}`, options)).result;
}

async function answered(token, path, options) {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const response = await send(token, path, { ...options, signal });
  const answer = await response.json().catch(() => undefined);
  // Whoever packs an answer on its way makes its tag a weak one, which no change may name.
  const tag = response.headers.get("etag")?.replace(/^W\//, "");
  if (answer?.success) return { messages: [], ...answer, tag };
  throw refusalOf(response.status, answer);
}

/**
 * Opens the stream of numbers of some rooms, `zone/room` each, and returns the reader of its text;
 * `signal` ends it.
 */
export async function stream(token, rooms, signal) {
  const response = await send(token, `${LIVE}?rooms=${rooms.join(",")}`, { signal });
  if (response.ok) return response.body.pipeThrough(new TextDecoderStream()).getReader();
  throw refusalOf(response.status, await response.json().catch(() => undefined));
}

async function send(token, path, options) {
  // Access wants its cookie, and answers such calls with a status instead of its sign-in page.
  const headers = { ...options.headers, "x-requested-with": "XMLHttpRequest" };
  if (token) headers.authorization = `Bearer ${token}`;
  const always = { headers, cache: "no-store", credentials: "same-origin", redirect: "error" };
  try {
    return await fetch(path, { ...options, ...always });
  } catch {
    throw new Refusal("The waiting room cannot be reached. Is the network up?");
  }
}

function refusalOf(status, answer) {
  const told = ({ message, ...error }) => ({ ...error, message: localized(message) });
  const errors = (answer?.errors ?? []).map(told);
  const said = errors.map(({ message }) => message).join(" ");
  const { code } = errors[0] ?? {};
  const parts = errors.map(({ message, source }) => ({
    field: source?.pointer?.split("/")[1],
    pointer: source?.pointer,
    message,
  }));
  const facts = { status, code, errors: parts };
  return new Refusal(said || `The answer has the status ${status}.`, facts);
}

/** Reads all rooms of all zones; `read` makes a call. */
async function allRooms(read) {
  const rooms = [];
  for (let page = 1; ; page += 1) {
    const path = `accounts/all/waiting_rooms?per_page=${ENTRIES_PER_PAGE}&page=${page}`;
    const found = await read("GET", path);
    rooms.push(...found);
    if (found.length < ENTRIES_PER_PAGE) return rooms;
  }
}

/**
 * Reads what owners have configured: `{ version, rooms, log, at }`. While the newest entry of the
 * log is the one that `known` has, and `known` is not older than `freshMs`, it is `known` itself.
 */
export async function configuration(read, known, freshMs) {
  const at = Date.now();
  const newest = await read("GET", "waiting_rooms/audit_log?per_page=5");
  const version = newest[0]?.version ?? 0;
  if (known?.version === version && at - known.at < freshMs) return known;
  const [rooms, log] = await Promise.all([
    allRooms(read),
    read("GET", `waiting_rooms/audit_log?per_page=${LOG_ENTRIES}`),
  ]);
  return { version, rooms, log, at };
}

/** Finds out what a token may do, as `rightsOf` says it. */
export async function rights(token) {
  return rightsOf(await call(token, "GET", "user/tokens/verify"));
}

/** Says why a token was not taken, and what to do. */
export function whyNotSignedIn({ code, message }) {
  if (code === MISSING_TOKEN) {
    return (
      "This is not a token that counts here. It is one made under People, the secret API_TOKEN, " +
      "or API_TOKEN_READ to look only; `npm run deploy` keeps them in " +
      "production/secrets.json, `npm start` in .dev.vars."
    );
  }
  if (code === GUESSED_TOO_OFTEN) {
    return (
      "This token is wrong, as were many of this network before. The right one counts at once."
    );
  }
  return message;
}

/** The path of a room, or of an event of it, as the API and its audit log write it. */
export function pathOf(room, event) {
  const path = `zones/${room.zone_id}/waiting_rooms/${room.id}`;
  return event ? `${path}/events/${event.id}` : path;
}
