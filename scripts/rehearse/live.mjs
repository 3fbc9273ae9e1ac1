// A rehearsal against a running Worker: visitors of the plan come in real time, to a room that is
// made for it and removed again, and what they are told and wait is measured.
import { randomBytes } from "node:crypto";
import { setTimeout as sleepFor } from "node:timers/promises";

import { CookieJar } from "../../client/src/cookies.ts";

/** More visitors than this would measure this machine. */
export const VISITORS_MAX = 5_000;
const MINUTE_MS = 60_000;
/** When to come again if an answer does not say it or there is none, in milliseconds. */
const COME_BACK_MS = 5_000;
/** Nobody waits for an answer for longer, in milliseconds. */
const ANSWER_WITHIN_MS = 30_000;
/** The name of each room that is made begins so. */
const NAME = "rehearsal_";
/** Whoever still waits so long after the last has come gives up, in milliseconds. */
const DRAIN_MS = 4 * 60 * MINUTE_MS;

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
 * @returns {Promise<object>} what was measured
 */
export async function playLive(options) {
  const { api, site, plan } = options;
  const zone = await zoneOf(site, api);
  const room = await api("POST", `zones/${zone}/waiting_rooms`, {
    ...plan.room,
    name: `${NAME}${randomBytes(6).toString("hex")}`,
    description: "Made by a rehearsal, and removed at its end",
    host: new URL(site).hostname,
    path: `/waiting-room-rehearsal-${randomBytes(6).toString("hex")}`,
    json_response_enabled: true,
    queue_all: options.opensAtS > 0,
  });
  const place = `zones/${zone}/waiting_rooms/${room.id}`;
  try {
    const address = new URL(room.path, site).href;
    await look(address);
    return await new Crowd(options, address).play(() => api("PATCH", place, { queue_all: false }));
  } finally {
    await api("DELETE", place);
  }
}

/** The zone of the rooms that this host has already: whoever can list them owns the place. */
async function zoneOf(site, api) {
  const { hostname } = new URL(site);
  const rooms = await api("GET", "waiting_rooms/file");
  const own = rooms.find(({ host, additional_routes: more = [] }) =>
    [host, ...more.map((route) => route.host)].includes(hostname),
  );
  if (own) return own.zone_id;
  throw new Error(`no room of this Worker covers ${hostname}: it rehearses no site but its own`);
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
  #options;
  #address;
  #began;

  constructor(options, address) {
    // Whoever sleeps when it is ended wakes at once.
    const { signal } = options;
    const sleep = (ms) => sleepFor(ms, undefined, { signal }).catch(() => {});
    this.#options = { now: Date.now, sleep, ...options };
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
        ? this.#pause(opensAtS * 1_000).then(() => !signal.aborted && open())
        : undefined;
    await Promise.all([...visitors, opened]);
    return this.#measured();
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
    if (!first || signal.aborted) return;
    this.#enter();
    await this.#browse(cookies);
    this.#count({ inside: -1 });
  }

  /** Waits in line: resolves when it is over, with nothing if the visitor gives up. */
  async #wait(cookies, answer, patienceMs) {
    const { now, signal, perMinute, opensAtS } = this.#options;
    const arrived = now();
    const opensAt = this.#began + opensAtS * 1_000;
    const end = this.#began + perMinute.length * MINUTE_MS + DRAIN_MS;
    const givesUp = Math.min(arrived + patienceMs, end);
    let told;
    this.#count({ waiting: 1 });
    for (let last = answer; ;) {
      if (!told && last.toldS !== undefined) told = { at: now(), toldS: last.toldS };
      if (now() >= givesUp || signal.aborted) {
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
    const signal = AbortSignal.any([this.#options.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    try {
      const answer = await fetch(this.#address, { headers, redirect: "manual", signal });
      cookies.keep(this.#address, answer.headers);
      const text = await answer.text();
      return text.includes('"cfWaitingRoom"') ? waiting(JSON.parse(text)) : { waits: false };
    } catch {
      if (!this.#options.signal.aborted) this.#count({ errors: 1 });
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
    const { come, entered, errors: failed } = this.#numbers;
    return {
      visitors: { arrived: come, queued: waits.length, entered, gave_up: this.#numbers["gave up"] },
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
function patienceOf({
  giving_up: { at_once_percent: atOnce = 5, after_minutes: mean = 120 } = {},
}) {
  if (Math.random() * 100 < atOnce) return 0;
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
