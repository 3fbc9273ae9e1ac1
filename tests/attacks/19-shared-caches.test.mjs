/** A cache in front of the room, as companies have: it hands nobody another's answer. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { send } from "../harness/http.mjs";
import { startPair } from "../harness/pair.mjs";
import { room } from "../harness/rooms.mjs";
import { look } from "../harness/visitor.mjs";

const VISITORS = 4;
const free = room({ name: "free", total_active_users: 50 });
const full = room({ name: "full", queue_all: true, json_response_enabled: true });
const closed = room({ name: "closed", queueing_method: "reject" });

const title = "row 19: a cache in front hands nobody the answer or the cookie of another";
clusterTestBothWays(title, { rooms: [free, full, closed] }, async (cluster) => {
  for (const { host } of [free, full, closed]) {
    for (const accept of ["text/html", "application/json"]) {
      const cache = new SharedCache(cluster);
      const cookies = new Set();
      for (let count = 0; count < VISITORS; count += 1) {
        const answer = await cache.get({ host, path: "/", headers: { accept } });
        for (const line of answer.headers["set-cookie"] ?? []) cookies.add(line);
      }
      assert.equal(cache.hits, 0, `${host} ${accept}`);
      assert.ok(host === closed.host || cookies.size === VISITORS, `${cookies.size} tickets`);
    }
  }
});

const KEEPS = {
  "cache-control": "max-age=600",
  "cdn-cache-control": "max-age=600",
  "cloudflare-cdn-cache-control": "max-age=600",
  "surrogate-control": "max-age=600",
  "x-accel-expires": "600",
};

test("row 19: nor does one that heeds other headers than Cache-Control", async () => {
  const origin = (_, response) => response.writeHead(200, KEEPS).end("origin");
  const pair = await startPair({ origin, rooms: [free] });
  const told = async (host, headers = {}) => {
    const answer = await send({ port: pair.ports.product, host, headers });
    assert.equal(answer.body, "origin");
    const kept = Object.keys(KEEPS).map((name) => answer.headers[name]);
    return [answer.headers["set-cookie"] !== undefined, ...kept];
  };
  try {
    const none = Array(4).fill(undefined);
    assert.deepEqual(await told(free.host), [true, "private, no-store", ...none]);
    assert.deepEqual(await told("uncovered.example"), [false, ...Object.values(KEEPS)]);
  } finally {
    await pair.stop();
  }
});

/** A cache that stores whatever it may: RFC 9111, and the eagerness of those that guess. */
class SharedCache {
  #stored = new Map();
  hits = 0;

  constructor(cluster) {
    this.cluster = cluster;
  }

  async get(request) {
    const key = `${request.host}${request.path}`;
    if (this.#stored.has(key)) {
      this.hits += 1;
      return this.#stored.get(key);
    }
    const answer = await look(this.cluster, "ams-1", request);
    const control = answer.headers["cache-control"] ?? "";
    if (!/\b(no-store|private)\b/.test(control)) this.#stored.set(key, answer);
    return answer;
  }
}
