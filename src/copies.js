// Reads and writes copies in the Cache API. None may be waited for: a copy that is late, or that
// the platform refuses to read or write, is no copy.

/**
 * Returns the text of a copy: `null` if there is none, `undefined` if the cache failed or did not
 * answer within `limitMs` milliseconds.
 *
 * @param {string} cacheName
 * @param {string} key a URL
 * @param {number} limitMs
 * @returns {Promise<string | null | undefined>}
 */
export function readCopy(cacheName, key, limitMs) {
  const read = async () => {
    const cache = await caches.open(cacheName);
    const response = await cache.match(key);
    return response ? await response.text() : null;
  };
  return within(limitMs, read());
}

/**
 * Writes a copy; returns `true`, or `undefined` if that failed or took longer than `limitMs`
 * milliseconds.
 *
 * @param {string} cacheName
 * @param {string} key a URL
 * @param {string} text
 * @param {number} maxAgeS for how many seconds the copy is kept
 * @param {number} limitMs
 * @returns {Promise<true | undefined>}
 */
export function writeCopy(cacheName, key, text, maxAgeS, limitMs) {
  const write = async () => {
    const cache = await caches.open(cacheName);
    const headers = { "cache-control": `max-age=${maxAgeS}` };
    await cache.put(key, new Response(text, { headers }));
    return true;
  };
  return within(limitMs, write());
}

/** Resolves as `answer` does; with nothing if that fails or does not come in time. */
export function within(limitMs, answer) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    const end = (value) => {
      clearTimeout(timer);
      resolve(value);
    };
    answer.then(end, () => end());
  });
}
