/**
 * What a queue page costs: its bytes in every language, as they are and after brotli, and how often
 * somebody far from the head asks in ten minutes.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

const KB = 1_024;
/**
 * Most bytes of the page in English, in languages that write letters of several bytes, and after
 * brotli: of a plain room, and of one with the forms of `turn_notice` and of invitations.
 */
const PLAIN = { english: 17 * KB, other: 20_000, brotli: 6 * KB };
const WITH_FORMS = { english: 18 * KB, other: 20_800, brotli: 6.25 * KB };
const TEN_MINUTES_MS = 10 * 60_000;
const REQUESTS_MAX = 35;
const TAGS = fs
  .readdirSync(path.join(ROOT, "templates", "languages"))
  .map((name) => path.basename(name, ".json"));

const shop = room({ name: "shop", total_active_users: 1, show_position: true });
const club = room({
  name: "club",
  total_active_users: 1,
  session_duration: 30,
  show_position: true,
  turn_notice: "email",
  invitation_groups: [{ name: "members", enters: "first" }],
});
const options = { rooms: [shop, club], colos: { AMS: 1 } };

clusterTest("the page is small in every language", options, async (cluster) => {
  await checkBytes(cluster, shop, PLAIN);
});

clusterTest("so it is with a message before the turn and invitations", options, async (cluster) => {
  const webhook = { url: "https://hooks.example/turns", topics: ["turn"] };
  await call(cluster, "POST", `${ROOMS}/${club.id}/webhooks`, webhook);
  await checkBytes(cluster, club, WITH_FORMS, ["contact", "invitation"]);
});

/** Checks the bytes of a room's page, which has these fields to fill in, in every language. */
async function checkBytes(cluster, { host }, bounds, fields = []) {
  const crowd = new Crowd(cluster, { count: 30, host });
  await crowd.arrive();
  await crowd.wait(25_000);
  const { waiting } = crowd;
  const [visitor] = waiting;
  const sizes = [];
  for (const tag of TAGS) {
    const headers = { "sec-fetch-mode": "navigate", "accept-language": tag };
    const { body } = await visitor.visit({ headers });
    assert.match(body, /data-stays/);
    for (const field of fields) assert.ok(body.includes(`name="${field}"`), `${tag}: ${field}`);
    const bytes = Buffer.byteLength(body);
    const most = tag === "en-US" ? bounds.english : bounds.other;
    assert.ok(bytes <= most, `${tag}: ${bytes} bytes`);
    sizes.push({ tag, bytes, brotli: zlib.brotliCompressSync(body).length });
  }
  const largestOf = (name) => sizes.reduce((one, other) => (one[name] > other[name] ? one : other));
  const most = largestOf("brotli");
  // The reference of a visitor alone moves the compressed size by tens of bytes: ask for many.
  for (const other of waiting) {
    const headers = { "sec-fetch-mode": "navigate", "accept-language": most.tag };
    const { body } = await other.visit({ headers });
    most.brotli = Math.max(most.brotli, zlib.brotliCompressSync(body).length);
  }
  const told = { english: sizes.find(({ tag }) => tag === "en-US"), most: largestOf("bytes") };
  console.log(`# ${host}: ${JSON.stringify({ ...told, brotli: most })}`);
  assert.ok(most.brotli <= bounds.brotli, JSON.stringify(most));
}

clusterTest("who is far from the head asks 35 times in ten minutes", options, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 30, host: shop.host });
  for (const visitor of crowd.visitors) await crowd.arriveOne(visitor);
  await crowd.wait(TEN_MINUTES_MS);
  const asked = crowd.waiting.slice(-10).map(({ visits }) => visits);
  console.log(`# requests in ten minutes: ${asked.join(", ")}`);
  assert.ok(asked.length === 10 && Math.max(...asked) <= REQUESTS_MAX, asked.join(", "));
  assert.ok(Math.min(...asked) >= 20, "they asked so seldom that nobody was there");
});
