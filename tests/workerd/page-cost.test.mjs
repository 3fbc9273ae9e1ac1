/**
 * What a queue page costs: its bytes in every language, as they are and after brotli, and how often
 * somebody far from the head asks in ten minutes.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const KB = 1_024;
/** Most bytes of the page in English, and in languages that write letters of several bytes. */
const BYTES_MAX = 16 * KB;
const OTHER_BYTES_MAX = 20_000;
const BROTLI_BYTES_MAX = 5.75 * KB;
const TEN_MINUTES_MS = 10 * 60_000;
const REQUESTS_MAX = 35;
const TAGS = fs
  .readdirSync(path.join(ROOT, "templates", "languages"))
  .map((name) => path.basename(name, ".json"));

const shop = room({ name: "shop", total_active_users: 1, show_position: true });
const options = { rooms: [shop], colos: { AMS: 1 } };

clusterTest("the page is small in every language", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 30, host: shop.host });
  await crowd.arrive();
  await crowd.wait(25_000);
  const { waiting } = crowd;
  const [visitor] = waiting;
  const sizes = [];
  for (const tag of TAGS) {
    const headers = { "sec-fetch-mode": "navigate", "accept-language": tag };
    const { body } = await visitor.visit({ headers });
    assert.match(body, /data-stays/);
    const bytes = Buffer.byteLength(body);
    assert.ok(bytes <= (tag === "en-US" ? BYTES_MAX : OTHER_BYTES_MAX), `${tag}: ${bytes} bytes`);
    sizes.push({ tag, bytes, brotli: zlib.brotliCompressSync(body).length });
  }
  const most = sizes.reduce((one, other) => (one.brotli > other.brotli ? one : other));
  // The reference of a visitor alone moves the compressed size by tens of bytes: ask for many.
  for (const other of waiting) {
    const headers = { "sec-fetch-mode": "navigate", "accept-language": most.tag };
    const { body } = await other.visit({ headers });
    most.brotli = Math.max(most.brotli, zlib.brotliCompressSync(body).length);
  }
  const english = sizes.find(({ tag }) => tag === "en-US");
  console.log(`# English ${JSON.stringify(english)}, most ${JSON.stringify(most)}`);
  assert.ok(most.brotli <= BROTLI_BYTES_MAX, JSON.stringify(most));
});

clusterTest("who is far from the head asks 35 times in ten minutes", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 30, host: shop.host });
  for (const visitor of crowd.visitors) await crowd.arriveOne(visitor);
  await crowd.wait(TEN_MINUTES_MS);
  const asked = crowd.waiting.slice(-10).map(({ visits }) => visits);
  console.log(`# requests in ten minutes: ${asked.join(", ")}`);
  assert.ok(asked.length === 10 && Math.max(...asked) <= REQUESTS_MAX, asked.join(", "));
  assert.ok(Math.min(...asked) >= 20, "they asked so seldom that nobody was there");
});
