/**
 * Two versions of the Worker run side by side, as in every roll-out: the limit and the order hold
 * across both.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { PLACES, lineRoom, playLine } from "../harness/line.mjs";
import { mostInside } from "../harness/measure.mjs";
import { room } from "../harness/rooms.mjs";

const SESSION_MS = 60_000;
const colos = { AMS: 2, NRT: 2 };

const renamed = { ...lineRoom, name: "renamed", description: "the next version of this room" };
const beside = { rooms: [lineRoom, room({ name: "added" })].reverse() };
clusterTest(
  "another description and another room beside it change nothing",
  { rooms: [lineRoom], colos, overrides: { "ams-1": beside, "nrt-1": { rooms: [renamed] } } },
  (cluster) => playLine(cluster),
);

clusterTest(
  "isolates with and without glance serve one queue",
  {
    rooms: [lineRoom],
    colos,
    overrides: { "ams-1": { glance: false }, "nrt-2": { glance: false } },
  },
  (cluster) => playLine(cluster),
);

clusterTest(
  "a roll-out that reaches one data center after the other",
  { rooms: [lineRoom], colos },
  (cluster) =>
    playLine(cluster, {
      overtaking: PLACES - 1,
      disturb: async (round) => {
        const overrides = { "ams-1": beside, "ams-2": beside };
        if (round === 3) await cluster.restart({ overrides });
        if (round === 6) await cluster.restart({ ...beside, overrides: {} });
      },
    }),
);

const shop = (places) => room({ name: "shop", total_active_users: places });
const unequal = { rooms: [shop(10)], colos, overrides: { "ams-1": { rooms: [shop(4)] } } };
clusterTest(
  "isolates that disagree about the limit never exceed the higher",
  unequal,
  async (cluster) => {
    const crowd = new Crowd(cluster, { count: 60, host: shop(0).host });
    await crowd.arrive();
    await crowd.wait(15_000);
    const most = mostInside(await cluster.arrivals(), SESSION_MS);
    assert.ok(most <= 10, `${most} inside`);
    assert.ok(most >= 4, `only ${most} entered`);
  },
);
