/**
 * Threat 22, taking over the management: whoever guesses tokens is told to wait, and locks nobody
 * out, whether by wrong tokens or by requests without one, as pictures in a mail make them.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, ask } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";

/** How long a network that has guessed twenty times waits for each answer, in milliseconds. */
const HELD_BACK_MS = 1_000;
const rooms = [room({ name: "shop" })];
const from = (address, headers) => ({ "cf-connecting-ip": address, ...headers });
/** Asks now for rooms, now what the token may: a guess is a guess. */
const PATHS = [ROOMS, "user/tokens/verify"];
const getter = (cluster) => {
  let asked = 0;
  return (address, headers) => {
    asked += 1;
    return ask(cluster, "GET", PATHS[asked % PATHS.length], undefined, from(address, headers));
  };
};
const guess = (at) => ({ authorization: `Bearer guess-${at}` });

const title = "row 22: a network that guesses is told to wait";
clusterTest(title, { rooms }, async (cluster) => {
  const get = getter(cluster);
  const guesses = Array.from({ length: 60 }, (_, at) => get(`203.0.113.${at}`, guess(at)));
  const seen = await Promise.all(guesses);
  assert.deepEqual(new Set(seen.map(({ status }) => status)), new Set([403, 429]));
  const { headers } = seen.find(({ status }) => status === 429);
  const seconds = Number(headers["retry-after"]);
  assert.ok(seconds >= 1 && seconds <= 60, `retry after ${headers["retry-after"]} s`);
  const first = seen.find(({ status }) => status === 403);
  assert.equal(first.headers["retry-after"], undefined);
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
  await Promise.all(Array.from({ length: 60 }, (_, at) => get("203.0.113.9", guess(at))));
  assert.equal((await get("203.0.113.9", guess(60))).status, 429);
  assert.equal((await get("203.0.113.9", OWNER)).status, 200, "the owner is locked out");
});

const slowed = "row 22: wrong tokens are slowed by themselves, and never a right one";
clusterTest(slowed, { rooms }, async (cluster) => {
  const get = getter(cluster);
  const lasts = async (headers) => {
    const began = cluster.clock.now();
    await get("203.0.113.9", headers);
    return cluster.clock.now() - began;
  };
  assert.ok((await lasts(guess(0))) < HELD_BACK_MS / 4, "one that is mistyped waits");
  const guesses = Array.from({ length: 40 }, (_, at) => get("203.0.113.9", guess(at)));
  // While 40 of them wait the owner is answered at once.
  assert.ok((await lasts(OWNER)) < HELD_BACK_MS / 4, "the owner waits");
  await Promise.all(guesses);
  assert.ok((await lasts(guess(41))) >= HELD_BACK_MS, "a guess is answered at once");
  assert.ok((await lasts(OWNER)) < HELD_BACK_MS / 4, "the owner waits after it");
});
