/**
 * Makes the Cache API fail: a method of it hangs, rejects or throws. From the start if the variable
 * `CACHE_FAULT` says so ("match hang"), else on order of the side door. Runs in workerd.
 */

import { env } from "cloudflare:workers";
import { methods } from "./shared-cache.mjs";

/** @type {{ method?: "open" | "match" | "put", how?: "hang" | "reject" | "throw" | "lose" }} */
let fault = {};

/** Orders a fault instead of the present one; `{}` for none. */
export function breakCache(order) {
  fault = order;
}

const FAILURES = {
  // As where there is no Cache API: nothing is ever found, and nothing fails.
  lose: () => Promise.resolve(),
  hang: () => new Promise(() => {}),
  reject: () => Promise.reject(new Error("the test made the cache reject")),
  throw: () => {
    throw new Error("the test made the cache throw");
  },
};

for (const [prototype, method] of [
  [CacheStorage.prototype, "open"],
  [methods, "match"],
  [methods, "put"],
]) {
  const whole = prototype[method];
  prototype[method] = function (...given) {
    return fault.method === method ? FAILURES[fault.how]() : whole.apply(this, given);
  };
}

const [method, how] = env.CACHE_FAULT?.split(" ") ?? [];
breakCache({ method, how });
