/** A place in the line is nowhere but in its cookie: no page, address, header or log tells it. */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { ROOM_CLASSES } from "../harness/deployment.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const NAME = "__cfwaitingroom";
const ADDRESS = "203.0.113.77";
const SECRET = "of-the-visitor";
/** A piece of a ticket that is too long to appear by chance. */
const PIECE_LENGTH = 20;
const shop = room({ name: "shop", total_active_users: 1, json_response_enabled: true });

const title = "row 5: a ticket is in a cookie that scripts cannot read, and nowhere else";
clusterTestBothWays(title, { rooms: [shop] }, async (cluster) => {
  await visitorInside(cluster, shop);
  const victim = new Visitor(cluster, { name: "victim", host: shop.host });
  for (const accept of ["text/html", "application/json"]) {
    const headers = { accept, "cf-connecting-ip": ADDRESS, "user-agent": SECRET };
    const answer = await victim.visit({ path: `/?q=${SECRET}`, headers });
    assert.equal(answer.kind, "queue");
    const { "set-cookie": lines = [], ...others } = answer.headers;
    assert.ok(lines.every((line) => /; HttpOnly(;|$)/.test(line)), lines.join());
    assertHides(victim, answer.body, "the page");
    assertHides(victim, JSON.stringify(others), "another header");
  }
  // A log has most to say when something breaks.
  for (const classes of [["GlobalAggregator"], ROOM_CLASSES]) {
    await cluster.breakCalls(...classes.map((className) => ({ className, fail: "before" })));
    await cluster.advance(5_000);
    for (const name of ["first", "second"]) {
      const headers = { "cf-connecting-ip": ADDRESS, "user-agent": SECRET };
      const newcomer = new Visitor(cluster, { name, host: shop.host });
      await newcomer.visit({ path: `/?q=${SECRET}`, headers });
    }
    await cluster.advance(5_000);
  }
  assert.ok(cluster.log.count("") > 0, "nothing was logged, so that nothing was tested");
  for (const text of [NAME, ADDRESS, SECRET, ...pieces(victim.cookie(NAME))]) {
    assert.equal(cluster.log.count(text), 0, `a log line has ${text}`);
  }
});

function assertHides(visitor, text, where) {
  for (const piece of pieces(visitor.cookie(NAME))) {
    assert.ok(!text.includes(piece), `${where} has a piece of the ticket`);
  }
}

function pieces(ticket) {
  const count = Math.floor(ticket.length / PIECE_LENGTH);
  return Array.from({ length: count }, (_, at) =>
    ticket.slice(at * PIECE_LENGTH, (at + 1) * PIECE_LENGTH),
  );
}
