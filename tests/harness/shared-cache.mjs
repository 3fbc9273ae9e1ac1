/**
 * The Cache API as the Worker under test uses it, with the copies of all isolates in one service.
 * Without that service it is the platform's own. Runs in workerd.
 */

import { env } from "cloudflare:workers";

const MAX_AGE = /^max-age=(\d+)$/;

/** One named cache. It knows texts that are kept for some seconds, under URLs, and nothing else. */
class SharedCache {
  #name;

  constructor(name) {
    this.#name = name;
  }

  async match(key) {
    const text = await env.COPIES.read(this.#named(key));
    return text === null ? undefined : new Response(text);
  }

  async put(key, response) {
    const [, maxAgeS] = MAX_AGE.exec(response.headers.get("cache-control"));
    await env.COPIES.write(this.#named(key), await response.text(), Number(maxAgeS));
  }

  #named(key) {
    return `${this.#name} ${new URL(key).href}`;
  }
}

if (env.COPIES) {
  CacheStorage.prototype.open = (name) => Promise.resolve(new SharedCache(name));
}

/** What a cache is made of: the methods `match` and `put` that a test may watch or break. */
export const methods = (env.COPIES ? SharedCache : Cache).prototype;
