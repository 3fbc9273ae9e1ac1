/**
 * Threat 22, taking over the management: whoever guesses tokens is told to wait, and locks nobody
 * out, whether by wrong tokens or by requests without one, as pictures in a mail make them.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, ask } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";

const rooms = [room({ name: "shop" })];
const from = (address, headers) => ({ "cf-connecting-ip": address, ...headers });
const getter = (cluster) => (address, headers) =>
  ask(cluster, "GET", ROOMS, undefined, from(address, headers));
const guess = (at) => ({ authorization: `Bearer guess-${at}` });

const title = "row 22: a network that guesses is told to wait";
clusterTest(title, { rooms }, async (cluster) => {
  const get = getter(cluster);
  const seen = [];
  for (let at = 0; at < 60; at += 1) seen.push(await get(`203.0.113.${at}`, guess(at)));
  assert.deepEqual(new Set(seen.map(({ status }) => status)), new Set([403, 429]));
  const { headers } = seen.at(-1);
  const seconds = Number(headers["retry-after"]);
  assert.ok(seconds >= 1 && seconds <= 60, `retry after ${headers["retry-after"]} s`);
  assert.equal(seen[0].headers["retry-after"], undefined);
  assert.equal((await get("198.51.100.1", guess(60))).status, 403, "another network waits");
  await cluster.advance(60_000);
  assert.equal((await get("203.0.113.1", guess(61))).status, 403);
});

const alone = "row 22: wrong tokens and none lock the owner out of nothing";
clusterTest(alone, { rooms }, async (cluster) => {
  const get = getter(cluster);
  for (let at = 0; at < 60; at += 1) {
    const { status } = await get("203.0.113.9", {});
    assert.equal(status, 403, `request ${at} without a token`);
  }
  assert.equal((await get("203.0.113.9", guess(0))).status, 403, "requests without a token count");
  for (let at = 0; at < 60; at += 1) await get("203.0.113.9", guess(at));
  assert.equal((await get("203.0.113.9", guess(60))).status, 429);
  assert.equal((await get("203.0.113.9", OWNER)).status, 200, "the owner is locked out");
});
