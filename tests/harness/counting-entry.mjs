/**
 * The Worker under test with a side door: it counts the calls that reach the objects, the rows that
 * they write, how long they are awake and the writes to the Cache API, and makes calls and writes
 * fail or wait on order. It wraps the product, which has no such door itself. Runs in workerd.
 */

import { WorkerEntrypoint, env } from "cloudflare:workers";
import { breakCache } from "./cache-faults.mjs";
import * as product from "./product.mjs";
import { methods } from "./shared-cache.mjs";

/** How many calls reached each object since this isolate began, by "class object". */
const calls = {};
/** How often the doctor has asked each object, by "class object". */
const examined = {};
/** How many times each object began, by "class object": once, and again after each end. */
const began = {};
/** How many rows the objects of this isolate wrote, each put, delete and row of SQL one. */
let rows = 0;
/** When each living object was awake, by "class object". @see Wakefulness */
const wakefulness = {};
/** How many calls the objects of this isolate serve now. */
let serving = 0;
/** How many times this isolate looked up an object by its name, which begins each call. */
let asked = 0;
/** How often the last good deployment was asked for. */
let asks = 0;
/** Where the last call to each object, by its name, asked for it to be placed. */
const places = {};
/** Writes to the Cache API by key: how many, the size of the largest, and when each happened. */
const writes = {};
/**
 * Orders for calls to come (so many `times`, or until other orders), and for writes of objects.
 * @type {{ className: string, object?: string, times?: number, fail?: string, delayMs?: number,
 * jitterMs?: number, bytesMax?: number, platform?: object }[]} `platform` is what the platform says
 * of an error of its own
 */
let faults = [];

/** The largest value that the platform stores, in bytes; a local workerd may take larger ones. */
const VALUE_BYTES_MAX = 2_000_000;
/** The raw points that this isolate has written, where the test binds a dataset for them. */
const points = [];
/** The least time for which a call keeps an object awake, in milliseconds. */
const SERVICE_MS = 1;
let watched = false;

/**
 * Counts the rows that objects write, and makes writes fail that are too large, or that the test
 * wants to fail.
 */
function watchStorage({ kv, sql }) {
  if (watched) return;
  watched = true;
  const prototype = Object.getPrototypeOf(kv);
  const { put, delete: remove } = prototype;
  prototype.delete = function (key) {
    rows += 1;
    return remove.call(this, key);
  };
  const statements = Object.getPrototypeOf(sql);
  const { exec } = statements;
  statements.exec = function (...query) {
    const cursor = exec.apply(this, query);
    rows += cursor.rowsWritten;
    return cursor;
  };
  prototype.put = function (key, value) {
    const fault = faults.find((one) => one.fail === "storage");
    const bytesMax = fault ? (fault.bytesMax ?? 0) : VALUE_BYTES_MAX;
    if (value.length > bytesMax) throw new Error("string or blob too big: SQLITE_TOOBIG");
    rows += 1;
    return put.call(this, key, value);
  };
}

/**
 * For how long an object is awake: while it serves a call, or waits for a timer or an answer. What
 * a later life of it is awake counts on from `before`.
 */
class Wakefulness {
  #pending = 0;
  #since = 0;
  #ms;

  constructor(before = 0) {
    this.#ms = before;
  }

  begin() {
    if (this.#pending === 0) this.#since = Date.now();
    this.#pending += 1;
  }

  end() {
    this.#pending -= 1;
    if (this.#pending === 0) this.#ms += Math.max(SERVICE_MS, Date.now() - this.#since);
  }

  get ms() {
    return this.#ms + (this.#pending > 0 ? Date.now() - this.#since : 0);
  }
}

/** Watches an object whose life begins, and what it goes on with after its replies. */
function watchLife(name, ctx) {
  const life = new Wakefulness(wakefulness[name]?.ms);
  wakefulness[name] = life;
  const { waitUntil } = ctx;
  ctx.waitUntil = function (promise) {
    life.begin();
    const end = () => life.end();
    Promise.resolve(promise).then(end, end);
    return waitUntil.call(this, promise);
  };
  return life;
}

function faultOf(className, object) {
  return faults.find(
    (one) => one.className === className && (one.object ?? object) === object && one.times !== 0,
  );
}

async function delay(fault) {
  const delayMs = fault.delayMs ?? Math.random() * (fault.jitterMs ?? 0);
  if (delayMs > 0) await new Promise((wake) => setTimeout(wake, delayMs));
  if (fault.platform) throw Object.assign(new Error("as of the platform"), fault.platform);
}

function counted(Product, className) {
  const Counted = class extends Product {
    #life;

    constructor(ctx, env) {
      watchStorage(ctx.storage);
      const name = `${className} ${ctx.id.name}`;
      const life = watchLife(name, ctx);
      super(ctx, env);
      this.#life = life;
      began[name] = (began[name] ?? 0) + 1;
    }

    /** Ends this object as a crash does: its memory is lost, and calls that wait for it fail. */
    kill() {
      this.ctx.abort("killed by the test");
    }

    async call(text, named) {
      this.#life.begin();
      serving += 1;
      try {
        return await this.#serve(text, named);
      } finally {
        serving -= 1;
        this.#life.end();
      }
    }

    /** Answers the doctor; of the faults it knows the delay. */
    async examine(question) {
      const object = this.ctx.id.name;
      const name = `${className} ${object}`;
      examined[name] = (examined[name] ?? 0) + 1;
      const fault = faultOf(className, object);
      if (fault) await delay(fault);
      return super.examine(question);
    }

    /** Tells what is kept; calls that are to fail before they arrive fail here too. */
    async lastGood() {
      const fault = faultOf(className, this.ctx.id.name);
      asks += 1;
      if (fault?.fail === "before") throw new Error("the test made this call fail");
      return super.lastGood();
    }

    async #serve(text, named) {
      const object = this.ctx.id.name;
      const name = `${className} ${object}`;
      calls[name] = (calls[name] ?? 0) + 1;
      const fault = faultOf(className, object);
      if (!fault) return super.call(text, named);
      if (fault.times) fault.times -= 1;
      await delay(fault);
      // A real call fails in two ways: it never arrives, or its answer is lost.
      if (fault.fail === "before") throw new Error("the test made this call fail");
      // The platform may deliver one call twice; only one of the answers is heard.
      if (fault.fail === "twice") await super.call(text, named);
      const answer = await super.call(text, named);
      if (fault.fail === "after") throw new Error("the test lost this answer");
      return answer;
    }
  };
  return Counted;
}

export const DataCenterCounter = counted(product.DataCenterCounter, "DataCenterCounter");
export const DataCenterAggregator = counted(product.DataCenterAggregator, "DataCenterAggregator");
export const GlobalAggregator = counted(product.GlobalAggregator, "GlobalAggregator");
export const Registry = counted(product.Registry, "Registry");

const NAMESPACES = {
  DataCenterCounter: env.DATA_CENTER_COUNTER,
  DataCenterAggregator: env.DATA_CENTER_AGGREGATOR,
  GlobalAggregator: env.GLOBAL_AGGREGATOR,
  Registry: env.REGISTRY,
};
const Namespace = Object.getPrototypeOf(env.GLOBAL_AGGREGATOR);
const { getByName } = Namespace;
Namespace.getByName = function (name, options) {
  asked += 1;
  places[name] = { hint: options?.locationHint };
  return getByName.call(this, name, options);
};
// Local workerd has no jurisdictions, and refuses this.
Namespace.jurisdiction = function (jurisdiction) {
  return {
    idFromName: (name) => this.idFromName(name),
    getByName: (name, options) => {
      const stub = this.getByName(name, options);
      places[name].jurisdiction = jurisdiction;
      return stub;
    },
  };
};

const { put } = methods;
methods.put = async function (key, response) {
  const write = (writes[key.url ?? String(key)] ??= { count: 0, bytes: 0, at: [] });
  const bytes = await response.arrayBuffer();
  write.count += 1;
  write.bytes = Math.max(write.bytes, bytes.byteLength);
  write.at.push(Date.now());
  return put.call(this, key, new Response(bytes, response));
};

// The clock of a service may run ahead of the others, or behind: always, or for a while.
let skewMs = Number(env.CLOCK_SKEW_MS ?? 0);
const { now } = Date;
Date.now = () => now() + skewMs;

/** Sends a message to an object, whoever it is from; returns its answer. */
function call({ className, object, text }) {
  return NAMESPACES[className].getByName(object).call(text);
}

/** Kills an object. */
async function kill({ className, object }) {
  const killed = NAMESPACES[className].getByName(object).kill();
  await killed.then(
    () => Promise.reject(new Error(`${className} ${object} outlived its end`)),
    () => {},
  );
}

/** The side door of a service. The harness opens it on a socket of its own. */
export class TestDoor extends WorkerEntrypoint {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/faults") faults = await request.json();
    if (pathname === "/skew") skewMs = await request.json();
    if (pathname === "/cache") breakCache(await request.json());
    if (pathname === "/kill") await kill(await request.json());
    if (pathname === "/scheduled") await product.default.scheduled({}, env);
    if (pathname === "/wake") return Response.json({});
    if (pathname === "/call") return new Response(await call(await request.json()));
    const wasmBytes = product.wasmBytes?.();
    const lives = Object.entries(wakefulness).map(([name, { ms }]) => [name, ms]);
    const awakeMs = Object.fromEntries(lives);
    const known = { asked, places, began, calls, examined, writes, rows, serving, points, asks };
    const counts = { ...known, awakeMs };
    return Response.json({ now: Date.now(), ...counts, wasmBytes });
  }
}

/**
 * How this isolate is replaced by a fresh one, if at all: after each request and its report
 * ("late"), or before the report is sent ("early"). All that the wasm remembers is gone then.
 */
const recycled = env.RECYCLED;
const fetch = (request, environment, ctx) => {
  const reports = [];
  const seen = {
    waitUntil(promise) {
      reports.push(promise);
      ctx.waitUntil(promise);
    },
  };
  const answer = Promise.resolve(product.default.fetch(request, environment, seen));
  const isOver = async () => {
    await answer;
    if (recycled === "late") await Promise.all(reports);
    product.rebuild("the test recycles this isolate");
  };
  ctx.waitUntil(isOver());
  return answer;
};

/** Visits an isolate whose dataset for raw points keeps them for the test. */
const fetchWithDataset = (request, environment, ctx) => {
  const ANALYTICS = { writeDataPoint: (point) => points.push({ at: Date.now(), ...point }) };
  return product.default.fetch(request, { ...environment, ANALYTICS }, ctx);
};
const wrapped = recycled ? { fetch } : env.WITH_DATASET ? { fetch: fetchWithDataset } : {};

export default { ...product.default, ...wrapped };
