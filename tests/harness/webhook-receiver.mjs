/**
 * A receiver of webhooks for tests: it keeps every request, and answers as the test wants.
 * Signatures are checked as docs/webhooks.md shows.
 */

import crypto from "node:crypto";
import http from "node:http";

/** Starts a receiver on a free port of this machine. */
export async function startReceiver() {
  const receiver = new Receiver();
  await receiver.listen();
  return receiver;
}

class Receiver {
  #server = http.createServer((request, response) => this.#answer(request, response));
  /** What has come: [{ path, headers, text }]. */
  requests = [];
  /** The status of the next answers; "hang" for none at all, and 204 once none is left. */
  statuses = [];
  /** Further headers of all answers. */
  headers = {};

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get port() {
    return this.#server.address().port;
  }

  /** The bodies that have come to a path, parsed. */
  bodies(path) {
    return this.requests.filter((one) => one.path === path).map(({ text }) => JSON.parse(text));
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request, response) {
    let text = "";
    for await (const chunk of request) text += chunk;
    this.requests.push({ path: request.url, headers: request.headers, text });
    const status = this.statuses.shift() ?? 204;
    if (status !== "hang") {
      response.writeHead(status, { location: "/elsewhere", ...this.headers }).end();
    }
  }
}

/** Whether a request was signed with `secret` not long before `now`, in milliseconds. */
export function isGenuine({ headers, text }, secret, now) {
  const { "webhook-id": id, "webhook-timestamp": sentAt, "webhook-signature": given } = headers;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const mac = crypto.createHmac("sha256", key).update(`${id}.${sentAt}.${text}`).digest("base64");
  const isFresh = Math.abs(now / 1_000 - Number(sentAt)) < 300;
  const wanted = Buffer.from(`v1,${mac}`);
  const bytes = Buffer.from(given ?? "");
  return isFresh && bytes.length === wanted.length && crypto.timingSafeEqual(bytes, wanted);
}
