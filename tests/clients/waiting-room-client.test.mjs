/**
 * The client library in front of the running Worker, as an app outside the browser uses it: with a
 * jar for its cookies, through the wait and to the site. Its own tests are in `client/test`.
 */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { CookieJar, RejectedError, waitingRoomFetch } from "../../client/dist/index.js";
import { clusterTest } from "../harness/cluster-test.mjs";
import { RARE_CHECK_INS, room } from "../harness/rooms.mjs";
import { visitorInside } from "../harness/visitor.mjs";

/** A name that this machine knows: fetch sets no other `Host` than that of the address. */
const app = { host: "localhost", json_response_enabled: true, show_position: true };
const shop = room({ name: "shop", path: "/shop", total_active_users: 1, ...app });
/** Check-ins are so rare here that a turn comes long before one. */
const listening = room({
  name: "listening",
  path: "/listening",
  total_active_users: 1,
  ...RARE_CHECK_INS,
  event_stream_enabled: true,
  ...app,
});
const closed = room({ name: "closed", path: "/closed", queueing_method: "reject", ...app });
const options = { rooms: [shop, listening, closed], colos: { AMS: 1 } };
const PATIENCE_MS = 300_000;
/** How far the clock moves at once, and while a request waits for its answer, in milliseconds. */
const STEP_MS = 500;
const SLOW_STEP_MS = 25;

/** How many requests wait for their answers: they are on their way however slow the machine is. */
let open = 0;

/** An app of one user. `told` is all that it heard of the wait, with the time. */
function appOf(cluster, { host, path }, name) {
  const { clock } = cluster;
  const told = [];
  const surroundings = {
    now: () => clock.now(),
    random: Math.random,
    sleep: async (ms, signal) => {
      const end = clock.now() + ms;
      while (clock.now() < end && !signal.aborted) await sleep(2);
    },
    isOnline: () => true,
    change: () => new Promise(() => {}),
  };
  const [{ name: isolate, colo }] = cluster.isolates;
  const sent = async (request) => {
    const headers = new Headers(request.headers);
    headers.set("mf-cf-blob", JSON.stringify({ colo }));
    headers.set("x-visitor", name);
    open += 1;
    return fetch(new Request(request, { headers })).finally(() => (open -= 1));
  };
  const onProgress = (progress) => told.push({ ...progress, at: clock.now() });
  const cookies = new CookieJar(() => clock.now());
  const ask = waitingRoomFetch({ fetch: sent, cookies, onProgress, surroundings });
  const address = cluster.address(isolate, { host, path });
  return { ask: (init) => ask(address, init), told };
}

/** Moves the clock on until the promise settles. */
async function inTime(cluster, promise) {
  let settled = false;
  const settles = promise.finally(() => (settled = true));
  // Looked at below, when the clock has stopped.
  settles.catch(() => {});
  const end = cluster.clock.now() + PATIENCE_MS;
  while (!settled && cluster.clock.now() < end) {
    await cluster.advance(open > 0 ? SLOW_STEP_MS : STEP_MS);
  }
  assert.ok(settled, "it waits for ever");
  return settles;
}

async function guestIn(cluster, room) {
  await visitorInside(cluster, room);
  await cluster.advance(20_000);
}

clusterTest("an app waits, hears how far it is, and is served", options, async (cluster) => {
  await guestIn(cluster, shop);
  const { ask, told } = appOf(cluster, shop, "app");
  const answer = await inTime(cluster, ask({ method: "POST", body: "two tickets" }));
  assert.ok(answer.headers.get("x-origin"), "the answer is the site's");
  const arrivals = (await cluster.arrivals()).filter(({ visitor }) => visitor === "app");
  assert.deepEqual(arrivals.map(({ method }) => method), ["GET", "POST"]);
  assert.equal(told.at(-1).state, "turn");
  // Its place is looked for at first.
  const places = told.map(({ position }) => position).filter((place) => place !== undefined);
  assert.ok(told.length > 2 && places.length > 0 && places.every((place) => place === 0));
  assert.ok(told.slice(0, -1).every(({ state }) => state === "waiting"));
});

clusterTest("an app that listens is served before its next check-in", options, async (cluster) => {
  await guestIn(cluster, listening);
  const { ask, told } = appOf(cluster, listening, "app");
  const answer = await inTime(cluster, ask());
  assert.ok(answer.headers.get("x-origin"));
  const waits = told.filter(({ state }) => state === "waiting");
  const { at, facts } = waits[0];
  assert.equal(facts.eventStream, true);
  const servedAfterMs = told.at(-1).at - at;
  assert.ok(servedAfterMs < facts.refreshIntervalSeconds * 1_000, `${servedAfterMs} ms`);
});

clusterTest("an app is told that there is no place for it", options, async (cluster) => {
  await assert.rejects(appOf(cluster, closed, "app").ask(), RejectedError);
});
