// The last deployment that could be used: the registry's object keeps it, and what runs a refused
// one goes on with it, so that a mistake in rooms.json or a variable takes no site down. No secret
// is kept: whatever is not named here is taken from the deployment that runs.
import { readCopy, writeCopy } from "./copies.js";
import { registryIdOf, registryOf } from "./objects.js";

/**
 * The variables that can be refused, and depend on each other and on rooms.json: they are kept and
 * used as a whole. JURISDICTION says where it is kept, so a wrong one finds nothing.
 */
const KEPT = [
  "ZONES",
  "MAX_ROOMS_PER_ZONE",
  "MAX_EVENTS_PER_ROOM",
  "MAX_RULES_PER_ROOM",
  "ORIGIN_URL",
  "OPEN_HOSTS",
  "TURNSTILE_SITE_KEY",
];
/** The format; of another one nothing is used. */
const VERSION = 1;
/** Beside the registry's own tables: versions without it never read it. */
const TABLE =
  "CREATE TABLE IF NOT EXISTS last_good (part INTEGER PRIMARY KEY, value TEXT NOT NULL)";
/** The characters of one row, of one byte each: the platform stores values of 2 MB at most. */
const PART_MAX = 1_000_000;
const CACHE = "waiting-room";
/** How long a copy is waited for, in milliseconds. */
const COPY_LIMIT_MS = 300;
/** How long one counts, in seconds: it serves the isolates that begin while a mistake is mended. */
const COPY_MAX_AGE_S = 300;

/** Returns the variables without those that are kept. */
export function withoutKept(vars) {
  return Object.fromEntries(Object.entries(vars).filter(([name]) => !KEPT.includes(name)));
}

/**
 * In the registry's object: keeps the deployment that runs, and writes only if it is another than
 * the one that is kept. A storage that fails is told to the log, and holds nothing up.
 */
export function keepLastGood({ storage }, roomsText, env) {
  try {
    const given = KEPT.filter((name) => env[name]);
    const vars = Object.fromEntries(given.map((name) => [name, env[name]]));
    // Its path and a password in it are never used, so they are not kept.
    if (vars.ORIGIN_URL) vars.ORIGIN_URL = new URL(vars.ORIGIN_URL.trim()).origin;
    const text = inAscii(JSON.stringify({ v: VERSION, rooms: roomsText, vars }));
    if (text === stored(storage)) return;
    storage.transactionSync(() => {
      storage.sql.exec("DELETE FROM last_good");
      for (let at = 0; at < text.length; at += PART_MAX) {
        const part = text.slice(at, at + PART_MAX);
        storage.sql.exec("INSERT INTO last_good (part, value) VALUES (?, ?)", at, part);
      }
    });
  } catch (error) {
    console.error(`the deployment is not kept: ${error}`);
  }
}

/** In the registry's object: what is kept, as a text; "" for nothing. */
export function keptLastGood({ storage }) {
  return stored(storage);
}

/** Reads the text of a last good deployment; nothing if there is none of a known format. */
export function parsed(text) {
  const { v, rooms, vars } = text ? JSON.parse(text) : {};
  return v === VERSION ? { rooms, vars } : undefined;
}

/** Asks the registry's object for the last good deployment. */
export async function askedLastGood(env) {
  return parsed(await registryOf(env).lastGood());
}

/** Reads the copy of it in this data center, else asks the registry, and writes the copy. */
export async function lastGoodNear(url, env, ctx) {
  const key = keyOf(url, env);
  const copy = key && (await readCopy(CACHE, key, COPY_LIMIT_MS));
  if (copy) return parsed(copy);
  const text = await registryOf(env).lastGood();
  if (text && key) ctx.waitUntil(writeCopy(CACHE, key, text, COPY_MAX_AGE_S, COPY_LIMIT_MS));
  return parsed(text);
}

/** The key of a copy: of one refused version alone, so that a later one asks for itself. */
function keyOf(url, env) {
  const { CF_VERSION_METADATA: version } = env;
  if (!version?.id) return undefined;
  return new URL(`/_waiting-room/last-good/${registryIdOf(env)}/${version.id}`, url).href;
}

function stored({ sql }) {
  sql.exec(TABLE);
  const rows = sql.exec("SELECT value FROM last_good ORDER BY part").toArray();
  return rows.map(({ value }) => value).join("");
}

/** The same JSON in characters of one byte, which can be cut anywhere. */
function inAscii(json) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replaceAll(/[^\0-\x7f]/g, escaped);
}
