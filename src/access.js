// Sign-in by Cloudflare Access: checks the token that Access adds to each request, and tells the
// wasm who sends it and what that person may. Loaded at the first request with such a token.
import { isSigned, keyOf, read } from "./access_keys.js";
import { rightsOf, settingsOf } from "./access_roles.js";

/** The header with the token. The cookie beside it counts nothing: it may be missing. */
const TOKEN_HEADER = "cf-access-jwt-assertion";
/** The longest token, in characters. Access' have about 1,000. */
const TOKEN_CHARACTERS_MAX = 8_192;
const PART = /^[\w-]+$/;
const KEY_NAME = /^[\w.-]{1,128}$/;
/** The longest name of a person, in bytes, as of a token. */
const NAME_BYTES_MAX = 120;
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const SERVICE = /^[\w.-]+$/;
const GROUPS_MAX = 200;
/** How far Access' clock may be ahead, in seconds. */
const SKEW_S = 60;
const WRONG = "This sign-in is not valid.";

/** Why nobody is signed in, in a sentence for the sender. */
class Refusal extends Error {}

/**
 * Returns who sends a request by Access' token: `{ person }`, a JSON text of the fields of a token,
 * or `{ refusal }`, a sentence.
 */
export async function signedIn(request, env) {
  try {
    const { team, audiences, roles, problems } = settingsOf(env);
    if (!team || audiences.length === 0 || !roles) throw new Refusal(`${problems.join("; ")}.`);
    check(isFromHere(request), "The request came from a page of another site.");
    const token = request.headers.get(TOKEN_HEADER);
    const claims = await claimsOf(token, { team, audiences }, Date.now());
    const person = personOf(claims);
    const rights = rightsOf(person, roles);
    check(rights, `${person.name} is signed in, but ACCESS_ROLES gives no right.`);
    return { person: JSON.stringify(fieldsOf(person, rights, claims)) };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.message };
    console.error(`a sign-in by Access could not be checked: ${error}`);
    return { refusal: WRONG };
  }
}

/**
 * Tells the doctor `{ problems, people, keys, failed }`: what is wrong in the variables, how many
 * entries ACCESS_ROLES has, and how many keys Access publishes, or why none was read.
 */
export async function examinedAccess(env) {
  const { team, roles, problems } = settingsOf(env);
  const told = { problems, people: roles?.size ?? 0 };
  if (!team) return { ...told, keys: 0 };
  try {
    return { ...told, keys: (await read(team)).size };
  } catch (error) {
    return { ...told, keys: 0, failed: String(error.message ?? error) };
  }
}

/**
 * Whether no other site's page has caused a request. Browsers send Access' cookie with requests
 * that any page causes, and Access adds the token to these as to all others.
 */
function isFromHere({ url, method, headers }) {
  const reads = method === "GET" || method === "HEAD";
  const site = headers.get("sec-fetch-site");
  // An address that was typed or kept has no page before it.
  if (site !== null) return site === "same-origin" || (reads && site === "none");
  const origin = headers.get("origin");
  // Programs send neither: for a change they have to say so.
  return origin === null ? reads : URL.parse(origin)?.host === new URL(url).host;
}

/** Returns what a token says, once everything about it is right. What is cheap comes first. */
async function claimsOf(token, { team, audiences }, nowMs) {
  const parts = token.length > TOKEN_CHARACTERS_MAX ? [] : token.split(".");
  check(parts.length === 3 && parts.every((part) => PART.test(part)), WRONG);
  const [head, body, signature] = parts;
  const { alg, kid, crit } = objectIn(head);
  check(alg === "RS256" && crit === undefined, WRONG);
  check(typeof kid === "string" && KEY_NAME.test(kid), WRONG);
  const claims = objectIn(body);
  const { iss, aud, type = "app", exp, nbf, iat } = claims;
  check(iss === team, "This sign-in is of another team than ACCESS_TEAM.");
  const isForUs = [aud].flat().some((tag) => audiences.includes(tag));
  check(isForUs && type === "app", "This sign-in is for another application than ACCESS_AUD.");
  const now = nowMs / 1_000;
  check([exp, iat, nbf ?? iat].every(isTime), WRONG);
  check(now < exp, "This sign-in has ended: load the page again.");
  check(Math.max(iat, nbf ?? iat) <= now + SKEW_S, "This sign-in is not valid yet.");
  const key = await keyOf(team, kid);
  check(key, "The key of this sign-in is not known, or Access does not answer: try again.");
  check(await isSigned(key, bytesOf(signature), `${head}.${body}`), WRONG);
  return claims;
}

/** Whether these are seconds since 1970, of the next thousands of years. */
function isTime(seconds) {
  return Number.isFinite(seconds) && seconds > 0 && seconds < 1e11;
}

function personOf({ email, common_name: service, groups, custom }) {
  const isService = !email;
  const name = isService ? service : email;
  const isNamed = typeof name === "string" && (isService ? SERVICE : EMAIL).test(name);
  check(isNamed, "This sign-in names nobody.");
  const isShort = new TextEncoder().encode(name).length <= NAME_BYTES_MAX;
  check(isShort, `The address of this sign-in is longer than ${NAME_BYTES_MAX} bytes.`);
  // An identity provider's groups, where the owner has made them a claim.
  const told = [groups, custom?.groups].flat().filter((group) => typeof group === "string");
  return { name: name.toLowerCase(), isService, groups: told.slice(0, GROUPS_MAX) };
}

function fieldsOf({ name }, { role, zones, rooms }, { exp, iat }) {
  const moment = (seconds) => new Date(seconds * 1_000).toISOString();
  const began = Math.min(iat, Date.now() / 1_000);
  return { name, role, zones, rooms, not_before: moment(began), expires_on: moment(exp) };
}

function check(isRight, why) {
  if (!isRight) throw new Refusal(why);
}

function objectIn(part) {
  let read;
  try {
    read = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(part)));
  } catch {
    // A stranger's text is no line of the log.
  }
  check(typeof read === "object" && read && !Array.isArray(read), WRONG);
  return read;
}

/** Reads base64url; nothing of what is none. */
function bytesOf(part) {
  const bytes = part.length % 4 === 1 ? "" : atob(part.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
}
