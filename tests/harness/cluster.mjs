/**
 * A small imitation of Cloudflare's network on this machine. One workerd runs several services,
 * each an isolate with a wasm memory of its own; all share the Durable Objects of the service
 * `hub`. An origin writes down who arrives, and tests move the clock. The built Worker is driven
 * from outside.
 *
 * All isolates have one Cache API; data centers differ only in what the Worker puts into its keys.
 */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Clock } from "./clock.mjs";
import { clusterCopies } from "./cluster-copies.mjs";
import { COMPATIBILITY_DATE, ROOM_CLASSES, SECRETS, durableObjects } from "./deployment.mjs";
import { checkDescribed } from "./described.mjs";
import { Listener } from "./event-stream.mjs";
import { heldBytes } from "./heap.mjs";
import { closeConnections, send, sendForJson } from "./http.mjs";
import { Miniflare, convertV4MiniflareOptions } from "./miniflare.mjs";
import { CONNECTION, ownPlatform } from "./own-platform.mjs";
import { Rest } from "./rest.mjs";
import { Wake } from "./wake.mjs";
import { WorkerLog } from "./worker-log.mjs";
import { workerModules } from "./worker-modules.mjs";
import { workerdPid } from "./workerd-process.mjs";

const HUB = "hub";
const ORIGIN = "origin";
/** Where objects store: in memory where that is a folder, since each save waits for its disk. */
const STORAGE = fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir();
/**
 * A step of the clock in milliseconds: well below the 2 s between two syncs, so that no step skips
 * one.
 */
const STEP_MS = 500;
/** How far each request moves a stopped clock, in milliseconds: no two come at the same moment. */
const REQUEST_MS = 1;
/**
 * A step of a stopped clock, in milliseconds, while a request waits for nothing but time, for the
 * end of the Worker's patience for example.
 */
const PATIENCE_STEP_MS = 25;
/** The real time, in milliseconds, after which a request may be one that waits for time. */
const PATIENCE_MS = 1;

/**
 * Starts a cluster.
 *
 * @param {object} options
 * @param {object[]} options.rooms what `rooms.json` holds
 * @param {Record<string, number>} [options.colos] isolates by data center; they are named `ams-1`,
 *   `ams-2`, ...
 * @param {Record<string, string>} [options.vars] variables and secrets
 * @param {"release" | "debug"} [options.build] which wasm; "debug" has the panic hooks
 * @param {string} [options.entry] the full path of another entry than the product's
 * @param {Record<string, number>} [options.outside] services that the Worker may reach besides the
 *   origin: ports of this machine by host
 * @param {object} [options.bound] options of Miniflare for what the Worker is bound to besides
 * @param {boolean} [options.glance] false switches the fast path off
 * @param {boolean} [options.stopped] whether the clock goes on by requests and `advance` alone,
 *   however slow the machine is
 * @param {boolean} [options.platformCache] whether the test is about the platform's Cache API
 * @param {boolean} [options.inspected] whether `heldBytes` can be asked for
 * @param {string} [options.cloudflareAlone] why an owner's machine cannot have what is tested
 * @param {Record<string, object>} [options.overrides] any of these options but `colos` by isolate,
 *   for two versions of the Worker side by side
 */
export async function startCluster(options) {
  const cluster = new Cluster(options);
  try {
    await cluster.start();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

class Cluster {
  #folder = fs.mkdtempSync(path.join(STORAGE, "waiting-room-test-"));
  #options;
  #miniflare;
  #ports = new Map();
  #arrivals = [];
  #turn = 0;
  #rest;
  #wake;
  #copies;
  /** How many requests wait for their answer, and how many have got one. */
  #open = 0;
  #answered = 0;
  /** The passing of time while requests are open; `undefined` while none is. */
  #timePasses;
  /** How many calls of `advance` are under way. */
  #advancing = 0;
  /** What the Workers wrote to their console. */
  log = new WorkerLog();

  constructor(options) {
    this.#options = { colos: { AMS: 1 }, ...options };
    this.clock = new Clock(this.#folder);
    this.#copies = clusterCopies(options.platformCache, this.#folder);
    /** The isolates with their data centers: [{ name, colo }]. */
    this.isolates = Object.entries(this.#options.colos).flatMap(([colo, count]) =>
      Array.from({ length: count }, (_, at) => ({ name: `${colo.toLowerCase()}-${at + 1}`, colo })),
    );
  }

  /** Starts workerd and learns on which ports it listens. */
  async start() {
    this.#miniflare = new Miniflare(convertV4MiniflareOptions(this.#description()));
    await this.#miniflare.ready;
    // Not before: without a clock workerd takes twice as long to start.
    if (this.#options.stopped) this.clock.stop();
    this.#rest = new Rest(workerdPid());
    this.#ports.clear();
    for (const { name } of [{ name: HUB }, ...this.isolates]) {
      await this.#learnPort(name);
      await this.#learnPort(name, "TestDoor");
    }
    await this.#learnPort(ORIGIN, "Arrivals");
    this.#wake = new Wake(this.#ports.get(`${HUB} TestDoor`));
    await this.#copies.begin(this.#miniflare);
  }

  /** Ends workerd and removes what it stored. */
  async stop() {
    await this.#halt();
    this.clock.close();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * Restarts every isolate and every object at the same moment, as a deployment does. What the
   * objects stored stays.
   *
   * @param {object} [changes] new values of the options of `startCluster`
   * @param {"kept" | "lost" | string} [copies] what becomes of the Cache API; a name from
   *   `saveCopies` puts that state back
   */
  async restart(changes = {}, copies = "kept") {
    await this.#keep(copies);
    await this.#halt();
    Object.assign(this.#options, changes);
    this.#copies.change(copies);
    await this.start();
  }

  /** Lets `work` change what objects have stored, below this folder, while nothing runs. */
  async whileHalted(work) {
    await this.#keep("kept");
    await this.#halt();
    work(path.join(this.#folder, "state"));
    await this.start();
  }

  /** Remembers what the Cache API holds now, for a later `restart`. */
  async saveCopies(name) {
    await this.#copies.save(name);
  }

  /** The memory that each isolate holds, the hub of all objects first: { hub: bytes, ... }. */
  async heldBytes() {
    const inspector = await this.#miniflare.getInspectorURL();
    const held = {};
    for (const { name } of [{ name: HUB }, ...this.isolates]) {
      const { wasmBytes } = await this.door(name);
      held[name] = wasmBytes + (await heldBytes(inspector, name));
    }
    return held;
  }

  /** Removes every copy from the Cache API. */
  async loseCopies() {
    await this.#copies.lose();
  }

  /** Reads the text that the Cache API holds under `key`; `undefined` if there is none. */
  async copy(key) {
    return await this.#copies.read(key);
  }

  /** Puts `text` into the Cache API under `key`, for a minute. */
  async putCopy(key, text) {
    await this.#copies.put(key, text);
  }

  /**
   * Kills every object that was ever called, of one class or of all. Its memory and its answers
   * under way are lost; what it stored stays.
   */
  async killObjects(onlyClass) {
    for (const name of Object.keys((await this.door()).calls)) {
      const [className, object] = name.split(" ");
      if (!onlyClass || className === onlyClass) {
        await this.#order("/kill", { className, object });
      }
    }
  }

  /**
   * Moves the clock by `ms` in steps, and lets workerd do what falls due in each.
   *
   * @param {number} ms
   * @param {number} [stepMs]
   */
  async advance(ms, stepMs = STEP_MS) {
    this.#advancing += 1;
    try {
      for (let left = ms; left > 0; left -= stepMs) await this.#step(Math.min(stepMs, left));
    } finally {
      this.#advancing -= 1;
    }
  }

  async #step(ms) {
    // No time passes for what is under way.
    await this.#rest.comes();
    this.clock.jump(ms);
    // A sleeping timer notices the new time at the next event of the process: this one.
    await this.#wake.up();
    await this.#rest.comes();
  }

  /** Waits until workerd has done all that it can do without more time. */
  async rests() {
    await this.#rest.comes();
  }

  /**
   * Moves the clock to a moment, in milliseconds since the Unix epoch. The machine takes time for
   * each step of `advance`, which comes on top there and is no error here.
   */
  async advanceTo(at) {
    for (let left; (left = at - this.clock.now()) > 0; ) {
      await this.advance(Math.min(STEP_MS, left));
    }
  }

  /** Names the isolate that answers next in a data center: its isolates take turns. */
  isolateNear(colo) {
    const near = this.isolates.filter((isolate) => isolate.colo === colo);
    this.#turn += 1;
    return near[this.#turn % near.length].name;
  }

  /** The URL of a room on one isolate; for browsers the room's host must end with `.localhost`. */
  address(isolate, { host, path }) {
    return `http://${host}:${this.#ports.get(isolate)}${path}`;
  }

  /** Sends one request as a client near `isolate`. */
  async send(isolate, request) {
    if (this.clock.stopped) this.clock.jump(REQUEST_MS);
    const answer = await this.#withTime(send(this.#addressed(isolate, request)));
    this.#compare(isolate, request, answer);
    return answer;
  }

  /** Holds an answer of the management API against its description. */
  #compare(isolate, request, answer) {
    const { vars: common = {}, overrides = {} } = this.#options;
    // Another version has a description of its own.
    if (Object.values(overrides).some(({ entry }) => entry)) return;
    const { vars = common } = overrides[isolate] ?? {};
    checkDescribed(request, answer, vars.ADMIN_HOSTS);
  }

  /** Waits for an answer; if it needs nothing but time, a stopped clock goes on for it. */
  async #withTime(answer) {
    if (!this.clock.stopped) return answer;
    this.#open += 1;
    // That of an earlier request goes on for this one: else each would look at workerd beside it.
    this.#timePasses ??= this.#passTime();
    try {
      return await Promise.race([answer, this.#timePasses.then(() => answer)]);
    } finally {
      this.#open -= 1;
      this.#answered += 1;
    }
  }

  /** Moves the clock while requests are open that wait for nothing but time. */
  async #passTime() {
    try {
      while (this.#open > 0) {
        const before = this.#answered;
        await sleep(PATIENCE_MS);
        await this.#rest.comes();
        const isStill = this.#open > 0 && this.#answered === before;
        if (isStill && this.#advancing === 0) await this.advance(PATIENCE_STEP_MS);
      }
    } finally {
      this.#timePasses = undefined;
    }
  }

  /** Opens an event stream as a client near `isolate`. */
  async listen(isolate, request) {
    if (this.clock.stopped) this.clock.jump(REQUEST_MS);
    return this.#withTime(Listener.open(this.#addressed(isolate, request), this.clock));
  }

  #addressed(isolate, request) {
    const { colo } = this.isolates.find(({ name }) => name === isolate);
    const headers = { "mf-cf-blob": JSON.stringify({ colo, ...CONNECTION }), ...request.headers };
    return { ...request, port: this.#ports.get(isolate), headers };
  }

  /**
   * Asks the side door of a service, the hub's by default, for its counts. @see counting-entry.mjs
   */
  async door(service = HUB) {
    return sendForJson({ port: this.#ports.get(`${service} TestDoor`) });
  }

  /** Sends a message to an object; returns its answer, a text. */
  async callObject(className, object, text) {
    const body = JSON.stringify({ className, object, text });
    const port = this.#ports.get(`${HUB} TestDoor`);
    return (await this.#withTime(send({ port, path: "/call", method: "POST", body }))).body;
  }

  /** Counts the calls that reached objects of a class since the start, of one room or of all. */
  async calls(className, room) {
    const { calls } = await this.door();
    return Object.entries(calls)
      .filter(([name]) => name.startsWith(`${className} ${room?.id ?? ""}`))
      .reduce((sum, [, count]) => sum + count, 0);
  }

  /** Counts the calls that reached any object of a room, or of all rooms; never the registry. */
  async allCalls(room) {
    const counts = await Promise.all(ROOM_CLASSES.map((one) => this.calls(one, room)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * Lists the writes to the Cache API by the objects and all isolates, with the size of the
   * largest and the time of each: { key: { count, bytes, at } }.
   */
  async writes() {
    const all = {};
    for (const { name } of [{ name: HUB }, ...this.isolates]) {
      for (const [key, { count, bytes, at }] of Object.entries((await this.door(name)).writes)) {
        const sum = (all[key] ??= { count: 0, bytes: 0, at: [] });
        sum.count += count;
        sum.bytes = Math.max(sum.bytes, bytes);
        sum.at = [...sum.at, ...at].sort((one, other) => one - other);
      }
    }
    return all;
  }

  /** Makes calls of these objects fail or wait from now on; without an argument all work again. */
  async breakCalls(...faults) {
    await this.#order("/faults", faults);
  }

  /** Sets the clock of an isolate ahead of the others from now on; 0 sets it right. */
  async skewClock(isolate, ms) {
    await this.#order("/skew", ms, isolate);
  }

  /** Lets the cron trigger fire in an isolate. */
  async schedule(isolate) {
    await this.#order("/scheduled", {}, isolate);
  }

  /** Makes the Cache API of every isolate fail from now on. @see cache-faults.mjs */
  async breakCaches(fault) {
    for (const { name } of [{ name: HUB }, ...this.isolates]) {
      await this.#order("/cache", fault, name);
    }
  }

  /**
   * Lists everything that ever reached the origin, in order: [{ at, visitor, method, path }], with
   * `at` in milliseconds by the clock of workerd.
   */
  async arrivals() {
    const now = await sendForJson({ port: this.#ports.get(`${ORIGIN} Arrivals`) });
    return [...this.#arrivals, ...now.map(asArrival)];
  }

  /** Lists what reached the origin since it was last taken, for tests too long to keep all. */
  async takeArrivals() {
    const port = this.#ports.get(`${ORIGIN} Arrivals`);
    return (await sendForJson({ port, method: "DELETE" })).map(asArrival);
  }

  async #order(path, body, service = HUB) {
    const port = this.#ports.get(`${service} TestDoor`);
    const request = { port, path, method: "POST", body: JSON.stringify(body) };
    await this.#withTime(sendForJson(request));
  }

  /** Keeps what the origin saw, and the copies that are to be there after workerd's end. */
  async #keep(copies) {
    this.#arrivals = await this.arrivals();
    await this.#copies.keep(copies);
  }

  async #halt() {
    closeConnections();
    this.#rest?.close();
    this.#wake?.close();
    await this.#miniflare?.dispose();
  }

  async #learnPort(service, entrypoint) {
    const url = await this.#miniflare.unsafeGetDirectURL(service, entrypoint);
    this.#ports.set(entrypoint ? `${service} ${entrypoint}` : service, Number(url.port));
  }

  #description() {
    const origin = fs.readFileSync(path.join(import.meta.dirname, "origin.mjs"), "utf8");
    return {
      cf: false,
      telemetry: { enabled: false },
      handleStructuredLogs: this.log.keep,
      port: 0,
      ...(this.#options.inspected && { inspectorPort: 0 }),
      resourcePersistencePath: path.join(this.#folder, "state"),
      unsafeRuntimeEnv: this.clock.environment,
      workers: [
        this.#service(HUB),
        ...this.isolates.map(({ name }) => this.#service(name)),
        {
          name: ORIGIN,
          cacheAPI: false,
          compatibilityDate: COMPATIBILITY_DATE,
          modules: [{ type: "ESModule", path: "origin.mjs", contents: origin }],
          bindings: { OUTSIDE: this.#options.outside ?? {} },
          unsafeDirectSockets: [{ port: 0, entrypoint: "Arrivals" }],
        },
        ...this.#copies.services,
      ],
    };
  }

  #service(name) {
    const { overrides = {}, ...common } = this.#options;
    const { vars = {}, ...worker } = { ...common, ...overrides[name] };
    const colo = this.isolates.find((one) => one.name === name)?.colo;
    const { entry = worker.entry, ...own } = ownPlatform(worker, ORIGIN, colo);
    return {
      name,
      cacheAPI: this.#copies.cacheAPI,
      compatibilityDate: COMPATIBILITY_DATE,
      ...workerModules({ ...worker, entry }),
      ...own.bound,
      ...worker.bound,
      serviceBindings: {
        ...this.#copies.bindings,
        ...own.bound?.serviceBindings,
        ...worker.bound?.serviceBindings,
      },
      bindings: { ...SECRETS, ...own.vars, ...vars },
      durableObjects: durableObjects(name === HUB ? undefined : HUB),
      outboundService: ORIGIN,
      unsafeDirectSockets: [{ port: 0 }, { port: 0, entrypoint: "TestDoor" }],
    };
  }
}

function asArrival([at, visitor, method, path]) {
  return { at, visitor, method, path };
}
