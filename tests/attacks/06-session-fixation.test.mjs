/** Nothing in a link, a form or a header of another name becomes a visitor's cookie. */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { codeOf, sendForm } from "../harness/place.mjs";
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

const foreign = "row 6: no other site gives a visitor a place, or takes one away";
clusterTestBothWays(foreign, { rooms: [shop] }, async (cluster) => {
  await visitorInside(cluster, shop);
  const attacker = new Visitor(cluster, { name: "attacker", host: shop.host });
  const victim = new Visitor(cluster, { name: "victim", host: shop.host });
  for (const visitor of [attacker, victim]) await visitor.visit();
  const before = victim.cookies;
  const code = await codeOf(attacker);
  const sites = ["https://evil.example", "null", `http://${shop.host}.evil.example`, ""];
  for (const origin of sites) {
    for (const fields of [{ act: "take", code }, { act: "code" }, { act: "anew" }]) {
      const answer = await sendForm(victim, fields, { headers: { origin } });
      assert.equal(answer.status, 403, `${origin} ${fields.act}`);
      assert.equal(answer.headers["set-cookie"], undefined);
    }
  }
  // A link carries no form: it is a visit, and gives nothing.
  const answer = await victim.visit({ path: `/?act=take&code=${code}&waiting-room-place` });
  assert.equal(answer.kind, "queue");
  assert.equal(answer.headers["set-cookie"], undefined, "not due, and nothing new");
  assert.equal(victim.cookies, before);
});
