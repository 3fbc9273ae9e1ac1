/**
 * An imitation of Turnstile's siteverify for tests, after its documentation: it accepts each token
 * that it has handed out once, and repeats an answer to the same idempotency key. It can also be
 * silent or fail.
 */

import { randomUUID } from "node:crypto";
import http from "node:http";

/** The host by which Workers of a test reach it. */
const HOST = "siteverify.example";
/** The public site key of the tests' widget. */
const SITE_KEY = "0x4AAAAAAATESTS";
/** The secret that this siteverify accepts. */
const SECRET = "0x4AAAAAAATESTSECRET";

/** Starts a siteverify on a free port of this machine. */
export async function startSiteverify() {
  const siteverify = new Siteverify();
  await siteverify.listen();
  return siteverify;
}

/** The options of `startCluster` by which its Workers ask this siteverify. */
export function asking({ port }) {
  return {
    outside: { [HOST]: port },
    vars: {
      TURNSTILE_SITE_KEY: SITE_KEY,
      TURNSTILE_SECRET: SECRET,
      TURNSTILE_VERIFY_URL: `https://${HOST}/turnstile/v0/siteverify`,
    },
  };
}

class Siteverify {
  #tokens = new Map();
  #answers = new Map();
  #server = http.createServer((request, response) => this.#answer(request, response));
  /** The bodies of the requests so far, parsed. */
  questions = [];
  /** How it fails: "silence", "internal-error" or "broken"; `undefined` while it works. */
  fault;

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get port() {
    return this.#server.address().port;
  }

  /** Makes a token like that of a passed challenge, for a page of `hostname` with this `action`. */
  token(hostname, action) {
    const token = `1.${randomUUID()}.tests_-`;
    this.#tokens.set(token, { hostname, action });
    return token;
  }

  /** Ends the fault, and forgets the requests so far. */
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
