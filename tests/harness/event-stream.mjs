/**
 * One open event stream and what it said so far. Unlike a browser it does not open the stream again
 * when that ends.
 */

import http from "node:http";

import { eventIn } from "../../client/src/stream.ts";

/** A client of one stream. */
export class Listener {
  /** @type {{ kind: string, data: any, at: number }[]} with `at` in ms by the cluster's clock */
  events = [];
  /** All that came, as it came. */
  text = "";
  /** True when the server ended the stream. */
  ended = false;
  /** Milliseconds after which a browser would open it again; `undefined` until told. */
  retryMs;
  #request;
  #rest = "";

  /** Opens a stream; resolves when the head of the answer has come. */
  static open({ port, host, path, headers }, clock) {
    return new Promise((resolve, reject) => {
      const listener = new Listener();
      const all = { ...headers, host };
      const target = { host: "127.0.0.1", port, path, headers: all, agent: false };
      listener.#request = http.request(target);
      listener.#request.on("error", (error) => (listener.status ? undefined : reject(error)));
      listener.#request.on("response", (response) => {
        listener.status = response.statusCode;
        listener.headers = response.headers;
        response.setEncoding("utf8");
        response.on("data", (text) => listener.#hear(text, clock));
        response.on("end", () => (listener.ended = true));
        response.on("error", () => {});
        resolve(listener);
      });
      listener.#request.end();
    });
  }

  /** Closes the connection, as a visitor does who leaves. */
  close() {
    this.#request.destroy();
  }

  /** Returns the events of one kind, like `turn`. */
  of(kind) {
    return this.events.filter((event) => event.kind === kind);
  }

  #hear(text, clock) {
    this.text += text;
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop();
    for (const block of blocks) {
      const [, retryMs] = /^retry: (.*)$/m.exec(block) ?? [];
      if (retryMs !== undefined) this.retryMs = Number(retryMs);
      const event = eventIn(block);
      if (!event) continue;
      this.events.push({ ...event, data: JSON.parse(event.data), at: clock.now() });
    }
  }
}
