// Measures for `npm run doctor`: this isolate, its caches and its clock, and the objects that the
// wasm names. Nothing here runs before an owner asks. scripts/doctor judges what is measured.
import { toldColo } from "./client.js";
import { readCopy, within, writeCopy } from "./copies.js";
import { life, visits } from "./instance.js";
import { stubOf } from "./objects.js";
import { lastUsage } from "./usage.js";

/** Grows when an older doctor could misread what is told. */
const FORMAT = 1;
/** As long as isolates and objects wait for an object, in milliseconds. */
const OBJECT_LIMIT_MS = 3_000;
/** Cloudflare answers it with the data center that was asked: the object's own. */
const TRACE = "https://www.cloudflare.com/cdn-cgi/trace";
const TRACE_LIMIT_MS = 2_000;
/** How long a trial copy is kept, in seconds. */
const TRIAL_S = 60;
/** So many readings of a clock that runs take some milliseconds. */
const CLOCK_READINGS = 50_000;
/** Longer ones are not told apart: nothing of a secret leaves but whether it can be guessed. */
const CHARACTERS_MAX = 64;

/** Completes what the wasm knows, a JSON text, by what is measured here. */
export async function examined(text, request, env) {
  const { url } = request;
  const envelope = JSON.parse(text);
  const { known } = envelope.result;
  const { objects, cache_hosts: hosts } = known;
  const arrivedAt = Date.now();
  life.examined += 1;
  const trial = /[?&]trial=([a-z0-9]{1,32})(?:&|$)/.exec(url)?.[1] ?? crypto.randomUUID();
  const all = [...new Set([...hosts, new URL(url).hostname])];
  const [usage, access, caches, answers] = await Promise.all([
    lastUsage(env),
    accessFacts(env),
    Promise.all(all.map((host) => cacheAt(host, trial, known))),
    Promise.all(objects.map((object) => objectAt(object, known, env))),
  ]);
  Object.assign(envelope.result, {
    format: FORMAT,
    arrived_at: arrivedAt,
    answered_at: Date.now(),
    isolate: isolateFacts(env, toldColo(request), arrivedAt),
    variables: variableFacts(env),
    secrets: secretFacts(env),
    usage: usage ?? null,
    access,
    caches,
    objects: answers,
  });
  return JSON.stringify(envelope);
}

/** What an object tells of itself: its machine is neither made nor asked. */
export async function examinedObject({ storage }, env, { began, calls }, question) {
  const told = { id: isolateId(), version: versionOf(env), began, calls, now: Date.now() };
  if (!question) return told;
  const { known, name, asksPlace } = question;
  const [host] = known.cache_hosts.slice(-1);
  const [place, cache] = await Promise.all([
    asksPlace ? placeOf() : undefined,
    cacheAt(host, `object/${name}`, known),
  ]);
  return { ...told, place, cache, ...storedFacts(storage) };
}

/** What a global aggregator has stored: the data centers it has heard, and its largest value. */
function storedFacts(storage) {
  const heard = new Set();
  let longest = 0;
  for (const [key, value] of storage.kv.list()) {
    const [, place] = /^source\/(\w+)\//.exec(key) ?? [];
    if (place) heard.add(place);
    longest = Math.max(longest, value.length ?? 0);
  }
  return { data_centers: [...heard], longest_value: longest, stored: storage.sql.databaseSize };
}

async function objectAt(object, known, env) {
  const { class: className, binding, name, hinted } = object;
  try {
    const { jurisdiction, location_hint: hint } = known;
    const place = { JURISDICTION: jurisdiction, LOCATION_HINT: hinted && hint };
    const stub = stubOf(place, env[binding], name);
    return { class: className, name, ...(await asked(stub, name, known)) };
  } catch (error) {
    return { class: className, name, failed: String(error) };
  }
}

/** Asks an object three times: it may have to begin first, then for its way, then for the rest. */
async function asked(stub, name, known) {
  const ask = async (question) => {
    const answer = stub.examine(question).catch((error) => ({ failed: String(error) }));
    return (await within(OBJECT_LIMIT_MS, answer)) ?? { failed: "silent" };
  };
  const began = Date.now();
  const first = await ask();
  if (first.failed) return first;
  const sent = Date.now();
  const second = await ask();
  const received = Date.now();
  if (second.failed) return second;
  const rest = await ask({ known, name, asksPlace: !known.local });
  const clock = second.now - (sent + received) / 2;
  return { ...first, ...rest, first_ms: sent - began, ms: received - sent, clock_ms: clock };
}

/** Writes a copy and reads it; `earlier` is who has written one of the same name before. */
async function cacheAt(host, trial, { cache_name: name, cache_limit_ms: limitMs }) {
  const key = `https://${host}/_waiting-room/doctor/${trial}`;
  const earlier = await readCopy(name, key, limitMs);
  const began = Date.now();
  const written = await writeCopy(name, key, isolateId(), TRIAL_S, limitMs);
  const read = await readCopy(name, key, limitMs);
  const ms = Date.now() - began;
  return { host, earlier: earlier ?? null, written: written === true, read: found(read), ms };
}

function found(copy) {
  if (copy === undefined) return "silent";
  return copy === null ? "missing" : "found";
}

async function placeOf() {
  try {
    const answer = await fetch(TRACE, { signal: AbortSignal.timeout(TRACE_LIMIT_MS) });
    return /^colo=(\w+)$/m.exec(await answer.text())?.[1];
  } catch {
    return undefined;
  }
}

function isolateFacts(env, colo, now) {
  return {
    id: isolateId(),
    version: versionOf(env),
    data_center: colo ?? null,
    age_ms: now - life.began,
    served: life.served - life.examined,
    examined: life.examined,
    instances: visits.current.instanceId,
    clock_stands: clockStands(),
  };
}

/** An id cannot be drawn while the isolate begins. */
function isolateId() {
  return (life.id ||= crypto.randomUUID());
}

/** The version of code and variables, as Cloudflare names it. */
function versionOf({ CF_VERSION_METADATA: version }) {
  return version?.id ?? null;
}

/** Whether the clock stands still while code runs, as it does on Cloudflare. */
function clockStands() {
  const now = Date.now();
  for (let reading = 0; reading < CLOCK_READINGS; reading += 1) {
    if (Date.now() !== now) return false;
  }
  return true;
}

function variableFacts(env) {
  const { ADMIN_HOSTS, ZONES, ON_FAILURE, ORIGIN_URL, ORIGIN, TURNSTILE_SITE_KEY } = env;
  return {
    admin_hosts: ADMIN_HOSTS ?? null,
    zones: ZONES ?? "",
    on_failure: ON_FAILURE ?? "",
    has_origin: Boolean(ORIGIN_URL || ORIGIN),
    turnstile_site_key: TURNSTILE_SITE_KEY ?? "",
  };
}

/** What is set of the sign-in by Cloudflare Access, and whether its keys can be read. */
async function accessFacts(env) {
  const { ACCESS_TEAM, ACCESS_AUD, ACCESS_ROLES } = env;
  if (!(ACCESS_TEAM || ACCESS_AUD || ACCESS_ROLES)) return null;
  const { examinedAccess } = await import("./access.js");
  return examinedAccess(env);
}

/** How long each secret is, and of how many different characters: nothing else of it leaves. */
function secretFacts(env) {
  const facts = (secret) => ({
    characters: Math.min(secret.length, CHARACTERS_MAX),
    distinct: new Set(secret).size,
  });
  const factsOf = (name) => (env[name] ? facts(env[name]) : null);
  const keys = (env.TICKET_KEYS ?? "").split(",").map((key) => key.trim()).filter(Boolean);
  const withoutMark = keys.map((key) => key.replace(/^opens:/, ""));
  return {
    ticket_keys: withoutMark.map(facts),
    api_token: factsOf("API_TOKEN"),
    api_token_read: factsOf("API_TOKEN_READ"),
    turnstile_secret: factsOf("TURNSTILE_SECRET"),
    origin_lock_secret: factsOf("ORIGIN_LOCK_SECRET"),
  };
}
