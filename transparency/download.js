// Reads the log of a sale into one file, which `npm run verify` and the verifier's page check: in
// the cockpit, and in Node.
import { entriesOf } from "./paths.js";

/** How many bundles are read at the same time. */
const AT_ONCE = 8;

/**
 * Reads a log. `read(path)` returns the bytes at a path of the log; `onPart` hears the completed
 * part, 0 to 1. `counted` is what the room itself counted, if that is known.
 */
export async function saleFrom(read, { counted, onPart = () => {} } = {}) {
  const vkey = textOf(await read("key")).trim();
  const checkpoint = textOf(await read("checkpoint"));
  const paths = entriesOf(Number(checkpoint.split("\n")[1]));
  const entries = [];
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const bundles = await Promise.all(paths.slice(at, at + AT_ONCE).map(read));
    entries.push(...bundles.map(base64));
    onPart(entries.length / paths.length);
  }
  return { vkey, checkpoint, entries, ...(counted && { counted }) };
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
