// Makes the secrets of a deployment, and shows them once. What is there already stays.
import { createHmac, randomBytes } from "node:crypto";

const KEY_BYTES = 32;
/** What stands before a key that seals nothing yet, see `key_ring.rs` in room-core. */
export const OPENS = "opens:";

/**
 * Makes what is missing and keeps it; returns the names of what was made. `more` are names of
 * secrets that are needed besides.
 */
export function makeSecrets(kept, more = []) {
  const made = [];
  const make = (name, value) => {
    if (kept.secrets[name]) return;
    kept.secrets[name] = value;
    made.push(name);
  };
  make("TICKET_KEYS", newKey([]));
  for (const name of ["API_TOKEN", ...more]) make(name, randomBytes(KEY_BYTES).toString("hex"));
  if (made.length > 0) kept.saveSecrets();
  return made;
}

/** Draws a ticket key whose id is none of these keys': one pair in 256 would have the same. */
export function newKey(keys) {
  const taken = new Set(keys.map(keyId));
  for (;;) {
    const key = randomBytes(KEY_BYTES).toString("hex");
    if (!taken.has(keyId(key))) return key;
  }
}

/** The byte by which tickets name their key, derived as `MasterKey` in room-core does. */
export function keyId(key) {
  const text = key.replace(OPENS, "");
  const isHexadecimal = /^[0-9a-f]{64}$/i.test(text);
  const secret = Buffer.from(text, isHexadecimal ? "hex" : "base64");
  return createHmac("sha256", secret).update("key id\x01").digest()[0];
}

/** The ticket keys, the one that seals first. */
export function ticketKeys(kept) {
  return (kept.secrets.TICKET_KEYS ?? "").split(",").map((key) => key.trim()).filter(Boolean);
}
