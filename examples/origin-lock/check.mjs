// Checks the header of the origin lock for servers that cannot compute an HMAC themselves: nginx
// asks it by `auth_request`, Caddy by `forward_auth`. It answers 204 to a request with a good
// header and 403 to all others. Start: ORIGIN_LOCK_SECRET=... node check.mjs [port]
import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import http from "node:http";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** A header is good for two minutes; nobody honest sends one that expires later than this. */
const LATEST_MS = 5 * 60_000;

/** Whether a header was signed with one of these secrets and has not expired. */
export function isOurs(header, secrets, nowMs) {
  const [, expires, signature] = /^(t=\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? [];
  if (!expires) return false;
  const leftMs = Number(expires.slice(2)) * 1_000 - nowMs;
  const isBy = (secret) =>
    timingSafeEqual(
      createHmac("sha256", secret).update(expires).digest(),
      Buffer.from(signature, "hex"),
    );
  return leftMs > 0 && leftMs <= LATEST_MS && secrets.some(isBy);
}

/** Starts the server; `secrets` are separated by commas, so that they can be replaced. */
export function serve(secrets, port) {
  const all = secrets.split(",").map((secret) => secret.trim());
  if (all.some((secret) => secret.length < 32)) {
    throw new Error("ORIGIN_LOCK_SECRET must have 32 characters or more");
  }
  const server = http.createServer((request, response) => {
    const header = request.headers["cf-waiting-room-lock"];
    response.writeHead(isOurs(header, all, Date.now()) ? 204 : 403).end();
  });
  return server.listen(port, "127.0.0.1");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  serve(process.env.ORIGIN_LOCK_SECRET ?? "", Number(process.argv[2] ?? 8_989));
}
