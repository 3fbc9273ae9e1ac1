// The origin's side of a visit: the page where it cannot be reached, and whether an answer is its
// own or a copy from a cache.

/** What `cf-cache-status` says of an answer that the cache had, fresh or not. */
const CACHED = ["HIT", "STALE", "UPDATING", "REVALIDATED"];
/** After how many seconds the page is to be tried again. */
const RETRY_S = 10;

/**
 * Headers that tell caches in front to keep an answer, whatever `Cache-Control` says: they are
 * taken out of one with a ticket. None on Cloudflare, whose cache keeps no answer of a Worker:
 * each that is looked for takes a microsecond.
 */
export const cacheHeaders = [];

/** The header by which an origin ends a session; it is taken out of what visitors send and get. */
export const COMMAND_HEADER = "cf-waiting-room-command";
/** The header by which the origin knows us, see `docs/origin-lock.md`. */
export const LOCK_HEADER = "cf-waiting-room-lock";

/**
 * Headers by which some servers take another path for the one that was asked for. Next.js does so
 * by the last two, and adapters for Azure by `x-ms-original-url`.
 */
const PATH_HEADERS = [
  "x-original-url",
  "x-rewrite-url",
  "x-original-uri",
  "x-ms-original-url",
  "x-invoke-path",
  "x-matched-path",
];

/** Headers that no visitor's request keeps: ours, and those that name another path. */
export const orderHeaders = new Set([COMMAND_HEADER, LOCK_HEADER, ...PATH_HEADERS]);

/**
 * Headers by which some servers take another host, or another address, for the one that was asked
 * for. Those about a prefix make a server cut the beginning off a path: Gunicorn serves `/shop` to
 * who asks for `/x/shop` with `Script_Name: /x`. On own machines proxies set some of them, and the
 * entry there removes those of visitors.
 */
export const hostHeaders = new Set([
  "forwarded",
  "script-name",
  "x-envoy-original-path",
  "x-forwarded-context",
  "x-forwarded-host",
  "x-forwarded-path",
  "x-forwarded-pathbase",
  "x-forwarded-prefix",
  "x-forwarded-server",
  "x-forwarded-uri",
  "x-forwarded-url",
  "x-host",
  "x-http-host-override",
  "x-original-host",
  "x-original-path",
  "x-replaced-path",
  "x-script-name",
]);

/** What the entry removes; on own machines nothing is left of it to do. */
export const foreignHeaders = new Set([...orderHeaders, ...hostHeaders]);

/** The usual name of a header: many servers take `X_Forwarded_Host` for `X-Forwarded-Host`. */
export function usualName(name) {
  return name.includes("_") ? name.replaceAll("_", "-") : name;
}

/**
 * Returns the names, as they were sent, of the headers that are in `names` with `-` for `_`. To
 * look at the 17 headers of a browser once takes as long as to look for thirty names.
 */
export function namesIn(headers, names) {
  const found = [];
  if (names.size === 0) return found;
  headers.forEach((_, name) => {
    if (names.has(usualName(name))) found.push(name);
  });
  return found;
}

const PAGE = `<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<title>The site does not answer</title>
<p style="font: 1.2rem/1.6 system-ui; max-width: 30rem; margin: 20vh auto; padding: 0 1rem">
The site does not answer right now. Your place is kept: please try again in a moment.
If you have just sent a form, it may not have arrived.
`;

/** The first status of an answer: what comes before only announces one. */
const STATUS_MIN = 200;
/** The last status with which an answer can be made; some origins send others. */
export const STATUS_MAX = 599;
/** Headers that the answer to a preflight goes without. */
const OF_A_PAGE = [COMMAND_HEADER, "set-cookie", "content-length", "content-encoding"];

/** An address in the message of an error: it may have the visitor's query. */
const ADDRESS = /\bhttps?:\/\/\S+/g;

/** Answers for an origin that gave no answer at all; without this the platform shows its error. */
export function unreachable(error) {
  console.error(`the origin cannot be reached: ${String(error).replace(ADDRESS, "an address")}`);
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "private, no-store",
    "retry-after": `${RETRY_S}`,
  };
  return new Response(PAGE, { status: 502, headers });
}

/**
 * Returns the answer, or the page in its place if no visitor could get it.
 *
 * @param {Response} original
 * @param {number} [statusMax] the last status that will do
 */
export function sendable(original, statusMax = Infinity) {
  const { status } = original;
  const isAnswer = status >= STATUS_MIN || original.webSocket;
  if (isAnswer && status <= statusMax) return original;
  return unreachable(`it answers with the status ${status}`);
}

/** Whether a browser asks first, without a session, what a page of another site may do. */
export function isPreflight({ method, headers }) {
  return method === "OPTIONS" && headers.has("access-control-request-method");
}

/**
 * Returns what a browser reads of the answer to a preflight: its status and headers. A server that
 * takes OPTIONS for GET answers with the page and with a session, and neither is for a visitor
 * without a place.
 */
export function headOf(original) {
  const answer = new Response(null, sendable(original, STATUS_MAX));
  for (const name of OF_A_PAGE) answer.headers.delete(name);
  original.body?.cancel().catch(() => {});
  return answer;
}

/**
 * Whether an answer may be a copy of one that was made for somebody else: then a command in it was
 * not meant for this visitor.
 */
export function isCopy({ headers }) {
  const status = headers.get("cf-cache-status") ?? "";
  return CACHED.includes(status.toUpperCase()) || Number(headers.get("age")) > 0;
}
