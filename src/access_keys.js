// The public keys by which Cloudflare Access signs, as this isolate knows them. They are asked for
// seldom, however many requests name a key that nobody has.
import { beginning } from "./body.js";

/** How long keys are used before they are asked for again, in milliseconds. */
const FRESH_MS = 3_600_000;
/**
 * How long known keys are used while Access does not answer, in milliseconds. It changes them
 * rarely.
 */
const KEPT_MS = 86_400_000;
/** The least time between two questions, in milliseconds, after an answer and after none. */
const ASK_AFTER_MS = 30_000;
const ASK_AGAIN_MS = 5_000;
/** How long an answer may take, in milliseconds. */
const LIMIT_MS = 3_000;
/** Time between two looks of a request that waits for another's answer, in milliseconds. */
const POLL_MS = 10;
/** The longest answer, in bytes. Access' has about 10,000. */
const ANSWER_BYTES_MAX = 65_536;
/** Access has two keys, the present one and the one before. */
const KEYS_MAX = 10;
/** A modulus of 2,048 bits has so many characters in base64url. */
const MODULUS_CHARACTERS_MIN = 342;
const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

const known = { team: "", keys: new Map(), asOf: 0, askedAt: 0, askAt: 0, asks: false };

/**
 * Returns the key that a team's tokens name `kid`; nothing if there is none, or none is known and
 * Access does not answer.
 */
export async function keyOf(team, kid) {
  if (known.team !== team) Object.assign(known, { team, keys: new Map(), asOf: 0, askAt: 0 });
  const isKept = (ms) => Date.now() - known.asOf < ms;
  if (isKept(FRESH_MS) && known.keys.has(kid)) return known.keys.get(kid);
  if (Date.now() >= known.askAt) await ask(team);
  // A request cannot wait for another's promise.
  while (known.asks && Date.now() - known.askedAt < LIMIT_MS && !known.keys.has(kid)) {
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
  return isKept(KEPT_MS) ? known.keys.get(kid) : undefined;
}

async function ask(team) {
  const askedAt = Date.now();
  Object.assign(known, { askedAt, asks: true, askAt: askedAt + ASK_AFTER_MS });
  const keys = await read(team).catch(() => new Map());
  if (known.team !== team) return;
  if (keys.size > 0) Object.assign(known, { keys, asOf: askedAt });
  else known.askAt = Date.now() + ASK_AGAIN_MS;
  known.asks = false;
}

/** Reads the keys of a team, by their names; those that cannot be used are left out. */
export async function read(team) {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const answer = await fetch(`${team}/cdn-cgi/access/certs`, { signal, redirect: "manual" });
  if (answer.status !== 200) throw new Error(`the status is ${answer.status}`);
  const bytes = await beginning(answer, ANSWER_BYTES_MAX, LIMIT_MS);
  if (!bytes || bytes.length > ANSWER_BYTES_MAX) throw new Error("the answer is too long or late");
  const { keys } = JSON.parse(new TextDecoder().decode(bytes));
  const usable = keys.filter(isUsable).slice(0, KEYS_MAX);
  const imported = usable.map(async ({ kid, n, e }) => {
    const jwk = { kty: "RSA", n, e, alg: "RS256", ext: true };
    return [kid, await crypto.subtle.importKey("jwk", jwk, RSA, false, ["verify"])];
  });
  return new Map(await Promise.all(imported));
}

function isUsable({ kid, kty, n, e, alg = "RS256", use = "sig" }) {
  const isText = [kid, n, e].every((text) => typeof text === "string" && text.length > 0);
  const isForUs = kty === "RSA" && alg === "RS256" && use === "sig";
  return isText && isForUs && n.length >= MODULUS_CHARACTERS_MIN;
}

/** Whether a key has made this signature. */
export function isSigned(key, signature, text) {
  return crypto.subtle.verify(RSA.name, key, signature, new TextEncoder().encode(text));
}
