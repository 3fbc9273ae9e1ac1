/**
 * Threat 21, refresh spam: an old cookie of the line that is sent once a second counts as the one
 * visitor who it is, and costs the objects hardly more than a visitor who comes when the page says.
 */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { FREQUENT_CHECK_INS, room } from "../harness/rooms.mjs";
import { look, visitorInside } from "../harness/visitor.mjs";

const TIMES = 30;
const EVERY_MS = 1_000;
/** How many more calls it may cost: reports and syncs go on meanwhile, and some fall otherwise. */
const MORE_MAX = 1.4;

const shop = room({
  name: "shop",
  total_active_users: 1,
  session_duration: 30,
  ...FREQUENT_CHECK_INS,
});

const title = "row 21: an old cookie sent once a second is one visitor and few calls";
clusterTestBothWays(title, { rooms: [shop] }, async (cluster) => {
  await visitorInside(cluster, shop);
  const honest = new Crowd(cluster, { count: 1, host: shop.host });
  await honest.arrive();
  assert.equal(honest.waiting.length, 1, "a full room let somebody in");
  const headers = { cookie: honest.visitors[0].cookies };

  const before = await cluster.allCalls(shop);
  await honest.wait(TIMES * EVERY_MS);
  const wanted = (await cluster.allCalls(shop)) - before;
  for (let at = 0; at < TIMES; at += 1) {
    const request = { host: shop.host, path: "/", headers };
    assert.equal((await look(cluster, "ams-1", request)).kind, "queue");
    await cluster.advance(EVERY_MS);
  }
  const calls = (await cluster.allCalls(shop)) - before - wanted;
  const told = `${calls} calls for ${TIMES} copies of one cookie, ${wanted} for one visitor`;
  assert.ok(calls <= MORE_MAX * wanted, told);
});
