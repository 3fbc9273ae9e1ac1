/** A cache in front of the room, as companies have: it hands nobody another's answer. */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
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
