// How to ask a room without a visit: as a browser does that loads a page ahead. The room refuses
// that, and nobody takes a place.

/** The header of such a request. */
export const AHEAD = { "sec-purpose": "prefetch" };

/** Whether an answer is that of a room to such a request. */
export function isRefusedPrefetch({ status, headers }) {
  const control = headers["cache-control"] ?? "";
  return status === 503 && headers["retry-after"] === "1" && control.includes("no-store");
}
