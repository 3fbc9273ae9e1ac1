/**
 * A bucket for a cluster: an S3 store of the registry of Python, and in front of it a proxy that
 * makes it slow, lets it fail, or stops it.
 */

import { spawn } from "node:child_process";
import http from "node:http";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "./free-port.mjs";
import { environmentMissing, programOf } from "./python.mjs";
import { ROOT } from "./worker-modules.mjs";

const ENVIRONMENT = "s3";
const REQUIREMENTS = path.join(ROOT, "tests", "own", "requirements.txt");
const NAME = "rooms";
const POLL_MS = 50;
const READY_WITHIN_MS = 30_000;
const UNAVAILABLE = 503;
/** The store looks at no key, but a client needs one. */
const CREDENTIALS = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };

/** Why no bucket can be had; `undefined` if it can. */
export function bucketMissing() {
  return environmentMissing(ENVIRONMENT, REQUIREMENTS);
}

export class Bucket {
  /** How late each request arrives, in milliseconds. */
  slowMs = 0;
  /** Whether each request is answered by 503. */
  fails = false;
  #isStopped = false;
  #agent = new http.Agent({ keepAlive: true });
  credentials = CREDENTIALS;

  static async start(context) {
    const bucket = new Bucket();
    bucket.storePort = await freePort();
    const parameters = ["-H", "127.0.0.1", "-p", String(bucket.storePort)];
    const store = spawn(programOf(ENVIRONMENT, "moto_server"), parameters, { stdio: "ignore" });
    bucket.server = http.createServer((request, response) => bucket.#pass(request, response));
    context.after(() => {
      store.kill("SIGKILL");
      bucket.server.closeAllConnections();
      bucket.server.close();
      bucket.#agent.destroy();
    });
    bucket.server.on("connection", (socket) => bucket.#isStopped && socket.destroy());
    await new Promise((ready) => bucket.server.listen(0, "127.0.0.1", ready));
    await bucket.#make();
    return bucket;
  }

  /** The flags by which a served folder is of the cluster in this bucket. */
  get flags() {
    const { port } = this.server.address();
    return {
      cluster: `s3://${NAME}/shop`,
      "cluster-endpoint": `http://127.0.0.1:${port}`,
      "cluster-region": "us-east-1",
    };
  }

  /** Ends all connections, and each new one. */
  stop() {
    this.#isStopped = true;
    this.server.closeAllConnections();
  }

  goOn() {
    this.#isStopped = false;
  }

  async #make() {
    const end = Date.now() + READY_WITHIN_MS;
    const url = `http://127.0.0.1:${this.storePort}/${NAME}`;
    for (;;) {
      const answer = await fetch(url, { method: "PUT" }).catch(() => undefined);
      if (answer?.ok) return;
      if (Date.now() > end) throw new Error(`no store: ${answer?.status}`);
      await sleep(POLL_MS);
    }
  }

  async #pass(request, response) {
    if (this.slowMs > 0) await sleep(this.slowMs);
    if (this.fails) {
      request.resume();
      return response.writeHead(UNAVAILABLE).end();
    }
    const { method, url, headers } = request;
    const where = { port: this.storePort, method, path: url, headers, agent: this.#agent };
    const passed = http.request({ host: "127.0.0.1", ...where }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  }
}
