/**
 * An imitation of Cloudflare Access for tests, after its documentation: it publishes two keys, and
 * makes the tokens that Access adds to requests, good and bad ones. It can also be silent, slow or
 * answer rubbish.
 */

import crypto from "node:crypto";
import http from "node:http";
import { promisify } from "node:util";

const generate = promisify(crypto.generateKeyPair);
const TEAM = "shop.cloudflareaccess.com";
const ISSUER = `https://${TEAM}`;
const AUDIENCE = "32eafc7626e974616deaf0dc3ce63d7bcbed58a2731e84d06bc3cdf1b53c4228";
const SESSION_S = 86_400;

/** Starts Access on a free port of this machine. */
export async function startAccess() {
  const access = new Access();
  await access.start();
  return access;
}

class Access {
  #server = http.createServer((request, response) => this.#answer(response));
  #keys = [];
  /** How often its keys were asked for. */
  questions = 0;
  /** How it fails: "silence", "broken", "rubbish", "huge", "empty"; `undefined` while it works. */
  fault;

  async start() {
    this.#keys = [await key("present"), await key("before")];
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  /** Options of a cluster behind it, with more variables of the Worker. */
  options(vars) {
    return {
      outside: { [TEAM]: this.#server.address().port },
      vars: { ACCESS_TEAM: "shop", ACCESS_AUD: AUDIENCE, ...vars },
    };
  }

  /** Signs with a new key from now on, and keeps the one before. */
  async rotate() {
    this.#keys = [await key(`key-${crypto.randomUUID()}`), this.#keys[0]];
  }

  /**
   * Makes the header with a token of somebody who has just signed in, at `now` in milliseconds.
   * `more` replaces claims, and `head` fields of the token's head.
   */
  header(now, more, head) {
    return { "cf-access-jwt-assertion": this.token(now, more, head) };
  }

  token(now, more, head) {
    const { kid, privateKey } = this.#keys[0];
    const text = textOf(now, more, { alg: "RS256", kid, typ: "JWT", ...head });
    return `${text}.${crypto.sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
  }

  /** A token that names Access' key and is signed with another. */
  async forged(now, more) {
    const { privateKey } = await generate("rsa", { modulusLength: 2_048 });
    const text = textOf(now, more, { alg: "RS256", kid: this.#keys[0].kid });
    return `${text}.${crypto.sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
  }

  /** A token without a signature. */
  unsigned(now, more, alg = "none") {
    return `${textOf(now, more, { alg, kid: this.#keys[0].kid })}.`;
  }

  /** A token that is signed by HS256 with the public key, which everybody knows, as its secret. */
  hashed(now, more) {
    const { kid, publicKey } = this.#keys[0];
    const text = textOf(now, more, { alg: "HS256", kid });
    const secret = publicKey.export({ type: "spki", format: "pem" });
    return `${text}.${crypto.createHmac("sha256", secret).update(text).digest("base64url")}`;
  }

  #answer(response) {
    this.questions += 1;
    const jwks = this.#keys.map(({ kid, publicKey }) => ({
      ...publicKey.export({ format: "jwk" }),
      kid,
      alg: "RS256",
      use: "sig",
    }));
    const answers = {
      silence: () => {},
      broken: () => response.writeHead(503).end("<h1>Service Unavailable</h1>"),
      rubbish: () => response.end("<html>"),
      empty: () => response.end('{"keys":[null,{},{"kty":"oct","kid":"present"}]}'),
      huge: () => response.end(JSON.stringify({ keys: jwks, public_cert: "x".repeat(100_000) })),
    };
    const works = () => response.end(JSON.stringify({ keys: jwks }));
    (answers[this.fault] ?? works)();
  }
}

async function key(kid) {
  return { kid, ...(await generate("rsa", { modulusLength: 2_048 })) };
}

function textOf(now, more, head) {
  const iat = Math.floor(now / 1_000);
  const claims = {
    aud: [AUDIENCE],
    email: "anna@shop.example",
    exp: iat + SESSION_S,
    iat,
    nbf: iat,
    iss: ISSUER,
    type: "app",
    sub: "7335d417-61da-459d-899c-0a01c76a2f94",
    country: "DE",
    ...more,
  };
  const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${encoded(head)}.${encoded(claims)}`;
}
