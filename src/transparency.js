// Answers for the log of a room's admissions: everybody below the room's own path, if the owner
// publishes it, and each visitor inside for the receipt; the owner below the API. The object that
// keeps the log knows of no request: who may ask is decided before.
import { logOf } from "./objects.js";
import { within } from "./copies.js";
import { roomCount } from "./room_count.js";

/** What stands behind a room's path in the API. */
const OWN = /^\/_waiting-room\/client\/v4\/(zones\/[^/]+\/waiting_rooms\/([0-9a-f]{32}))\/(.+)$/;
const NAME = "transparency_log";
/** How many questions this isolate passes on in a second, of the owner and of others: no more. */
const QUESTIONS_MAX = 50;
/** How long the log may take, in milliseconds: it waits for data centers, for 3 s twice. */
const ANSWER_MS = 8_000;
/** How long a checkpoint is told again, in milliseconds, and those of how many rooms. */
const TOLD_MS = 5_000;
const TOLD_MAX = 100;
const SECOND_MS = 1_000;
const IMMUTABLE = "public, max-age=31536000, immutable";
const BRIEF = "public, max-age=5";
const PRIVATE = "private, no-store";
const OPEN = ["access-control-allow-origin", "*"];

/** The questions of this second: the owner's, and all others'. */
const ofOwner = { second: 0, count: 0 };
const ofOthers = { second: 0, count: 0 };
/** Checkpoints that were told, by room. */
const told = new Map();

/** Answers a visitor, or anybody: `log` is the verdict. Returns a verdict too. */
export async function logAnswer({ room, host, isPublic, visitor, path }, method, env) {
  if (method !== "GET" && method !== "HEAD") {
    return plain(405, "GET reads the log.", ["allow", "GET"]);
  }
  const origin = originOf(host, room);
  try {
    if (path === "receipt") return await receipt({ room, origin, visitor }, env);
    if (!isPublic) return plain(404, "The log of this room is not public.");
    const answer = await file({ room, origin, path, spent: ofOthers }, env);
    return { ...answer, headers: [...answer.headers, OPEN] };
  } catch (error) {
    console.error(`the transparency log cannot be read: ${error}`);
    return plain(503, "The log does not answer now.", ["retry-after", "5"]);
  }
}

/** Asks the log of a room; throws if it fails, or does not answer in time. */
async function asked(env, room, question) {
  const ask = async () => ({ told: await logOf(env, room).log(question) });
  const answer = await within(ANSWER_MS, ask());
  if (!answer) throw new Error("no answer");
  return answer.told;
}

/** Whether the owner asks for a log with this request. */
export function asksLog(method, pathname) {
  const [, , , rest] = OWN.exec(pathname) ?? [];
  const isOne = rest === NAME || rest?.startsWith(`${NAME}/`);
  return Boolean(isOne) && (method === "GET" || method === "HEAD");
}

/**
 * Answers the owner. `ask(path)` makes a call of the API below `url` with the credentials of the
 * request, and returns its verdict: the wasm decides who may see the room.
 */
export async function ownersLog(url, ask, env) {
  const [, of, room, rest] = OWN.exec(new URL(url).pathname);
  const call = (path) => ask(new URL(`/_waiting-room/client/v4/${path}`, url).href);
  const found = await call(of);
  if (found.status !== 200) return found;
  const { result } = JSON.parse(found.body);
  const origin = originOf(result.host, room);
  if (rest !== NAME) {
    const path = rest.slice(NAME.length + 1);
    const answer = await file({ room, origin, path, spent: ofOwner }, env);
    return answer.status === 200 ? answer : failed(answer);
  }
  const status = await asked(env, room, { ask: "status", origin });
  if (!status) return missing("This room has logged no admission yet.");
  const told = async (path) => {
    const { status: code, body } = await call(path);
    return code === 200 ? JSON.parse(body) : undefined;
  };
  const fromMs = Date.parse(status.counted_from);
  const count = await roomCount({ call: told, of, room: result, fromMs, now: Date.now() });
  const answer = { ...status, ...count };
  return json(200, { result: answer, success: true, errors: [], messages: [] });
}

/** Deletes the log of a room. Returns whether it is gone. */
export async function deleteLog(room, env) {
  told.delete(room);
  try {
    return await asked(env, room, { ask: "delete" });
  } catch (error) {
    console.error(`the transparency log of a deleted room stays: ${error}`);
    return false;
  }
}

async function file({ room, origin, path, spent }, env) {
  if (path === "checkpoint") {
    const checkpoint = await checkpointOf({ room, origin, spent }, env);
    return checkpoint ? text(checkpoint, BRIEF) : refused(checkpoint);
  }
  if (path === "key") {
    const key = mayAsk(spent) && (await asked(env, room, { ask: "key", origin }));
    return key ? text(`${key}\n`, BRIEF) : refused(key === false ? null : key);
  }
  if (!path.startsWith("tile/")) return plain(404, "The log has no such file.");
  if (!mayAsk(spent)) return refused(null);
  const bytes = await asked(env, room, { ask: "file", path });
  if (!bytes) return plain(404, "The log has no such file yet.");
  const headers = [["content-type", "application/octet-stream"], ["cache-control", IMMUTABLE]];
  return { kind: "respond", after: false, status: 200, headers, body: bytes };
}

/** The newest checkpoint: undefined if there is none, null if too many ask. */
async function checkpointOf({ room, origin, spent }, env) {
  const known = told.get(room);
  if (known && Date.now() < known.until) return known.checkpoint;
  if (!mayAsk(spent)) return known?.checkpoint ?? null;
  const checkpoint = await asked(env, room, { ask: "checkpoint", origin });
  if (told.size >= TOLD_MAX) told.clear();
  told.set(room, { checkpoint, until: Date.now() + TOLD_MS });
  return checkpoint;
}

async function receipt({ room, origin, visitor }, env) {
  if (!visitor) return plain(403, "Only a visitor who is inside has a receipt.");
  if (!mayAsk(ofOthers)) return refused(null);
  const [name, admitted] = visitor.split(" ");
  const question = { ask: "receipt", origin, visitor: name, admitted: Number(admitted) };
  const proof = await asked(env, room, question);
  if (!proof) {
    return plain(404, "The admission is not in the log yet.", ["retry-after", "10"]);
  }
  const attached = ["content-disposition", 'attachment; filename="receipt.tlog-proof"'];
  const answer = text(proof, PRIVATE);
  return { ...answer, headers: [...answer.headers, attached] };
}

function refused(checkpoint) {
  if (checkpoint === null) return plain(429, "Too many ask for the log.", ["retry-after", "1"]);
  return plain(404, "Nobody was admitted yet.");
}

/** Whether one more question may be passed on in this second. */
function mayAsk(spent) {
  const second = Math.floor(Date.now() / SECOND_MS);
  if (spent.second !== second) Object.assign(spent, { second, count: 0 });
  spent.count += 1;
  return spent.count <= QUESTIONS_MAX;
}

/** The name of a room's log; an object keeps the first that it hears. */
const originOf = (host, room) => `${host}/waiting-room/${room}`;

function text(body, caching) {
  const headers = [["content-type", "text/plain; charset=utf-8"], ["cache-control", caching]];
  return { kind: "respond", after: false, status: 200, headers, body };
}

function plain(status, sentence, ...more) {
  const answer = text(`${sentence}\n`, PRIVATE);
  return { ...answer, status, headers: [...answer.headers, ...more] };
}

function json(status, value) {
  const headers = [["content-type", "application/json"], ["cache-control", PRIVATE]];
  return { kind: "respond", after: false, status, headers, body: JSON.stringify(value) };
}

function missing(message, status = 404, more = []) {
  const errors = [{ code: 1001, message }];
  const answer = json(status, { result: null, success: false, errors, messages: [] });
  return { ...answer, headers: [...answer.headers, ...more] };
}

/** A refusal in the form of the API. */
function failed({ status, headers, body }) {
  const kept = headers.filter(([name]) => name === "retry-after");
  return missing(body.trim(), status, kept);
}
