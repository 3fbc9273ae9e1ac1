/** Nothing in a link, a form or a header of another name becomes a visitor's cookie. */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const NAME = "__cfwaitingroom";
const shop = room({ name: "shop", total_active_users: 1 });

const title = "row 6: nobody is given somebody else's ticket by a link or a form";
clusterTestBothWays(title, { rooms: [shop] }, async (cluster) => {
  const attacker = await visitorInside(cluster, shop);
  const ticket = attacker.cookie(NAME);
  const pair = `${NAME}=${ticket}`;
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const ways = [
    { path: `/?${pair}` },
    { path: `/?set-cookie=${encodeURIComponent(pair)}` },
    { path: `/;${pair}` },
    { path: `/?cookie=${encodeURIComponent(pair)}&ticket=${ticket}&cf_wr_turnstile=${ticket}` },
    { path: `/?x=%0d%0aSet-Cookie:%20${encodeURIComponent(pair)}` },
    { method: "POST", body: pair, headers: type },
    { headers: { "set-cookie": pair } },
    { headers: { "x-cookie": pair, authorization: `Bearer ${ticket}` } },
    { headers: { referer: `https://${shop.host}/?${pair}` } },
  ];
  for (const [index, way] of ways.entries()) {
    const victim = new Visitor(cluster, { name: `victim-${index}`, host: shop.host });
    const answer = await victim.visit(way);
    const shown = JSON.stringify(way).slice(0, 60);
    assert.notEqual(answer.kind, "origin", `let in by ${shown}`);
    for (const line of answer.headers["set-cookie"] ?? []) {
      assert.ok(!line.includes(ticket.slice(20, 60)), `fixed by ${shown}`);
    }
    assert.equal((await victim.visit()).kind, "queue", `fixed by ${shown}`);
  }
  assert.equal((await attacker.visit()).kind, "origin", "the true cookie still works");
});
