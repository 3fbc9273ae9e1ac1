// Tries the back door: asks an origin directly, as somebody would who goes round the waiting room.
// It ends with 0 if every attempt was refused, with 1 if the origin answers one, and with 3 if that
// is unknown. `npm run back-door -- https://origin.example [host]`
import http from "node:http";
import https from "node:https";
import process from "node:process";

import { stop } from "./stop.mjs";
import { HELP, readFlags } from "./usage.mjs";

const LIMIT_MS = 10_000;
const HEADER = "cf-waiting-room-lock";
/** The refusals of a lock, of a server without this host, and of one that demands a certificate. */
const REFUSALS = [401, 403, 421];
const REFUSED = /^ECONNREFUSED$|_CERTIFICATE_REQUIRED$|_HANDSHAKE_FAILURE$/;
/** The site's own answers besides those below 400: it has looked for the page. */
const SITE_ANSWERS = [404, 410];
const VERDICTS = {
  open: { word: "OPEN   ", says: "The origin can be reached without the waiting room.", status: 1 },
  unknown: { word: "unknown", says: "Unknown: no clear answer, see above.", status: 3 },
  shut: { word: "closed ", says: "The door is shut.", status: 0 },
};

const WORDS = "https://<the origin's own address> [the host of the site]";
/** Of a command that was not understood, and tells nothing of a door. */
const MISUSED = 2;

const more = { takes: WORDS, most: 2, page: "docs/origin-lock.md", status: MISUSED };
const { positionals } = readFlags("back-door", [HELP], process.argv.slice(2), more);
const [address, host] = positionals;
if (!/^https?:/i.test(address ?? "") || !URL.canParse(address)) {
  stop(`which address? npm run back-door -- ${WORDS}`, MISUSED);
}

const soon = Math.floor(Date.now() / 1_000) + 100;
const ATTEMPTS = {
  "without the header": {},
  "with an empty header": { [HEADER]: "" },
  "with a header that nobody signed": { [HEADER]: `t=${soon},v1=${"0".repeat(64)}` },
  "with a header without a signature": { [HEADER]: `t=${soon}` },
  "as if it had been forwarded": { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1" },
};

const told = await Promise.all(
  Object.entries(ATTEMPTS).map(async ([name, headers]) => {
    const answer = await attempt(host ? { ...headers, host } : headers);
    return { name, answer, verdict: verdictOf(answer) };
  }),
);
for (const { name, answer, verdict } of told) {
  console.log(`${VERDICTS[verdict].word} ${name}: ${answer}`);
}
const worst = Object.keys(VERDICTS).find((one) => told.some(({ verdict }) => verdict === one));
console.log(VERDICTS[worst].says);
process.exit(VERDICTS[worst].status);

/**
 * What an answer tells. A server that is broken, busy or asked in the wrong way may open to the
 * next request, and an address that does not answer may not be the origin's.
 */
function verdictOf(answer) {
  if (typeof answer === "string") return REFUSED.test(answer) ? "shut" : "unknown";
  if (answer < 400 || SITE_ANSWERS.includes(answer)) return "open";
  return REFUSALS.includes(answer) ? "shut" : "unknown";
}

/** Sends one request; resolves to the status of the answer, or to why there is none. */
function attempt(headers) {
  const { request } = address.toLowerCase().startsWith("https:") ? https : http;
  // An origin's certificate is often for the host of the site alone: that shuts no door.
  const secure = { rejectUnauthorized: false, ...(host && { servername: host }) };
  return new Promise((resolve) => {
    const asked = request(address, { headers, timeout: LIMIT_MS, ...secure }, ({ statusCode }) => {
      resolve(statusCode);
      asked.destroy();
    });
    asked.on("timeout", () => asked.destroy(new Error(`no answer in ${LIMIT_MS / 1_000} s`)));
    asked.on("error", ({ code, message }) => resolve(code ?? message));
    asked.end();
  });
}
