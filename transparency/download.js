// Reads the log of a sale into one file, which `npm run verify` and the verifier's page check: in
// the cockpit, and in Node.
import { entriesOf } from "./paths.js";

/** How many bundles are read at the same time. */
const AT_ONCE = 8;
/** The most entries of a log. */
const SIZE_MAX = 4_000_000;
/** The answers of a log that is busy, or silent for a moment. */
const BUSY = [429, 503];
/** How often one file is asked for. */
const TIMES_MAX = 10;
/** How long to wait in between, in seconds, if the answer does not say, and at most. */
const PAUSE_S = 1;
const PAUSE_MAX_S = 30;

/**
 * Reads a log. `read(path)` returns the bytes at a path of the log, or throws an error with the
 * `status` of the answer, and with `retryAfterS` if it says when to ask again; `onPart` hears the
 * completed part, 0 to 1. `counted` is what the room itself counted, if that is known.
 */
export async function saleFrom(read, { counted, onPart = () => {}, wait = pause } = {}) {
  const patient = (path) => readAgain(() => read(path), wait);
  const vkey = textOf(await patient("key")).trim();
  const checkpoint = textOf(await patient("checkpoint"));
  const paths = entriesOf(sizeIn(checkpoint));
  const entries = [];
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const bundles = await Promise.all(paths.slice(at, at + AT_ONCE).map(patient));
    entries.push(...bundles.map(base64));
    onPart(entries.length / paths.length);
  }
  return { vkey, checkpoint, entries, ...(counted && { counted }) };
}

async function readAgain(read, wait) {
  for (let times = 1; ; times += 1) {
    try {
      return await read();
    } catch (error) {
      if (!BUSY.includes(error.status) || times === TIMES_MAX) throw error;
      await wait(Math.min(error.retryAfterS || PAUSE_S, PAUSE_MAX_S) * 1_000);
    }
  }
}

const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** The header `retry-after` in seconds; nothing if it is missing, or is none. */
export function secondsOf(header) {
  const seconds = Number(header);
  return seconds > 0 ? seconds : undefined;
}

/** The number of entries that a checkpoint names. Whoever answers may have written it. */
function sizeIn(checkpoint) {
  const line = checkpoint.split(/\r?\n/)[1] ?? "";
  if (/^\d{1,7}$/.test(line) && Number(line) <= SIZE_MAX) return Number(line);
  throw new Error(
    "the checkpoint has no number of entries from 0 to 4,000,000 in its second line: " +
      "is this the address of a log?",
  );
}

/** What the API's answer about a log says of the room's own count; nothing if that is not known. */
export function countedBy({ counted, counted_since: from, counted_until: until }) {
  // An older Worker does not say until when it has counted.
  if (counted === null || !from || !until) return undefined;
  const [from_s, until_s] = [from, until].map((moment) => Date.parse(moment) / 1_000);
  return { from_s, until_s, admissions: counted };
}

const textOf = (bytes) => new TextDecoder().decode(bytes);

function base64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
