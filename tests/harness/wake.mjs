/**
 * What makes a workerd notice a new time: an event of its process. It comes thousands of times in a
 * file of tests, so it goes over one plain connection, for less than a request of Node costs.
 */

import net from "node:net";

const REQUEST = "GET /wake HTTP/1.1\r\nhost: wake\r\n\r\n";
/** How the side door's answer begins and ends. @see counting-entry.mjs */
const ANSWER_BEGINS = "HTTP/1.1 200 ";
const ANSWER_ENDS = "\r\n\r\n{}";

/** The way to one side door. */
export class Wake {
  #port;
  #socket;
  #answer = "";
  /** What settles the wake under way; its answer is the next that comes. */
  #settle;
  /** Each waits for the one before: their answers look alike. */
  #last = Promise.resolve();

  /** @param {number} port of a side door */
  constructor(port) {
    this.#port = port;
  }

  /** Resolves when workerd has answered. */
  async up() {
    // workerd closes idle connections by its own clock, which a test may just have moved.
    const twice = () => this.#attempt().catch(() => this.#attempt());
    this.#last = this.#last.then(twice, twice);
    await this.#last;
  }

  /** Closes the connection. */
  close() {
    this.#socket?.destroy();
  }

  #attempt() {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket ??= this.#connected();
      this.#socket.write(REQUEST);
    });
  }

  #connected() {
    const socket = net.connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    let problem = new Error("workerd closed the connection");
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", (error) => (problem = error));
    socket.on("close", () => {
      this.#socket = undefined;
      this.#answer = "";
      this.#settle?.reject(problem);
    });
    return socket;
  }

  #take(chunk) {
    this.#answer += chunk;
    const [statusLine, ...more] = this.#answer.split("\r\n");
    if (more.length === 0) return;
    if (!statusLine.startsWith(ANSWER_BEGINS)) {
      // How long this answer goes on is not known: the next one comes over another connection.
      this.#socket.destroy(new Error(`the side door answers ${statusLine}`));
      return;
    }
    if (!this.#answer.endsWith(ANSWER_ENDS)) return;
    this.#answer = "";
    this.#settle.resolve();
  }
}
