// Sends one request to siteverify, which checks Turnstile tokens. Do not log request or answer:
// they have the secret and the token in them.

/** The longest answer, in characters: siteverify's have a few hundred. A longer one is dropped. */
const ANSWER_LENGTH_MAX = 16_384;

/**
 * Returns the body of the answer; nothing if there is none within `limitMs` milliseconds.
 *
 * @param {string} url
 * @param {string} body JSON
 * @param {number} limitMs
 * @returns {Promise<string | undefined>}
 */
export async function siteverify(url, body, limitMs) {
  try {
    const signal = AbortSignal.timeout(limitMs);
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", body, headers, signal, redirect: "manual" };
    const text = await (await fetch(url, request)).text();
    return text.length > ANSWER_LENGTH_MAX ? undefined : text;
  } catch {
    return undefined;
  }
}
