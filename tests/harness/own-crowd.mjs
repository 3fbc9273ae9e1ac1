/**
 * Visitors in real time in front of a site on its owner's machines, while something happens to it:
 * what they saw, and what their origin counted.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { QUEUE_MARK, Visitor } from "./visitor.mjs";

const MINUTE_MS = 60_000;
const TICK_MS = 50;
/** After an error somebody tries again. */
const AGAIN_MS = 1_000;
const BROWSE_MS = 1_000;

export class OwnCrowd {
  /** What they saw. `slowest` are the longest answers of those inside and those waiting, in ms. */
  told = { errors: 0, held: 0, thrownOut: 0, pages: 0, slowest: { inside: 0, waiting: 0 } };
  problems = new Set();

  /**
   * @param {OwnServer[]} servers which they come to in turn
   * @param {object} room
   * @param {object} options
   * @param {number} options.count
   * @param {(at: number) => number} options.arriveMs when each comes, in ms from now
   * @param {number} options.browsers so many look at another page every second
   */
  constructor(servers, room, { count, arriveMs, browsers }) {
    const began = Date.now();
    this.#origin = servers[0].origin;
    this.all = Array.from({ length: count }, (_, at) => {
      const browseMs = at < browsers ? BROWSE_MS : undefined;
      const server = servers[at % servers.length];
      const one = new Visitor(server, { name: `visitor ${at}`, host: room.host, browseMs });
      one.dueAt = began + arriveMs(at);
      return one;
    });
  }

  #origin;

  /** Lets them come and go until `done`, a promise, is. */
  async play(done) {
    let isOver = false;
    done.finally(() => (isOver = true)).catch(() => {});
    while (!isOver) {
      const due = this.all.filter(({ busy, dueAt }) => !busy && dueAt <= Date.now());
      for (const one of due) one.busy = this.#visit(one);
      await sleep(TICK_MS);
    }
    await Promise.all(this.all.map(({ busy }) => busy));
    await done;
  }

  /** The times at which each of those who entered came to the origin. */
  visits() {
    return [...this.#origin.visits().values()].map((all) => all.map(({ at }) => at));
  }

  async #visit(one) {
    const [beganAt, before] = [Date.now(), one.seen];
    try {
      const { status, body } = await one.visit();
      // The page without a decision has no mark: whoever is inside stays so, and tries again.
      const isHeld = one.waiting && !body.includes(QUEUE_MARK);
      if (isHeld) this.told.held += 1;
      else one.joinedAt ??= Date.now();
      if (one.inside) one.enteredAt ??= Date.now();
      else if (one.enteredAt && !isHeld) this.told.thrownOut += 1;
      if (!one.inside && !one.waiting) {
        this.told.pages += 1;
        this.problems.add(`${status} ${body.slice(0, 80)}`);
        one.dueAt = Date.now() + AGAIN_MS;
      }
    } catch (error) {
      this.told.errors += 1;
      this.problems.add(error.code ?? error.message);
      one.dueAt = Date.now() + AGAIN_MS;
    } finally {
      one.busy = undefined;
      const who = before === "origin" ? "inside" : "waiting";
      const tookMs = Date.now() - beganAt;
      this.told.slowest[who] = Math.max(this.told.slowest[who], tookMs);
    }
  }
}

/** The most who were inside at a time: each from the first visit to a minute after the last. */
export function mostInside(visits) {
  const steps = visits.flatMap((all) => [[all[0], 1], [all.at(-1) + MINUTE_MS, -1]]);
  steps.sort(([one, up], [other, down]) => one - other || up - down);
  let [now, most] = [0, 0];
  for (const [, step] of steps) {
    now += step;
    most = Math.max(most, now);
  }
  return most;
}

/** The most who entered in any minute. */
export function mostInAMinute(visits) {
  const entries = entriesOf(visits);
  const inMinuteFrom = (from) => entries.filter((at) => at >= from && at < from + MINUTE_MS).length;
  return Math.max(...entries.map(inMinuteFrom));
}

/** The longest time in which nobody entered, from a moment on, in milliseconds. */
export function longestPause(visits, from) {
  const entries = [from, ...entriesOf(visits).filter((at) => at >= from), Date.now()];
  return Math.max(...entries.slice(1).map((at, before) => at - entries[before]));
}

function entriesOf(visits) {
  return visits.map(([first]) => first).sort((one, other) => one - other);
}
