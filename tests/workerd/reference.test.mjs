/**
 * The number that a visitor can quote: the same on the page and in the JSON, at every visit and on
 * the device to which the place moves, and another for everybody else.
 */

import assert from "node:assert/strict";

import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const shop = room({ name: "shop", total_active_users: 1, json_response_enabled: true });
const REFERENCE = /^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/;
const FIRST_PAGE_MS = 6_000;

clusterTest("a visitor keeps one number to quote", { rooms: [shop] }, async (cluster) => {
  const asApp = { headers: { accept: "application/json" } };
  const told = async (visitor) => JSON.parse((await visitor.visit(asApp)).body).cfWaitingRoom;
  await visitorInside(cluster, shop);
  const waiting = ["one", "two"].map((name) => new Visitor(cluster, { name, host: shop.host }));
  const numbers = [];
  for (const visitor of waiting) {
    const first = (await visitor.visit()).body;
    assert.doesNotMatch(first, /Your reference/, "no cookie has come back yet");
    numbers.push((await told(visitor)).reference);
  }
  await cluster.advance(FIRST_PAGE_MS);
  for (const [at, visitor] of waiting.entries()) {
    assert.match(numbers[at], REFERENCE);
    assert.equal((await told(visitor)).reference, numbers[at]);
    const { body } = await visitor.visit();
    assert.ok(body.includes(`Your reference: <strong class="ref" dir="ltr">${numbers[at]}<`));
  }
  assert.notEqual(numbers[0], numbers[1]);
});
