/**
 * What the Cache API of a cluster holds, which tests read, change, lose and bring back. It is
 * either Miniflare's, true to the platform, or one memory for all isolates, which takes half the
 * processor time. @see shared-cache.mjs
 */

import fs from "node:fs";
import path from "node:path";

import { COMPATIBILITY_DATE } from "./deployment.mjs";
import { sendForJson } from "./http.mjs";

const SERVICE = "copies";
/** The named cache in which the Worker keeps its copies. */
const CACHE = "waiting-room";
/** For how many seconds a copy of a test is kept. */
const COPY_S = 60;
/** Whether every cluster has the platform's, as in `npm run nightly`. */
const IS_PLATFORMS = process.env.TEST_CACHE === "platform";

/**
 * The copies of a cluster.
 *
 * @param {boolean} platforms whether the test is about the platform's Cache API
 * @param {string} folder the cluster's
 */
export function clusterCopies(platforms, folder) {
  return platforms || IS_PLATFORMS ? new PlatformCopies(folder) : new SharedCopies();
}

/** The copies in Miniflare's Cache API. */
class PlatformCopies {
  /** Whether Miniflare has to start its Cache API. */
  cacheAPI = true;
  /** The services that it needs, and what each isolate is bound to for it. */
  services = [];
  bindings = {};
  #folder;
  #miniflare;

  constructor(folder) {
    this.#folder = folder;
  }

  /** Goes on with a workerd that has just begun. */
  async begin(miniflare) {
    this.#miniflare = miniflare;
  }

  /** Prepares for the end of workerd, after which these copies are there: see `restart`. */
  async keep() {}

  /** Changes what is stored, once workerd has ended. */
  change(copies) {
    if (copies !== "kept") fs.rmSync(this.#path, { recursive: true, force: true });
    if (copies !== "kept" && copies !== "lost") {
      fs.cpSync(path.join(this.#folder, copies), this.#path, { recursive: true });
    }
  }

  /** Remembers what it holds under a name. */
  async save(name) {
    fs.cpSync(this.#path, path.join(this.#folder, name), { recursive: true });
  }

  /** Removes all. */
  async lose() {
    await this.#miniflare.purgeCache(CACHE);
  }

  /** Returns the text under `key`; `undefined` if there is none. */
  async read(key) {
    return (await (await this.#cache()).match(key))?.text();
  }

  /** Puts `text` under `key`, for a minute. */
  async put(key, text) {
    const headers = { "cache-control": `max-age=${COPY_S}` };
    await (await this.#cache()).put(key, new Response(text, { headers }));
  }

  async #cache() {
    return (await this.#miniflare.getCaches()).open(CACHE);
  }

  get #path() {
    return path.join(this.#folder, "state", "cache");
  }
}

/** The copies in the memory of one service. */
class SharedCopies {
  cacheAPI = false;
  services = [service()];
  bindings = { COPIES: { name: SERVICE, entrypoint: "Copies" } };
  #port;
  #saved = new Map();
  #next = {};

  async begin(miniflare) {
    this.#port = Number((await miniflare.unsafeGetDirectURL(SERVICE)).port);
    await this.#putAll(this.#next);
  }

  async keep(copies) {
    this.#next = copies === "kept" ? await this.#all() : (this.#saved.get(copies) ?? {});
  }

  change() {}

  async save(name) {
    this.#saved.set(name, await this.#all());
  }

  async lose() {
    await this.#putAll({});
  }

  async read(key) {
    return (await this.#all())[nameOf(key)]?.[0];
  }

  async put(key, text) {
    const all = await this.#all();
    const [, endMs] = all[nameOf(key)] ?? [];
    await this.#putAll({ ...all, [nameOf(key)]: [text, endMs ?? Number.MAX_SAFE_INTEGER] });
  }

  #all() {
    return sendForJson({ port: this.#port, path: "/" });
  }

  async #putAll(copies) {
    const body = JSON.stringify(copies);
    await sendForJson({ port: this.#port, path: "/", method: "PUT", body });
  }
}

function nameOf(key) {
  return `${CACHE} ${new URL(key).href}`;
}

function service() {
  const file = path.join(import.meta.dirname, "copies-service.mjs");
  const contents = fs.readFileSync(file, "utf8");
  return {
    name: SERVICE,
    cacheAPI: false,
    compatibilityDate: COMPATIBILITY_DATE,
    modules: [{ type: "ESModule", path: path.basename(file), contents }],
    unsafeDirectSockets: [{ port: 0 }],
  };
}
