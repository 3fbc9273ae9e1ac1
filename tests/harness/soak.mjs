/**
 * A long day in short: visitors at a steady pace in real time, rooms and events that come and go
 * over the API, and a look at the limits of every room in what the origin saw.
 */

import { OWNER, ROOMS, call } from "./api.mjs";
import { FREQUENT_CHECK_INS, room } from "./rooms.mjs";
import { stream } from "./population.mjs";
import { Visitor } from "./visitor.mjs";

const SESSION_MS = 60_000;
const MINUTE_MS = 60_000;
/** A made room is known everywhere by then; afterwards it has visitors. */
const KNOWN_AFTER_MS = 6_000;
/** Rooms made over the API at one time, and how long each is there. */
const MADE = 4;
const LIFE_MS = 90_000;
/** How often an event is made for a standing room and the last one removed, and its length. */
const EVENT_EVERY_MS = 20_000;
const EVENT_MS = 60_000;
const BROWSE_MS = 10_000;
/** The part of those inside who leave for good after a page, and of those waiting who give up. */
const LEAVE = 0.1;
const GIVE_UP = 0.05;
/** So many requests may be on their way at once; more wait for their turn. */
const IN_FLIGHT_MAX = 200;
/** Further apart than any two messages of the story. */
const TURN_MS = 20;

/** The rooms that are there from the beginning to the end. */
export const STANDING = [40, 80, 150].map((places, at) =>
  room({ name: `standing-${at + 1}`, total_active_users: places, ...FREQUENT_CHECK_INS }),
);

/** Watches one room from the origin: who is inside, and who came in the last minute. */
class Watch {
  #inside = new Map();
  #entered = [];

  constructor({ total_active_users: places, new_users_per_minute: perMinute }) {
    Object.assign(this, { places, perMinute });
  }

  /** Takes in an arrival of a visitor, whose session runs from when it was `sent`. */
  see({ at, sent, visitor }) {
    // The oldest come first: whoever comes again is put at the end.
    for (const [name, until] of this.#inside) if (until <= at) this.#inside.delete(name);
    if (!this.#inside.has(visitor)) this.#entered.push(at);
    this.#inside.set(visitor, sent + SESSION_MS);
    while (this.#entered[0] <= at - MINUTE_MS) this.#entered.shift();
    if (this.#inside.size > this.places) return `${this.#inside.size} inside of ${this.places}`;
    const entered = this.#entered.length;
    return entered > this.perMinute ? `${entered} in a minute of ${this.perMinute}` : undefined;
  }
}

/** Everybody and everything that happens to a cluster. */
export class Soak {
  /** What went wrong, in words. */
  wrong = [];
  /** How many requests were answered, by who answered; and what the owner changed. */
  counts = { origin: 0, queue: 0, rooms: 0, events: 0 };
  #watches = new Map();
  #open = [];
  #made = [];
  #due = [];
  #inFlight = new Set();
  #sent = 0;
  #names = 0;
  #event;
  #nextEventAt = 0;

  constructor(cluster, { perSecond, seed }) {
    Object.assign(this, { cluster, perSecond, draw: stream(seed) });
    for (const one of STANDING) this.#admit(one);
  }

  /** Lets all of it happen for so long, in real time; `every` is called each second. */
  async play(ms, every) {
    const began = Date.now();
    let toldAt = began;
    while (Date.now() < began + ms) {
      const now = Date.now();
      const wanted = Math.floor(((now - began) * this.perSecond) / 1_000);
      while (this.#sent < wanted && this.#inFlight.size < IN_FLIGHT_MAX) this.#send(now);
      // Whoever could not be served in time is not made up for.
      this.#sent = Math.max(this.#sent, wanted - this.perSecond);
      if (now - toldAt >= 1_000) {
        toldAt = now;
        await Promise.all([this.#owner(now), this.#look(), every(now - began)]);
      }
      await new Promise((wake) => setTimeout(wake, TURN_MS));
    }
    await Promise.all(this.#inFlight);
    await this.#look();
  }

  #admit(one) {
    this.#watches.set(one.name, new Watch(one));
    this.#open.push(one);
  }

  /** Sends the visit of somebody who is due, or of a newcomer. */
  #send(now) {
    this.#sent += 1;
    const visitor = this.#due[0]?.dueAt <= now ? this.#due.shift() : this.#newcomer();
    const visit = this.#visit(visitor)
      .catch((error) => this.wrong.push(`${visitor.name}: ${error.message}`))
      .finally(() => this.#inFlight.delete(visit));
    this.#inFlight.add(visit);
  }

  #newcomer() {
    const { isolates } = this.cluster;
    const one = this.#open[Math.floor(this.draw() * this.#open.length)];
    const { colo } = isolates[Math.floor(this.draw() * isolates.length)];
    this.#names += 1;
    const name = `${one.name}/${this.#names}`;
    return new Visitor(this.cluster, { name, host: one.host, colo, browseMs: BROWSE_MS });
  }

  async #visit(visitor) {
    const path = `/?sent=${Date.now()}`;
    const { kind, status } = await visitor.visit({ path });
    if (kind === "else") throw new Error(`saw ${status}`);
    this.counts[kind] += 1;
    const goes = this.draw() < (visitor.inside ? LEAVE : GIVE_UP);
    if (!goes && this.#watches.has(roomOf(visitor.name))) this.#await(visitor);
  }

  /** Puts a visitor where it is due. */
  #await(visitor) {
    let [low, high] = [0, this.#due.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#due[middle].dueAt <= visitor.dueAt) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, visitor);
  }

  /** Looks at everything that reached the origin since the last look. */
  async #look() {
    const arrivals = await this.cluster.takeArrivals();
    for (const { at, visitor, path } of arrivals.sort((one, other) => one.at - other.at)) {
      const sent = Number(new URLSearchParams(path.split("?")[1]).get("sent"));
      const broken = this.#watches.get(roomOf(visitor))?.see({ at, sent, visitor });
      if (broken) this.wrong.push(`${roomOf(visitor)}: ${broken}`);
    }
  }

  /** What the owner does at this moment: makes and removes rooms, begins and ends events. */
  async #owner(now) {
    const gone = this.#made.find(({ until }) => until <= now);
    if (gone) await this.#remove(gone);
    else if (this.#made.length < MADE) await this.#make(now);
    for (const one of this.#made.filter(({ opensAt }) => opensAt <= now)) {
      one.opensAt = Infinity;
      this.#admit(one.room);
    }
    if (now >= this.#nextEventAt) await this.#nextEvent(now);
  }

  async #make(now) {
    this.counts.rooms += 1;
    const { id: _id, zone_id: _zone, ...fields } = room({
      name: `made-${this.counts.rooms}`,
      total_active_users: 20 + Math.floor(this.draw() * 60),
      ...FREQUENT_CHECK_INS,
    });
    const { result } = await call(this.cluster, "POST", ROOMS, fields, OWNER);
    const life = { opensAt: now + KNOWN_AFTER_MS, until: now + LIFE_MS };
    this.#made.push({ room: { ...fields, id: result.id }, ...life });
  }

  async #remove(gone) {
    this.#made.splice(this.#made.indexOf(gone), 1);
    this.#open.splice(this.#open.indexOf(gone.room), 1);
    // Its visitors find the site without a room, so nothing is promised for it any more.
    this.#watches.delete(gone.room.name);
    this.#due = this.#due.filter(({ name }) => roomOf(name) !== gone.room.name);
    await call(this.cluster, "DELETE", `${ROOMS}/${gone.room.id}`, undefined, OWNER);
  }

  /** Removes the last event and makes the next, of the same limits. */
  async #nextEvent(now) {
    this.#nextEventAt = now + EVENT_EVERY_MS;
    if (this.#event) await call(this.cluster, "DELETE", this.#event, undefined, OWNER);
    const path = `${ROOMS}/${STANDING[this.counts.events % STANDING.length].id}/events`;
    const at = (ms) => new Date(now + ms).toISOString();
    const event = {
      name: `event-${this.counts.events}`,
      prequeue_start_time: null,
      event_start_time: at(KNOWN_AFTER_MS),
      event_end_time: at(KNOWN_AFTER_MS + EVENT_MS),
      queueing_method: "random",
    };
    const { result } = await call(this.cluster, "POST", path, event, OWNER);
    this.#event = `${path}/${result.id}`;
    this.counts.events += 1;
  }
}

function roomOf(name) {
  return name.split("/")[0];
}
