// Makes the code of an invitation in the owner's browser, as docs/invitations.md says.

/** The most links that are made at once. */
const LINKS_MAX = 10_000;
/** The most uses of a code. */
const USES_MAX = 1_000_000;
/** How far ahead a code may end, in days. */
const DAYS_MAX = 366;

const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
const bytesOf = (text) => new TextEncoder().encode(text);
const part = (json) => base64url(bytesOf(JSON.stringify(json)));

/** Signs the claims of a code with a group's key. */
async function codeOf(key, claims) {
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  const how = { name: "HMAC", hash: "SHA-256" };
  const hmac = await crypto.subtle.importKey("raw", bytesOf(key), how, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", hmac, bytesOf(text));
  return `${text}.${base64url(new Uint8Array(signature))}`;
}

/**
 * The claims of a code for a group of a room, of what is written in the form. A problem of it is
 * thrown as an error.
 */
function claimsOf(room, { group, uses, hours }, now_ms, jti) {
  const count = Number(uses);
  const long = Number(hours);
  if (!Number.isInteger(count) || count < 1 || count > USES_MAX) {
    throw new Error(`A code has 1 to ${USES_MAX.toLocaleString("en")} uses.`);
  }
  if (!(long > 0 && long <= 24 * DAYS_MAX)) {
    throw new Error(`A code lasts for up to ${DAYS_MAX} days.`);
  }
  const exp = Math.floor(now_ms / 1_000 + long * 3_600);
  return { room: room.id, group, jti, uses: count, exp };
}

/**
 * Makes as many links as are written in the form, each with a code of its own, signed with the key
 * of the group. `idOf` names the next code. A problem of what is written is thrown as an error.
 */
export async function linksOf(room, key, written, now_ms, idOf) {
  const many = Number(written.links);
  if (!Number.isInteger(many) || many < 1 || many > LINKS_MAX) {
    throw new Error(`1 to ${LINKS_MAX.toLocaleString("en")} links are made at once.`);
  }
  const claims = Array.from({ length: many }, () => claimsOf(room, written, now_ms, idOf()));
  const codes = await Promise.all(claims.map((one) => codeOf(key, one)));
  return codes.map((code) => linkOf(room, code));
}

/** Writes links as a table with one column. */
export const tableOf = (links) => ["link", ...links].map((text) => `"${text}"\r\n`).join("");

/** The link with a code. It is behind the #, which no server is sent. */
function linkOf({ host, path }, code) {
  return `https://${host}${path}#invitation=${code}`;
}
