/**
 * Threat 12, forged and repeated cookies: whatever a neighbouring host plants beside the visitor's
 * cookie, even a valid ticket of somebody who came later, the visitor keeps the place.
 */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, look, visitorInside } from "../harness/visitor.mjs";

const shop = room({ name: "shop", total_active_users: 1 });
const NAME = "__cfwaitingroom";

const title = "row 12: junk before the real cookie loses no place";
clusterTestBothWays(title, { rooms: [shop] }, async (cluster) => {
  const inside = await visitorInside(cluster, shop);
  const [isolate] = cluster.isolates;
  // As long as a ticket, and of the same version and key, so that each is tried.
  const real = inside.cookie(NAME);
  const forged = real.slice(0, -4) + (real.endsWith("AAAA") ? "BBBB" : "AAAA");
  const junk = {
    "four of our name": `${NAME}=x; `.repeat(4),
    "as many of our name as a browser keeps": `${NAME}=${forged}; `.repeat(180),
    "300 others": Array.from({ length: 300 }, (_, at) => `a${at}=1; `).join(""),
  };
  for (const [name, before] of Object.entries(junk)) {
    const headers = { cookie: before + inside.cookies };
    const { kind } = await look(cluster, isolate.name, { host: shop.host, path: "/", headers });
    assert.equal(kind, "origin", `${name}: the visitor lost the place`);
  }
  // Without the real one they are worth nothing.
  const guest = new Visitor(cluster, { name: "guest", host: shop.host });
  const { kind } = await guest.visit({ headers: { cookie: junk["four of our name"] } });
  assert.equal(kind, "queue");
});

const planted = "row 12: a valid ticket of another before the real cookie takes no place away";
clusterTestBothWays(planted, { rooms: [shop] }, async (cluster) => {
  const inside = await visitorInside(cluster, shop);
  const [victim, other, attacker] = ["victim", "other", "attacker"].map(
    (name) => new Visitor(cluster, { name, host: shop.host }),
  );
  for (const visitor of [victim, other, attacker]) {
    await visitor.visit();
    await cluster.advance(1_000);
  }
  const ticket = `${NAME}=${attacker.cookie(NAME)}`;
  const beside = (visitor) => ({ headers: { cookie: `${ticket}; ${visitor.cookies}` } });
  assert.equal((await inside.visit(beside(inside))).kind, "origin", "thrown out into the line");
  for (let step = 0; step < 60 && !victim.inside && !other.inside; step += 1) {
    await cluster.advance(3_000);
    await other.visit();
    await victim.visit(beside(victim));
  }
  assert.deepEqual([victim.inside, other.inside], [true, false], "the place of the other was used");
});
