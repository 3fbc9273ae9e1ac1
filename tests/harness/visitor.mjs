/**
 * Visitors: HTTP clients that keep their cookies, come back when the page tells them to, and see
 * either the origin or the queue page, as a browser would.
 */

import { CookieJar } from "../../client/src/cookies.ts";

/** A part of every queue page. */
export const QUEUE_MARK = '<meta name="waiting-room" content="queueing">';

/** One visitor, with the cookies of one browser. */
export class Visitor {
  #jar = new CookieJar(() => this.cluster.clock.now());
  /** Who gave the last answer: `origin`, `queue`, or `else`; `undefined` before the first. */
  seen;
  /**
   * When this visitor comes again by itself, in milliseconds by the clock of the cluster;
   * `undefined` means never.
   */
  dueAt;
  /** How many requests it has sent. */
  visits = 0;

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

  /** True if the last answer came from the origin. */
  get inside() {
    return this.seen === "origin";
  }

  /** True if the last answer was the queue page. */
  get waiting() {
    return this.seen === "queue";
  }

  /** The cookies that a browser would send with a request of its own path now, as one header. */
  get cookies() {
    return this.#jar.header(this.#url(this.path));
  }

  /** Returns the value of one of those cookies; `undefined` if there is none. */
  cookie(name) {
    const pair = this.cookies.split("; ").find((one) => one.startsWith(`${name}=`));
    return pair?.slice(name.length + 1);
  }

  /**
   * Sends one request with the cookies that a browser would send now, and keeps those of the
   * answer.
   *
   * @param {object} [request] `method`, `path`, `headers`, `body` or `isolate` where they differ
   */
  async visit(request = {}) {
    const headers = { "x-visitor": this.name, accept: "text/html", ...request.headers };
    const { isolate = this.cluster.isolateNear(this.colo), ...rest } = request;
    const target = { host: this.host, path: this.path, ...rest, headers };
    const url = this.#url(target.path);
    const cookie = this.#jar.header(url);
    if (cookie) headers.cookie = cookie;
    this.visits += 1;
    const answer = await look(this.cluster, isolate, target);
    this.#keep(url, answer);
    return answer;
  }

  /** Opens an event stream with the present cookies; it does not change this visitor. */
  async listen(isolate = this.cluster.isolateNear(this.colo)) {
    const headers = { accept: "text/event-stream", cookie: this.cookies };
    return this.cluster.listen(isolate, { host: this.host, path: this.path, headers });
  }

  /** The URL as a browser knows it: by HTTPS, which ends in front of the harness. */
  #url(path) {
    return `https://${this.host}${path}`;
  }

  #keep(url, answer) {
    const lines = answer.headers["set-cookie"] ?? [];
    this.#jar.keep(url, new Headers(lines.map((line) => ["set-cookie", line])));
    this.seen = answer.kind;
    const pauseMs = this.waiting
      ? answer.refreshS * 1_000
      : this.inside
        ? this.browseMs
        : undefined;
    this.dueAt = pauseMs === undefined ? undefined : this.cluster.clock.now() + pauseMs;
  }
}

/** Makes a visitor who comes to a room with a free place and is inside. */
export async function visitorInside(cluster, { host, path }) {
  const visitor = new Visitor(cluster, { name: "inside", host, path });
  const { status, body } = await visitor.visit();
  if (!visitor.inside) throw new Error(`${host} let nobody in: ${status} ${body}`);
  return visitor;
}

/**
 * Lets time pass; those who wait come when their pages say so, and who is inside does not.
 *
 * @param {object} cluster
 * @param {number} ms how long, by the clock of the cluster
 * @param {Visitor[]} visitors
 * @param {() => boolean} [enough] ends it early
 */
export async function pass(cluster, ms, visitors, enough = () => false) {
  const end = cluster.clock.now() + ms;
  while (cluster.clock.now() < end && !enough()) {
    for (const visitor of visitors) {
      if (!visitor.inside && visitor.dueAt <= cluster.clock.now()) await visitor.visit();
    }
    await cluster.advance(500);
  }
}

/** Lets time pass until a visitor, who comes when the page says so, is inside: so long at most. */
export async function untilInside(cluster, visitor, limitMs) {
  await pass(cluster, limitMs, [visitor], () => visitor.inside);
  if (!visitor.inside) throw new Error("the place was not given to the next");
}

/**
 * Sends one request without any cookie of its own, and tells by `kind` who answered: the `origin`,
 * the `queue`, or something `else`.
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

/**
 * The page as a browser reads it, which knows the characters that are named by number.
 *
 * @param {string} html
 */
export function asRead(html) {
  return html.replace(/&#(\d+);/g, (_, number) => String.fromCodePoint(Number(number)));
}
