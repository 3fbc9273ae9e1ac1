// Tells the queue page of a waiting room from the answer of a receiver. A receiver whose address a
// room covers gets no message while visitors wait there, and the page may have the status 200.
// Pure.

/** The `Cache-Control` of each answer of a waiting room. */
const CACHE_CONTROL = "private, no-store";
/** What the policy of a built-in page begins with. */
const POLICY = "default-src 'none'; style-src 'sha256-";

/**
 * Whether an answer with these headers is a queue page: one that loads itself again, or the
 * built-in one.
 *
 * @param {Headers} headers
 */
export function isQueuePage(headers) {
  const policy = headers.get("content-security-policy") ?? "";
  const isPage = headers.has("refresh") || policy.startsWith(POLICY);
  return headers.get("cache-control") === CACHE_CONTROL && isPage;
}
