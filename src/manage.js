// Requests of the management surface: reads what the wasm asks for, and gives back its verdict. It
// may not decide who is let in or what a request means.
import * as wasm from "../build/worker/gen/waiting_room.js";
import { guard } from "./instance.js";
import description from "./openapi.json.txt";

/** An operation that takes longer is given up, in milliseconds; reading the body is not counted. */
const OPERATION_LIMIT_MS = 5_000;
/** The headers that may name a token. */
const CREDENTIAL_HEADERS = ["authorization", "x-auth-email", "x-auth-key"];
/** A verdict that wants the description of the API as its body, and the page that it becomes. */
const DESCRIBED = { D: "G", d: "g" };
const NO_ANSWER = {
  success: false,
  errors: [{ code: 1000, message: "No answer: read before you repeat a change." }],
  messages: [],
  result: null,
};

/** The verdict on a request; nobody without a token makes us read a body. */
export async function managed(request, env) {
  try {
    const verdict = await operation(request, undefined, env);
    const page = DESCRIBED[verdict[0]];
    if (page) return `${page}${verdict.slice(1)}\n\n${description}`;
    if (verdict[0] !== "B") return verdict;
    return await operation(request, await beginning(request, Number(verdict.slice(1))), env);
  } catch (error) {
    console.error(`a request of the management surface failed: ${error}`);
    const headers = "content-type: application/json\ncache-control: private, no-store";
    return `G503\n${headers}\n\n${JSON.stringify(NO_ANSWER)}`;
  }
}

function operation({ url, method, headers }, body, env) {
  let lines = "";
  for (const name of CREDENTIAL_HEADERS) {
    const value = headers.get(name);
    if (value !== null) lines += `${name}: ${value}\n`;
  }
  return guard(() => wasm.manage(url, method, lines, body, env), OPERATION_LIMIT_MS);
}

/** The body; of one that is longer than `most` bytes somewhat more than these. */
async function beginning({ body }, most) {
  const chunks = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > most) break;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
