/**
 * Ticket keys rotate in the middle of a queue: nobody loses a place while the old key still opens.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { PLACES, lineRoom, playLine } from "../harness/line.mjs";
import { room } from "../harness/rooms.mjs";

const [OLD, NEW, NEWEST] = ["11", "22", "33"].map((byte) => byte.repeat(32));
const keys = (...ring) => ({ vars: { TICKET_KEYS: ring.join(",") } });
const line = { rooms: [lineRoom], colos: { AMS: 2, NRT: 2 } };

clusterTest("keys rotate twice in the middle of a queue", { ...line, ...keys(OLD) }, (cluster) =>
  playLine(cluster, {
    overtaking: PLACES - 1,
    disturb: async (round) => {
      if (round === 3) await cluster.restart(keys(NEW, OLD));
      if (round === 8) await cluster.restart(keys(NEWEST, NEW));
    },
  }),
);

// `npm run rotate-keys` first puts the new key behind the old one; some isolates know it earlier.
const behind = keys(OLD, `opens:${NEW}`);
const informed = { "ams-1": behind, "nrt-1": behind };
const first = { ...line, ...keys(OLD), overrides: informed };
clusterTest("isolates with and without a new key behind work side by side", first, (cluster) =>
  playLine(cluster),
);

// Then it moves it to the front: some isolates already seal with it, which all must open.
const half = { "ams-1": keys(NEW, OLD), "nrt-1": keys(NEW, OLD) };
const beside = { ...line, ...behind, overrides: half };
clusterTest("isolates with the keys in another order work side by side", beside, (cluster) =>
  playLine(cluster),
);

const shop = room({ name: "shop", total_active_users: 2 });
const small = { rooms: [shop], colos: { AMS: 1 }, ...keys(OLD) };
clusterTest("without the key that sealed it a ticket is none", small, async (cluster) => {
  const crowd = new Crowd(cluster, { count: 4, host: shop.host, browseMs: 15_000 });
  await crowd.arrive();
  assert.deepEqual([crowd.inside.length, crowd.waiting.length], [2, 2]);
  await cluster.restart(keys(NEW));
  for (const visitor of crowd.visitors) {
    // The places are still counted for those who held them, so they wait like everybody new.
    assert.equal((await visitor.visit()).kind, "queue");
  }
});
