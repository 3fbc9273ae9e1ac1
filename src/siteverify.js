// Sends one question to siteverify. It may not read the question, judge the answer, or log either.

/** A longer answer is none: siteverify's have a few hundred characters. */
const ANSWER_LENGTH_MAX = 16_384;

/**
 * The body of the answer; nothing if there is none in time.
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
