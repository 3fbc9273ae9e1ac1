// The workerd processes of a served folder: one, or the instances of a cluster, all of which take
// visitors from one socket. Ends what does not answer, and lets others follow one after the other.
import http from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { credentials, parametersOf } from "./cluster.mjs";
import { CLUSTER_KEY } from "./configuration.mjs";
import { END_WITHIN_MS, Workerd } from "./workerd.mjs";

/** How long one may take that another follows, where none serves meanwhile, in milliseconds. */
const FOLLOWED_WITHIN_MS = 2_000;
/** The same of an instance: it hands over its objects, for 8 s at most, and ends. */
const HANDED_OVER_WITHIN_MS = 10_000;
/** How often an instance is asked whether it is ready, and how long that may take, in ms. */
const [ASK_MS, ANSWER_WITHIN_MS] = [1_000, 1_000];
/** An instance that does not answer for so many milliseconds hangs. */
const HANGS_MS = 10_000;
/**
 * How long to wait until a replacement is ready before the next instance is ended, in milliseconds.
 */
const READY_WITHIN_MS = 60_000;
const READY = 200;

export class Instances {
  #all;
  #host;
  #isCluster;
  #isEnding = false;

  /** @param {(pids: number[]) => void} onStart is called with all when one has begun */
  constructor({ folder, settings, secrets }, onStart) {
    const { cluster } = settings;
    const { [CLUSTER_KEY]: _, ...ofWorker } = secrets;
    this.#isCluster = Boolean(cluster);
    this.#host = cluster?.address.replaceAll(/^\[|\]$/g, "");
    const environment = { ...process.env, ...ofWorker, ...(cluster && credentials(folder)) };
    const each = cluster ? parametersOf(folder, cluster) : [[]];
    this.#all = each.map((parameters, at) => {
      const name = cluster ? `instance ${at + 1}` : "workerd";
      const started = () => onStart(this.#pids());
      return new Workerd({ folder, parameters, environment, name, onStart: started });
    });
  }

  /** Starts all. Resolves once they listen; rejects if one ends before. */
  async start() {
    await Promise.all(this.#all.map((one) => one.start()));
    if (this.#isCluster) for (const one of this.#all) this.#watch(one);
  }

  /** Lets all finish their requests and hand over what they have. */
  async end() {
    this.#isEnding = true;
    const withinMs = this.#isCluster ? HANDED_OVER_WITHIN_MS : END_WITHIN_MS;
    await Promise.all(this.#all.map((one) => one.end(withinMs)));
  }

  /** Lets others follow, which read the configuration anew: one after the other. */
  async follow() {
    const [only] = this.#all;
    if (!this.#isCluster) return only.follow(FOLLOWED_WITHIN_MS);
    for (const one of this.#all) {
      await one.follow(HANDED_OVER_WITHIN_MS);
      await this.#isReady(one);
    }
  }

  /** Ends an instance that hangs, so that its connections are not held any longer. */
  async #watch(one) {
    let [answeredAt, pid] = [performance.now(), one.pid];
    while (!this.#isEnding) {
      await sleep(ASK_MS);
      const isOther = one.pid !== pid || one.clusterPort === undefined;
      if (isOther || (await this.#status(one)) !== undefined) {
        [answeredAt, pid] = [performance.now(), one.pid];
      }
      if (performance.now() - answeredAt < HANGS_MS) continue;
      console.error(`${one.name} does not answer and is ended`);
      one.kill();
      answeredAt = performance.now();
    }
  }

  #pids() {
    return this.#all.map(({ pid }) => pid).filter((pid) => pid !== undefined);
  }
  async #isReady(one) {
    const end = performance.now() + READY_WITHIN_MS;
    while (performance.now() < end && (await this.#status(one)) !== READY) await sleep(ASK_MS / 4);
  }

  /** What an instance answers when it is asked whether it is ready; `undefined` if nothing. */
  #status({ clusterPort }) {
    if (clusterPort === undefined) return undefined;
    return new Promise((resolve) => {
      const where = { host: this.#host, port: clusterPort, path: "/ready", agent: false };
      const request = http.get({ ...where, timeout: ANSWER_WITHIN_MS }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      request.on("timeout", () => request.destroy());
      request.on("error", () => resolve(undefined));
    });
  }
}
