/**
 * Thousands of visitors of one room at once: they come, wait and come back as their pages say.
 */

import { Visitor } from "./visitor.mjs";

/** Most requests in flight at one moment, as in a burst behind one popular link. */
const IN_FLIGHT_MAX = 400;
/** How far the clock jumps at once while everybody waits, in milliseconds. */
const STEP_MS = 500;

/** A crowd in front of one room. */
export class Crowd {
  /**
   * @param {object} cluster
   * @param {object} options
   * @param {number} options.count
   * @param {string} options.host
   * @param {string} [options.label] begins the visitors' names
   * @param {number} [options.browseMs] how often those inside look at another page; never unless
   *   given
   */
  constructor(cluster, { count, host, label = "visitor", browseMs }) {
    this.cluster = cluster;
    this.visitors = Array.from({ length: count }, (_, at) => {
      const { colo } = cluster.isolates[at % cluster.isolates.length];
      return new Visitor(cluster, { name: `${label}-${at + 1}`, host, colo, browseMs });
    });
  }

  /** Lets all visitors come at once. */
  async arrive() {
    await this.#visitAll(this.visitors);
  }

  /** Lets one visitor of the crowd come. */
  async arriveOne(visitor) {
    await this.#visitAll([visitor]);
  }

  /**
   * Lets time pass; every visitor comes back when the page says so.
   *
   * @param {number} ms how long, by the clock of the cluster
   * @param {() => boolean} [enough] ends the wait early
   */
  async wait(ms, enough = () => false) {
    const { clock } = this.cluster;
    const end = clock.now() + ms;
    while (!enough()) {
      await this.#visitAll(this.visitors.filter(({ dueAt }) => dueAt <= clock.now()));
      const left = end - clock.now();
      if (left <= 0) return;
      await this.cluster.advance(Math.min(STEP_MS, left));
    }
  }

  /** The visitors whose last answer came from the origin. */
  get inside() {
    return this.visitors.filter(({ inside }) => inside);
  }

  /** The visitors whose last answer was the queue page. */
  get waiting() {
    return this.visitors.filter(({ waiting }) => waiting);
  }

  async #visitAll(visitors) {
    await inParallel(visitors, IN_FLIGHT_MAX, async (visitor) => {
      const answer = await visitor.visit();
      if (answer.kind === "else") {
        throw new Error(`${visitor.name} saw ${answer.status}: ${answer.body.slice(0, 200)}`);
      }
    });
  }
}

/** Does `work` for each item, at most `limit` at a time. */
export async function inParallel(items, limit, work) {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
