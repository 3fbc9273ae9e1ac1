// Asks the API of a running Worker, with the token of its deployment.
import path from "node:path";

import { accessHeaders, tokenFor } from "../token.mjs";

const ANSWER_WITHIN_MS = 30_000;

/**
 * Returns a function that asks: it takes the method, the path behind `client/v4/`, and a body, and
 * resolves with the result. It throws a sentence with what is wrong, and the `status` of an answer
 * that says so. Its `addressOf` tells the whole address of such a path.
 *
 * @param {string} url an address on an admin host of the Worker
 */
export function apiOf(url) {
  const { origin, hostname } = new URL(url);
  const token = tokenFor(hostname, path.resolve("production"));
  if (!token) throw new Error("no token: set the variable API_TOKEN to the secret of that name");
  const addressOf = (what) => new URL(`/_waiting-room/client/v4/${what}`, origin);
  const ask = async (method, what, body) => {
    const address = addressOf(what);
    const answer = await fetch(address, {
      method,
      headers: {
        ...accessHeaders(address),
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
      },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    }).catch((error) => {
      throw new Error(`nothing answers at ${origin}: ${error.cause?.message ?? error.message}`);
    });
    const envelope = await answer.json().catch(() => ({}));
    if (envelope.success) return envelope.result;
    const why = envelope.errors?.map(({ message }) => message) ?? [`status ${answer.status}`];
    const { status } = answer;
    throw Object.assign(new Error(`${method} ${address}: ${why.join("; ")}`), { status });
  };
  return Object.assign(ask, { addressOf });
}
