/**
 * Visitors: clients that keep their cookie, come back when the page tells them to, and see either
 * the origin or the queue page. They know the waiting room only from outside, as a browser does.
 */

/** What the queue page always holds. */
export const QUEUE_MARK = '<meta name="waiting-room" content="queueing">';

/** One browser. */
export class Visitor {
  /** @type {Map<string, { value: string, until: number }>} by cookie name */
  cookies = new Map();
  /** Who gave the last answer: `origin`, `queue`, or `else`; `undefined` before the first. */
  seen;
  /**
   * When this visitor comes again by itself, by the clock of the cluster; `undefined` means never.
   */
  dueAt;

  /**
   * @param {object} cluster
   * @param {object} options
   * @param {string} options.name told to the origin, so that it can tell visitors apart
   * @param {string} options.host
   * @param {string} [options.colo] the data center nearby; its isolates answer in turn
   * @param {string} [options.path]
   * @param {number} [options.browseMs] how often to look at another page once inside; never unless
   *   given
   */
  constructor(cluster, { name, host, colo = cluster.isolates[0].colo, path = "/", browseMs }) {
    Object.assign(this, { cluster, name, host, colo, path, browseMs });
  }

  get inside() {
    return this.seen === "origin";
  }

  get waiting() {
    return this.seen === "queue";
  }

  /**
   * One request with the cookies that a browser would send now.
   *
   * @param {object} [request] `method`, `path`, `headers`, `body` or `isolate` where they differ
   */
  async visit(request = {}) {
    const headers = { "x-visitor": this.name, accept: "text/html", ...request.headers };
    const cookie = this.#cookieHeader();
    if (cookie) headers.cookie = cookie;
    const { isolate = this.cluster.isolateNear(this.colo), ...rest } = request;
    const target = { host: this.host, path: this.path, ...rest, headers };
    const answer = await look(this.cluster, isolate, target);
    this.#keep(answer);
    return answer;
  }

  /** Opens an event stream with the cookies of now; what it says changes nothing here. */
  async listen(isolate = this.cluster.isolateNear(this.colo)) {
    const headers = { accept: "text/event-stream", cookie: this.#cookieHeader() };
    return this.cluster.listen(isolate, { host: this.host, path: this.path, headers });
  }

  #keep(answer) {
    const now = this.cluster.clock.now();
    for (const line of answer.headers["set-cookie"] ?? []) {
      const [pair, ...attributes] = line.split(/;\s*/);
      const [name, value] = splitOnce(pair, "=");
      const age = attributes.find((one) => /^max-age=/i.test(one))?.slice("max-age=".length);
      const until = age === undefined ? Infinity : now + Number(age) * 1_000;
      this.cookies.set(name, { value, until });
    }
    this.seen = answer.kind;
    const pauseMs = this.waiting
      ? answer.refreshS * 1_000
      : this.inside
        ? this.browseMs
        : undefined;
    this.dueAt = pauseMs === undefined ? undefined : now + pauseMs;
  }

  #cookieHeader() {
    const now = this.cluster.clock.now();
    return [...this.cookies]
      .filter(([, { until }]) => until > now)
      .map(([name, { value }]) => `${name}=${value}`)
      .join("; ");
  }
}

/**
 * One request without any memory, and who answered it: the `origin`, the `queue`, or something
 * `else`.
 *
 * @param {object} cluster
 * @param {string} isolate
 * @param {object} request
 */
export async function look(cluster, isolate, request) {
  const answer = await cluster.send(isolate, request);
  const refreshS = answer.headers.refresh && Number.parseInt(answer.headers.refresh, 10);
  const isQueue = refreshS > 0 && !answer.headers["x-origin"];
  const kind = answer.headers["x-origin"] ? "origin" : isQueue ? "queue" : "else";
  return { ...answer, kind, refreshS };
}

function splitOnce(text, separator) {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}
