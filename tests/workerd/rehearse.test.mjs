/** A rehearsal's plan from a running Worker: a room, an event of it, and what the room recorded. */

import assert from "node:assert/strict";

import { planOfRunning } from "../../scripts/rehearse/running-room.mjs";
import { apiAddress } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { SECRETS } from "../harness/deployment.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, pass } from "../harness/visitor.mjs";

const HOUR_MS = 3_600_000;
const at = (ms) => new Date(Math.ceil((Date.now() + ms) / 60_000) * 60_000).toISOString();
const shop = room({
  name: "shop",
  total_active_users: 4,
  new_users_per_minute: 3,
  session_duration: 1,
  events: [
    {
      id: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      name: "drop",
      prequeue_start_time: at(HOUR_MS),
      event_start_time: at(2 * HOUR_MS),
      event_end_time: at(3 * HOUR_MS),
      total_active_users: 40,
      new_users_per_minute: 30,
      shuffle_at_event_start: true,
    },
  ],
});
const options = { rooms: [shop], build: "debug", stopped: false };

clusterTest("a plan is made of a room, its event and its history", options, async (cluster) => {
  process.env.API_TOKEN = SECRETS.API_TOKEN;
  const url = new URL(apiAddress(cluster)).origin;
  const plain = await planOfRunning({ url, room: "shop" });
  assert.equal(plain.room.total_active_users, 4);
  assert.equal(plain.room.host, undefined);
  const drop = await planOfRunning({ url, room: "shop", event: "drop" });
  assert.deepEqual(
    [drop.prequeue_minutes, drop.shuffle_at_event_start, drop.room.total_active_users],
    [60, true, 40],
  );
  assert.equal(drop.title, "drop of shop");

  const visitors = Array.from(
    { length: 7 },
    (_, number) => new Visitor(cluster, { name: `v${number}`, host: shop.host }),
  );
  for (const visitor of visitors) await visitor.visit();
  await pass(cluster, 8 * 60_000, visitors);
  assert.ok(visitors.every(({ inside }) => inside));
  const until = new Date(cluster.clock.now()).toISOString();
  const past = await planOfRunning({ url, room: "shop", "from-history": true, until });
  const came = past.arrivals.per_minute.reduce((sum, one) => sum + one, 0);
  assert.equal(came, visitors.length);
  assert.ok(past.past.waited_s > 30, JSON.stringify(past.past));
});
