/**
 * One open event stream and what it said so far. It never opens a second one by itself, as a
 * browser does.
 */

import http from "node:http";

/** A client of one stream. */
export class Listener {
  /** @type {{ kind: string, data: any, at: number }[]} by the clock of the cluster */
  events = [];
  /** True when the server ended the stream. */
  ended = false;
  /** Milliseconds after which a browser would open it again; `undefined` until told. */
  retryMs;
  #request;
  #rest = "";

  /** Resolves with the head of the answer. */
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

  /** The visitor goes away. */
  close() {
    this.#request.destroy();
  }

  /** The events of one kind. */
  of(kind) {
    return this.events.filter((event) => event.kind === kind);
  }

  #hear(text, clock) {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop();
    for (const block of blocks) {
      const field = (name) => block.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1];
      if (field("retry")) this.retryMs = Number(field("retry"));
      if (!field("data")) continue;
      const data = JSON.parse(field("data"));
      this.events.push({ kind: field("event"), data, at: clock.now() });
    }
  }
}
