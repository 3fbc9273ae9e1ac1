/**
 * Threat 22, taking over the management: whoever guesses tokens is heard no more for a minute, not
 * even with the right one, and nobody else notices.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, ask } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";

const from = (address, headers) => ({ "cf-connecting-ip": address, ...headers });

const title = "row 22: a network that guesses is heard no more";
clusterTest(title, { rooms: [room({ name: "shop" })] }, async (cluster) => {
  const status = async (address, headers) =>
    (await ask(cluster, "GET", ROOMS, undefined, from(address, headers))).status;
  const seen = [];
  for (let guess = 0; guess < 60; guess += 1) {
    seen.push(await status(`203.0.113.${guess}`, { authorization: `Bearer guess-${guess}` }));
  }
  assert.deepEqual(new Set(seen), new Set([403, 429]));
  assert.equal(await status("203.0.113.250", OWNER), 429, "the right guess was told");
  assert.equal(await status("198.51.100.1", OWNER), 200, "the owner was locked out");
  await cluster.advance(60_000);
  assert.equal(await status("203.0.113.250", OWNER), 200);
});
