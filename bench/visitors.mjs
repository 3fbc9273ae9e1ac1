/**
 * The visitors of the benchmark: requests as browsers send them, with cookies that the measured
 * Workers themselves have set. It knows nothing of measuring.
 */

import { crowdHandlerQuery, queueItQuery } from "./peer-accounts.mjs";
import { BUCKET_MS, HOST, OPEN, QUICK, SLOW } from "./rooms.mjs";

/** Visitors who renew: more than do in one activity bucket of `rooms.mjs`. */
const CROWD = 12_000;
/** Visitors who join the line together, to come back in time. */
const WAITING = 5_000;
const CONNECTIONS = 16;
/** A browser's own cookies; that of the room or of a peer stands between them. */
const COOKIES_BEFORE = "_ga=GA1.1.1234567890.1700000000; session=9f8e7d6c5b4a39281706f5e4d3c2b1a0";
const COOKIES_AFTER = "theme=dark; consent=analytics%3Dyes; cart=3f2504e04f8911d3";
/** Earlier than this before its time a refresh does not count (room-core/src/admission.rs). */
const EARLY_MS = 500;
/** The first refresh of the quick room is due after 4 to 6 s. */
const DUE_MS = 6_000;

export class Visitors {
  #load;
  #ports;
  #where;
  #crowdOf;
  #unchanged;
  #crowd = [];
  #renewingSince = 0;
  #waiting = [];

  /**
   * @param {object} bench
   * @param {object} bench.load the process of the load generator
   * @param {Record<string, number>} bench.ports by service; "waiting-room" is the product
   * @param {number} [bench.originPort] of the origin whose own address the requests have
   * @param {string[]} [bench.where] the lines of a request that say where it goes, and what a
   *   server in front tells; without it those of Miniflare
   * @param {number} [bench.crowd] how many renew
   */
  constructor({ load, ports, originPort, where, crowd = CROWD }) {
    this.#load = load;
    this.#ports = ports;
    this.#where = where ?? [`Host: ${HOST}:${originPort}`, `MF-CF-Blob: {"colo":"AMS"}`];
    this.#crowdOf = crowd;
  }

  /** Lets everybody enter or join a line who is needed later. */
  async arrive() {
    const newcomers = Array(this.#crowdOf).fill(this.#request(OPEN));
    this.#crowd = await this.#visit("waiting-room", newcomers);
    this.#renewingSince = Date.now();
    for (const full of [SLOW, QUICK]) await this.#visit("waiting-room", [this.#request(full)]);
  }

  /** An admitted visitor whose ticket stays as it is for the next `ms`. */
  async unchanged(ms) {
    const left = BUCKET_MS - (Date.now() % BUCKET_MS);
    if (left < ms) await until(Date.now() + left);
    const [cookie] = await this.#visit("waiting-room", [this.#request(OPEN, this.#unchanged)]);
    if (cookie) this.#unchanged = cookie;
    return [this.#request(OPEN, this.#unchanged)];
  }

  /** Admitted visitors whose tickets are counted in a bucket that is over. */
  async renewing(count) {
    await until(this.#renewingSince + BUCKET_MS);
    const next = this.#crowd.splice(0, count);
    this.#crowd.push(...next);
    return next.map((cookie) => this.#request(OPEN, cookie));
  }

  /** A visitor of a page that no room covers. */
  elsewhere() {
    return [this.#request({ path: "/elsewhere" })];
  }

  /** A waiting visitor who comes back too early. */
  async early() {
    const [cookie] = await this.#visit("waiting-room", [this.#request(SLOW)]);
    return [this.#request(SLOW, cookie)];
  }

  /** Waiting visitors who come back in time. */
  async due(count) {
    if (this.#waiting.length < count) {
      const waiting = Array(WAITING).fill(this.#request(QUICK));
      this.#waiting = await this.#visit("waiting-room", waiting);
      await until(Date.now() + DUE_MS - EARLY_MS);
    }
    return this.#waiting.splice(0, count).map((cookie) => this.#request(QUICK, cookie));
  }

  /** A visitor whom Queue-it has let in. */
  async ofQueueIt(service) {
    const query = queueItQuery({ extends: service !== "queue-it" });
    const [cookie] = await this.#visit(service, [this.#request(OPEN, "", query)]);
    return [this.#request(OPEN, cookie)];
  }

  /** A visitor whom CrowdHandler has let in. */
  async ofCrowdHandler(service) {
    const [cookie] = await this.#visit(service, [this.#request(OPEN, "", crowdHandlerQuery())]);
    return [this.#request(OPEN, cookie)];
  }

  /** A newcomer to the full room whose visitors come back late. */
  joining() {
    return [this.#request(SLOW)];
  }

  /** A visitor who never came before. */
  newcomer() {
    return [this.#request(OPEN)];
  }

  /** Sends each request once; the cookies that came back, in their order. */
  async #visit(service, requests) {
    const { statuses, cookies } = await this.#load.ask({
      port: this.#ports[service],
      requests,
      connections: Math.min(requests.length, CONNECTIONS),
      count: requests.length,
      collect: true,
    });
    if (statuses["200"] !== requests.length) {
      throw new Error(`${service} answered ${JSON.stringify(statuses)}`);
    }
    return cookies;
  }

  #request({ path }, cookie, query) {
    const cookies = [COOKIES_BEFORE, cookie, COOKIES_AFTER].filter(Boolean).join("; ");
    return [
      `GET ${path}/product/1234${query ? `?${query}` : ""} HTTP/1.1`,
      ...this.#where,
      "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
      "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "Accept-Language: en-US,en;q=0.5",
      `Cookie: ${cookies}`,
      "\r\n",
    ].join("\r\n");
  }
}

function until(moment) {
  return new Promise((wake) => setTimeout(wake, Math.max(0, moment - Date.now())));
}
