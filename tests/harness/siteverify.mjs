/**
 * A siteverify for tests, after its documentation: it knows the tokens that it has handed out,
 * takes each once, and repeats an answer to the same idempotency key. It can also be silent or
 * fail. It knows nothing of waiting rooms.
 */

import { randomUUID } from "node:crypto";
import http from "node:http";

/** The host that Workers of a test reach it by; see `outside` of `startCluster`. */
export const SITEVERIFY_HOST = "siteverify.example";
/** Where they ask. */
export const SITEVERIFY_URL = `https://${SITEVERIFY_HOST}/turnstile/v0/siteverify`;
export const SITE_KEY = "0x4AAAAAAATESTS";
export const SECRET = "0x4AAAAAAATESTSECRET";

/** Starts one. */
export async function startSiteverify() {
  const siteverify = new Siteverify();
  await siteverify.listen();
  return siteverify;
}

class Siteverify {
  #tokens = new Map();
  #answers = new Map();
  #server = http.createServer((request, response) => this.#answer(request, response));
  /** The questions so far, parsed. */
  questions = [];
  /** What comes instead of an answer: "silence", "internal-error" or "broken"; nothing usually. */
  fault;

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get port() {
    return this.#server.address().port;
  }

  /** A token as a passed challenge gives it, for a page of `hostname` whose widget has `action`. */
  token(hostname, action) {
    const token = `1.${randomUUID()}.tests_-`;
    this.#tokens.set(token, { hostname, action });
    return token;
  }

  /** Works again, and has been asked nothing. */
  forget() {
    this.questions = [];
    this.fault = undefined;
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request, response) {
    let body = "";
    for await (const chunk of request) body += chunk;
    const question = JSON.parse(body);
    this.questions.push(question);
    if (this.fault === "silence") return;
    response.setHeader("content-type", "application/json");
    if (this.fault === "broken") return response.writeHead(503).end("<h1>Service Unavailable</h1>");
    const answer = this.fault ? refused(this.fault) : this.#judge(question);
    response.end(JSON.stringify(answer));
  }

  #judge({ secret, response, idempotency_key: key }) {
    if (!secret) return refused("missing-input-secret");
    if (secret !== SECRET) return refused("invalid-input-secret");
    if (!response) return refused("missing-input-response");
    if (response.length > 2_048) return refused("invalid-input-response");
    if (key !== undefined && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(key)) {
      return refused("bad-request");
    }
    const before = this.#answers.get(key);
    if (before?.response === response) return before.answer;
    const token = this.#tokens.get(response);
    if (!token) return refused("invalid-input-response");
    if (token.used) return refused("timeout-or-duplicate");
    token.used = true;
    const { hostname, action } = token;
    const stamp = new Date().toISOString();
    const answer = { success: true, challenge_ts: stamp, hostname, action, cdata: "" };
    Object.assign(answer, { "error-codes": [], metadata: {} });
    this.#answers.set(key, { response, answer });
    return answer;
  }
}

function refused(code) {
  return { success: false, "error-codes": [code], messages: [] };
}
