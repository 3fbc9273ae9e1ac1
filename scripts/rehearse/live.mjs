// A rehearsal against a running Worker: visitors of the plan come in real time, to a room that is
// made for it and removed again, and what they are told and wait is measured.
import { setTimeout as sleepFor } from "node:timers/promises";

import { CookieJar } from "../../client/src/cookies.ts";
import { givingUpOf } from "./giving-up.mjs";
import { leftText, roomFor } from "./live-room.mjs";
import { Silence } from "./silence.mjs";

/** More visitors than this would measure this machine. */
export const VISITORS_MAX = 5_000;
const MINUTE_MS = 60_000;
/** When to come again if an answer does not say it or there is none, in milliseconds. */
const COME_BACK_MS = 5_000;
/** Nobody waits for an answer for longer, in milliseconds. */
const ANSWER_WITHIN_MS = 30_000;
/** Whoever still waits so long after the last has come gives up, in milliseconds. */
const DRAIN_MS = 4 * 60 * MINUTE_MS;
/** Why it ended before everybody was served, if its owner wanted it. */
export const ENDED_BY_OWNER = "you ended it";

/**
 * Plays the visitors of a plan against a running Worker.
 *
 * @param {object} options
 * @param {object} options.plan
 * @param {number[]} options.perMinute how many come in each minute
 * @param {number} options.opensAtS when the doors open
 * @param {string} options.site an address of the host; the room gets a path of its own there
 * @param {(method: string, path: string, body?: object) => Promise<object>} options.api
 * @param {AbortSignal} options.signal ends it early; the room is removed all the same
 * @param {(numbers: object) => void} options.onProgress hears how many wait, are inside, ...
 * @param {() => number} [options.now] milliseconds
 * @param {(ms: number) => Promise<void>} [options.sleep]
 * @returns {Promise<object>} what was measured; `ended_early` says why if it ended early, and
 *   `left_room` names the room if it could not be removed
 */
export async function playLive(options) {
  const room = await roomFor(options, options.sleep ?? sleepFor);
  const address = new URL(room.path, options.site).href;
  const play = look(address).then(() => new Crowd(options, address).play(room.open));
  const [{ value, reason: error }] = await Promise.allSettled([play]);
  const left = await room.remove();
  if (error && left) throw new Error(`${error.message}\n  Besides, ${leftText(left)}`);
  if (error) throw error;
  return { ...value, left_room: left };
}

/** Asks whether anything answers there at all: the health of a Worker, which takes no place. */
async function look(address) {
  const health = new URL("/_waiting-room/health", address);
  await fetch(health, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).catch((error) => {
    const why = error.cause?.message || error.cause?.code || error.message;
    throw new Error(`nothing answers at ${health.origin}: ${why}`);
  });
}

class Crowd {
  #numbers = { come: 0, waiting: 0, inside: 0, entered: 0, "gave up": 0, errors: 0 };
  #waits = [];
  #errors = [];
  #inside = 0;
  #queued = 0;
  #silence = new Silence();
  #endedBy;
  #ending = new AbortController();
  #options;
  #address;
  #began;

  constructor(options, address) {
    // Whoever sleeps when it is ended wakes at once.
    const signal = AbortSignal.any([options.signal, this.#ending.signal]);
    const sleep = (ms) => sleepFor(ms, undefined, { signal }).catch(() => {});
    this.#options = { now: Date.now, sleep, ...options, signal };
    this.#address = address;
  }

  async play(open) {
    const { perMinute, opensAtS, signal, now } = this.#options;
    this.#began = now();
    const visitors = [];
    perMinute.forEach((count, minute) => {
      for (let number = 0; number < count; number += 1) {
        visitors.push(this.#visitor((minute + Math.random()) * MINUTE_MS));
      }
    });
    const opened =
      opensAtS > 0
        ? this.#pause(opensAtS * 1_000).then(() => !signal.aborted && this.#open(open))
        : undefined;
    await Promise.all([...visitors, opened]);
    return this.#measured();
  }

  async #open(open) {
    const why = await open();
    if (why) this.#end(`its room could not be opened: ${why}`);
  }

  /** Ends it for everybody, unless it has ended. */
  #end(why) {
    if (this.#options.signal.aborted) return;
    this.#endedBy = why;
    this.#ending.abort();
  }

  async #visitor(comesMs) {
    const { plan, signal } = this.#options;
    await this.#pause(comesMs);
    if (signal.aborted) return;
    this.#count({ come: 1 });
    const cookies = new CookieJar(this.#options.now);
    const patience = patienceOf(plan);
    let first = await this.#ask(cookies);
    if (first.waits) first = await this.#wait(cookies, first, patience);
    if (!first) return;
    this.#enter();
    await this.#browse(cookies);
    this.#count({ inside: -1 });
  }

  /** Waits in line: resolves when it is over, with nothing for whoever gives up or still waits. */
  async #wait(cookies, answer, patienceMs) {
    const { now, signal, perMinute, opensAtS } = this.#options;
    const arrived = now();
    const opensAt = this.#began + opensAtS * 1_000;
    const end = this.#began + perMinute.length * MINUTE_MS + DRAIN_MS;
    const givesUp = Math.min(arrived + patienceMs, end);
    let told;
    this.#queued += 1;
    this.#count({ waiting: 1 });
    for (let last = answer; ;) {
      if (!told && last.toldS !== undefined) told = { at: now(), toldS: last.toldS };
      if (signal.aborted) return;
      if (now() >= givesUp) {
        this.#count({ waiting: -1, "gave up": 1 });
        return;
      }
      await this.#options.sleep(Math.min(last.pauseMs, Math.max(0, givesUp - now())));
      last = await this.#ask(cookies);
      if (last.waits) continue;
      this.#count({ waiting: -1 });
      this.#waits.push((now() - Math.max(arrived, Math.min(opensAt, now()))) / 1_000);
      if (told) this.#errors.push(errorOf(told.toldS, (now() - told.at) / 1_000));
      return last;
    }
  }

  #enter() {
    this.#count({ inside: 1, entered: 1 });
    this.#inside = Math.max(this.#inside, this.#numbers.inside);
  }

  async #browse(cookies) {
    const { now, plan, signal } = this.#options;
    const { minutes = 4, page_every_seconds: everyS = 30 } = plan.on_site ?? {};
    const until = now() + minutes * (0.5 + Math.random()) * MINUTE_MS;
    while (!signal.aborted) {
      const pause = -Math.log(1 - Math.random()) * everyS * 1_000;
      if (now() + pause >= until) return this.#options.sleep(Math.max(0, until - now()));
      await this.#options.sleep(pause);
      await this.#ask(cookies);
    }
  }

  /** Opens the page once, as an app does. */
  async #ask(cookies) {
    const cookie = cookies.header(this.#address);
    const headers = { accept: "application/json", ...(cookie && { cookie }) };
    const { now, signal: ending } = this.#options;
    const signal = AbortSignal.any([ending, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    const askedMs = now();
    try {
      const answer = await fetch(this.#address, { headers, redirect: "manual", signal });
      this.#silence.answered(now());
      cookies.keep(this.#address, answer.headers);
      const text = await answer.text();
      return text.includes('"cfWaitingRoom"') ? waiting(JSON.parse(text)) : { waits: false };
    } catch {
      if (!ending.aborted) this.#count({ errors: 1 });
      if (this.#silence.failed(askedMs, now())) this.#end("nothing has answered for a minute");
      return { waits: true, pauseMs: COME_BACK_MS };
    }
  }

  /** Waits until so many milliseconds after the beginning. */
  async #pause(untilMs) {
    const { now, sleep, signal } = this.#options;
    for (let left; (left = this.#began + untilMs - now()) > 0 && !signal.aborted;) {
      await sleep(Math.min(left, COME_BACK_MS));
    }
  }

  #count(changes) {
    for (const [name, change] of Object.entries(changes)) this.#numbers[name] += change;
    this.#options.onProgress({ ...this.#numbers });
  }

  #measured() {
    const [waits, errors] = [this.#waits, this.#errors].map((all) =>
      all.sort((one, other) => one - other),
    );
    const { come, entered, waiting: stillWait, errors: failed, "gave up": gaveUp } = this.#numbers;
    const { signal } = this.#options;
    return {
      ended_early: signal.aborted ? (this.#endedBy ?? ENDED_BY_OWNER) : undefined,
      visitors: {
        arrived: come,
        queued: this.#queued,
        entered,
        gave_up: gaveUp,
        waiting: stillWait,
      },
      queued_wait_s: { median: part(waits, 0.5), p95: part(waits, 0.95), longest: part(waits, 1) },
      told_error_p50_percent: part(errors, 0.5),
      most_inside: this.#inside,
      errors: failed,
    };
  }
}

function waiting({ cfWaitingRoom: facts }) {
  const isTold = facts.inWaitingRoom && facts.waitTimeKnown;
  return {
    waits: facts.inWaitingRoom === true,
    pauseMs: (facts.refreshIntervalSeconds || COME_BACK_MS / 1_000) * 1_000,
    toldS: isTold ? facts.waitTime * 60 : undefined,
  };
}

/** How long somebody waits at most, drawn as in the simulated world, in milliseconds. */
function patienceOf(plan) {
  const { atOncePercent, afterMinutes: mean } = givingUpOf(plan);
  if (Math.random() * 100 < atOncePercent) return 0;
  return mean === null ? Infinity : -Math.log(1 - Math.random()) * mean * MINUTE_MS;
}

/** The error of what was told, in percent of the wait; less than a minute is told as one. */
function errorOf(toldS, waitS) {
  const [told, wait] = [toldS, waitS].map((seconds) => Math.max(60, seconds));
  return (100 * Math.abs(told - wait)) / wait;
}

/** The value that this part of all is at most; 0 where there is none. */
function part(sorted, share) {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
