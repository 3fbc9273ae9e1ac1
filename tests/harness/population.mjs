/**
 * Visitors who come by chance, browse, wait and leave for good, all drawn from one seed, with the
 * rates of the scenario `compressed` of room-sim.
 */

import { inParallel } from "./crowd.mjs";
import { Visitor } from "./visitor.mjs";

/** Most requests in flight at one moment. */
const IN_FLIGHT_MAX = 200;
/** How far the clock jumps at once, in milliseconds. */
const STEP_MS = 100;
/** The mean time between two requests of a visitor inside, in milliseconds, as in room-sim. */
const REQUEST_MS = 30_000;

/** Makes a generator of numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function stream(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Everybody who ever comes to one room. */
export class Population {
  /**
   * All visitors so far. Each has the times when it `joined` and `entered`, the first estimate that
   * it was `told`, and when those of its requests were `sent` that reached the site.
   */
  visitors = [];
  #draw;
  #nextAt;

  /**
   * @param {object} cluster
   * @param {object} options
   * @param {string} options.host
   * @param {number} options.seed
   * @param {number} options.perMinute how many come, on average
   * @param {number} options.stayMs how long they stay on the site, on average
   */
  constructor(cluster, { host, seed, perMinute, stayMs }) {
    Object.assign(this, { cluster, host, perMinute, stayMs });
    this.#draw = stream(seed);
    this.#nextAt = cluster.clock.now();
  }

  /** Lets `ms` milliseconds pass by the cluster's clock; new visitors come only if `arrive`. */
  async play(ms, { arrive }) {
    const { clock } = this.cluster;
    const end = clock.now() + ms;
    while (clock.now() < end) {
      const now = clock.now();
      while (arrive && this.#nextAt <= now) {
        this.#join();
        this.#nextAt += this.#exponential(60_000 / this.perMinute);
      }
      const due = this.visitors.filter(({ dueAt }) => dueAt <= now);
      await inParallel(due, IN_FLIGHT_MAX, (visitor) => this.#visit(visitor));
      await this.cluster.advance(Math.min(STEP_MS, end - clock.now()));
    }
  }

  /** Lists what the origin saw, each arrival with the moment when its request was `sent`. */
  async arrivals() {
    const sent = new Map(this.visitors.map(({ name, sent }) => [name, [...sent]]));
    const arrivals = [...(await this.cluster.arrivals())].sort((one, other) => one.at - other.at);
    return arrivals.map((one) => ({ ...one, sent: sent.get(one.visitor).shift() }));
  }

  #join() {
    const { isolates } = this.cluster;
    const { colo } = isolates[Math.floor(this.#draw() * isolates.length)];
    const name = `visitor-${this.visitors.length + 1}`;
    const visitor = new Visitor(this.cluster, { name, host: this.host, colo });
    this.visitors.push(Object.assign(visitor, { dueAt: 0, sent: [] }));
  }

  async #visit(visitor) {
    const sent = this.cluster.clock.now();
    const answer = await visitor.visit();
    const now = this.cluster.clock.now();
    visitor.joined ??= now;
    if (visitor.waiting) {
      // The test's page says only how many minutes the wait will take, if that is known.
      const minutes = answer.body.match(/in (\d+) min/)?.[1];
      // Whoever joins a new line is told a time at a later check-in.
      visitor.told ??= { at: now };
      if (minutes && !visitor.told.minutes) {
        visitor.told = { ...visitor.told, since: now, minutes: Number(minutes) };
      }
      return;
    }
    if (!visitor.inside) throw new Error(`${visitor.name} saw ${answer.status}: ${answer.body}`);
    visitor.sent.push(sent);
    visitor.entered ??= now;
    visitor.leaves ??= now + this.#exponential(this.stayMs);
    const next = now + this.#exponential(REQUEST_MS);
    visitor.dueAt = next < visitor.leaves ? next : undefined;
  }

  #exponential(mean) {
    return -mean * Math.log(1 - this.#draw());
  }
}
