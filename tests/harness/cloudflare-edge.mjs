/**
 * The edge of a `CloudflareAccount`: leads a request to the Worker that has its host as a custom
 * domain or by a route of the whole host, and anything else to the site's origin.
 */

import http from "node:http";
import { buffer } from "node:stream/consumers";

import { send } from "./http.mjs";
import { ORIGIN_SAYS } from "./uploaded-worker.mjs";

export class CloudflareEdge {
  /** How many requests get no answer yet, as those to a host without a certificate. */
  silentFor = 0;
  #account;

  constructor(account) {
    this.#account = account;
  }

  async start() {
    this.server = http.createServer((request, response) => this.#answer(request, response));
    await new Promise((listening) => this.server.listen(0, "127.0.0.1", listening));
    this.address = `http://127.0.0.1:${this.server.address().port}`;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async #answer(request, response) {
    if (this.silentFor > 0) {
      this.silentFor -= 1;
      return request.socket.destroy();
    }
    const { host, ...headers } = request.headers;
    const port = this.#portOf(host);
    if (!port) return response.end(ORIGIN_SAYS);
    const { url: path, method } = request;
    const body = await buffer(request);
    const sent = { port, host, path, method, headers, body };
    const answer = await send(sent).catch(() => undefined);
    const { "transfer-encoding": _, ...told } = answer?.headers ?? {};
    response.writeHead(answer?.status ?? 502, told);
    response.end(answer?.body);
  }

  #portOf(host) {
    const { domains, routes, workers } = this.#account;
    const domain = domains.find(({ hostname }) => hostname === host);
    const route = routes.find(({ pattern }) => pattern === `${host}/*`);
    return workers.get(domain?.service ?? route?.script)?.live?.port;
  }
}
