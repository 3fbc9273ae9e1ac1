/**
 * What the real Worker uses, in real workerd with a clock that is moved: nobody, one visitor a
 * minute, a small shop, thousands in line. It counts every call of every object, the registry's
 * too, the rows that they write and how long they are awake.
 */

import { setTimeout as sleep } from "node:timers/promises";

import { startCluster } from "../../tests/harness/cluster.mjs";
import { Crowd } from "../../tests/harness/crowd.mjs";
import { room } from "../../tests/harness/rooms.mjs";
import { Visitor } from "../../tests/harness/visitor.mjs";

const MINUTE_MS = 60_000;
/** Below the 2 s between two syncs, so that no timer is skipped. */
const STEP_MS = 1_000;
/** Real time that work after a reply may take to begin, in milliseconds. */
const BEGINS_MS = 2;

/**
 * Objects of a data center wait so long for the room's global object, which may be far away: the
 * middle of the simulator's round trips, in seconds. Here both are in one process.
 */
const ROUND_TRIP_S = 0.12;

const SESSION_MINUTES = 5;
/** What a visitor of the quiet site looks at, and how long each page is read. */
const PAGES = 5;
const READ_MS = 25_000;
/** As long until the room is calm, and everything that repeats has repeated. */
const SETTLES_MINUTES = 4;
const QUIET_MINUTES = 15;
/** After the last visitor: until the last session has ended, and everything sleeps. */
const FALLS_ASLEEP_MINUTES = 2 * SESSION_MINUTES;
const NOBODY_MINUTES = 10;

const SHOP_PLACES = 400;
/** Each is inside for some 6.5 minutes: so many a minute fill half of these places. */
const SHOP_PER_MINUTE = 30;
/** Until as many end their sessions as come, and the room is calm. */
const SHOP_SETTLES_MINUTES = 8;
const SHOP_MINUTES = 4;

const QUEUE = 5_000;
/** A place for one in ten of them, and for as many a minute as would be served in an hour. */
const PLACES = 500;
const PER_MINUTE = 90;
const SETTLES_MS = 30_000;
const QUEUE_MS = MINUTE_MS;

/** @typedef {import("./formula.mjs").Used & { seconds: number, objects: number }} Measured */

/**
 * A site with one visitor a minute in one data center, and then with nobody.
 *
 * @returns {Promise<{ one: Measured, nobody: Measured }>}
 */
export async function quietSite() {
  const limits = { total_active_users: 1_000, new_users_per_minute: 500 };
  const shop = room({ name: "shop", ...limits, session_duration: SESSION_MINUTES });
  return withCluster({ rooms: [shop], colos: { AMS: 2 } }, async (cluster) => {
    const site = new Site(cluster, shop, { perMinute: 1 });
    await site.open(SETTLES_MINUTES);
    const one = await measured(cluster, site, () => site.open(QUIET_MINUTES));
    await pass(cluster, FALLS_ASLEEP_MINUTES * MINUTE_MS);
    const nobody = await measured(cluster, site, () => pass(cluster, NOBODY_MINUTES * MINUTE_MS));
    return { one, nobody };
  });
}

/**
 * A small shop, half full, in three data centers.
 *
 * @returns {Promise<Measured & { queued: number }>} also how many were queued without need
 */
export async function halfFull() {
  const limits = { total_active_users: SHOP_PLACES, new_users_per_minute: 2 * SHOP_PER_MINUTE };
  const shop = room({ name: "shop", ...limits, session_duration: SESSION_MINUTES });
  const world = { rooms: [shop], colos: { AMS: 2, NRT: 2, IAD: 1 } };
  return withCluster(world, async (cluster) => {
    const site = new Site(cluster, shop, { perMinute: SHOP_PER_MINUTE });
    await site.open(SHOP_SETTLES_MINUTES);
    const used = await measured(cluster, site, () => site.open(SHOP_MINUTES));
    return { ...used, queued: site.queued.size };
  });
}

/** Five thousand in line in three data centers. @returns {Promise<Measured>} */
export async function longQueue() {
  const limits = { total_active_users: PLACES, new_users_per_minute: PER_MINUTE };
  const shop = room({ name: "queue", ...limits, session_duration: SESSION_MINUTES });
  const world = { rooms: [shop], colos: { AMS: 4, NRT: 4, IAD: 4 } };
  return withCluster(world, async (cluster) => {
    const crowd = new Crowd(cluster, { count: QUEUE + PLACES, host: shop.host });
    await crowd.arrive();
    await crowd.wait(SETTLES_MS);
    const used = await measured(cluster, crowd, () => crowd.wait(QUEUE_MS));
    if (crowd.waiting.length < 0.9 * QUEUE) throw new Error(`${crowd.waiting.length} in line`);
    return used;
  });
}

/** Visitors who come one after the other, read a few pages and leave. */
class Site {
  visitors = [];
  /** Who was sent to the line, which none of them should be. */
  queued = new Set();
  #cluster;
  #host;
  #pauseMs;

  constructor(cluster, { host }, { perMinute }) {
    this.#cluster = cluster;
    this.#host = host;
    this.#pauseMs = MINUTE_MS / perMinute;
  }

  /** Lets so many minutes pass. */
  async open(minutes) {
    for (let ms = 0; ms < minutes * MINUTE_MS; ms += STEP_MS) {
      if (ms % this.#pauseMs === 0) this.#enter();
      await this.#read();
      await pass(this.#cluster, STEP_MS);
    }
  }

  #enter() {
    const at = this.visitors.length;
    const [name, browseMs] = [`visitor-${at + 1}`, READ_MS];
    const { colo } = this.#cluster.isolates[at % this.#cluster.isolates.length];
    const visitor = new Visitor(this.#cluster, { name, host: this.#host, colo, browseMs });
    visitor.dueAt = this.#cluster.clock.now();
    visitor.pages = 0;
    this.visitors.push(visitor);
  }

  /** Whoever has read a page looks at the next one. */
  async #read() {
    const now = this.#cluster.clock.now();
    const due = this.visitors.filter(({ dueAt, pages }) => pages < PAGES && dueAt <= now);
    for (const visitor of due) {
      await visitor.visit();
      if (visitor.inside) visitor.pages += 1;
      else this.queued.add(visitor);
      await settle(this.#cluster);
    }
  }
}

async function withCluster(options, body) {
  const cluster = await startCluster(options);
  try {
    return await body(cluster);
  } catch (error) {
    cluster.log.show("the bill");
    throw error;
  } finally {
    await cluster.stop();
  }
}

/** Lets time pass, and all that falls due be done before the clock moves on. */
async function pass(cluster, ms) {
  for (let left = ms; left > 0; left -= STEP_MS) {
    await cluster.advance(Math.min(STEP_MS, left), STEP_MS);
    await settle(cluster);
  }
}

async function settle(cluster) {
  await sleep(BEGINS_MS);
  while ((await cluster.door()).serving > 0) await sleep(BEGINS_MS);
}

/** What these visitors used while `story` went on. */
async function measured(cluster, { visitors }, story) {
  const requests = () => visitors.reduce((all, { visits }) => all + visits, 0);
  const [before, requestsBefore] = [await cluster.door(), requests()];
  await story();
  const after = await cluster.door();
  const [calls, awakeMs] = ["calls", "awakeMs"].map((what) => grown(before[what], after[what]));
  const upward = sum(calls, (name) => name.startsWith("GlobalAggregator "));
  // The registry, of all rooms together, is no object of the room.
  const objects = Object.keys(after.calls).filter((name) => !name.startsWith("Registry "));
  const seconds = (after.now - before.now) / 1_000;
  const ofRegistry = sum(calls, (name) => name.startsWith("Registry "));
  // Here all data centers share one cache, and so what the registry has confirmed.
  const registryCalls = ofRegistry * new Set(cluster.isolates.map(({ colo }) => colo)).size;
  return {
    seconds,
    requests: requests() - requestsBefore,
    calls: sum(calls) - ofRegistry + registryCalls,
    registryCalls,
    awakeS: Math.min(sum(awakeMs) / 1_000 + upward * ROUND_TRIP_S, objects.length * seconds),
    rows: after.rows - before.rows,
    objects: objects.length,
  };
}

function grown(before, after) {
  return Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]);
}

function sum(counts, isMeant = () => true) {
  return counts.reduce((all, [name, count]) => all + (isMeant(name) ? count : 0), 0);
}
