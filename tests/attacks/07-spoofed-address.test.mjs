/** Only the platform's own word on the client's address counts. */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { look } from "../harness/visitor.mjs";

const OFFICE = "203.0.113.9";
const ELSEWHERE = "198.51.100.9";
const office = {
  id: "7".repeat(32),
  action: "bypass_waiting_room",
  expression: "ip.src in {203.0.113.0/24}",
};
const shop = room({ name: "shop", queue_all: true, bypass_rules: [office] });
/** Headers by which proxies tell an address, and anybody can claim one. */
const CLAIMS = [
  "x-forwarded-for",
  "x-real-ip",
  "true-client-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-original-forwarded-for",
  "cf-connecting-ipv6",
  "cf-pseudo-ipv4",
  "fastly-client-ip",
  "client-ip",
];

const title = "row 7: an address that a client claims opens nothing";
clusterTestBothWays(title, { rooms: [shop] }, async (cluster) => {
  const kindWith = async (headers) =>
    (await look(cluster, "ams-1", { host: shop.host, headers })).kind;
  for (const name of CLAIMS) {
    const claims = { [name]: OFFICE };
    assert.equal(await kindWith(claims), "queue", name);
    assert.equal(await kindWith({ ...claims, "cf-connecting-ip": ELSEWHERE }), "queue", name);
  }
  assert.equal(await kindWith({ forwarded: `for=${OFFICE}` }), "queue");
  assert.equal(await kindWith({ "cf-connecting-ip": OFFICE }), "origin", "the platform's word");
});
