// An origin that is a Worker: answers only requests that come from the waiting room.

/** A header is good for two minutes; nobody honest sends one that expires later than this. */
const LATEST_MS = 5 * 60_000;
/** The least length of a secret, as the waiting room demands it. */
const SECRET_LENGTH_MIN = 32;

export default {
  async fetch(request, env) {
    const header = request.headers.get("cf-waiting-room-lock");
    if (!(await isOurs(header, env.ORIGIN_LOCK_SECRET))) {
      return new Response("Please come through the front door.\n", { status: 403 });
    }
    return new Response("the site");
  },
};

/**
 * Whether a header was signed with one of the secrets and has not expired. `secrets` are separated
 * by commas, so that they can be replaced.
 */
async function isOurs(header, secrets = "") {
  const [, expires, signature] = /^(t=\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? [];
  if (!expires) return false;
  const leftMs = Number(expires.slice(2)) * 1_000 - Date.now();
  if (leftMs <= 0 || leftMs > LATEST_MS) return false;
  const bytes = (text) => new TextEncoder().encode(text);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const given = Uint8Array.from(signature.match(/../g), (digits) => Number.parseInt(digits, 16));
  const isBy = async (secret) => {
    const key = await crypto.subtle.importKey("raw", bytes(secret), algorithm, false, ["verify"]);
    // It compares in constant time.
    return crypto.subtle.verify("HMAC", key, given, bytes(expires));
  };
  const all = secrets.split(",").map((secret) => secret.trim());
  const long = all.filter((secret) => secret.length >= SECRET_LENGTH_MIN);
  return (await Promise.all(long.map(isBy))).includes(true);
}
