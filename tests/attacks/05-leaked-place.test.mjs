/** A place in the line is nowhere but in its cookie: no page, address, header or log tells it. */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { ROOM_CLASSES } from "../harness/deployment.mjs";
import { codeOf, giveCode, sendForm } from "../harness/place.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const NAME = "__cfwaitingroom";
const ADDRESS = "203.0.113.77";
const SECRET = "of-the-visitor";
/** A piece of a ticket that is too long to appear by chance. */
const PIECE_LENGTH = 20;
const shop = room({ name: "shop", total_active_users: 1, json_response_enabled: true });
const office = room({ name: "office", total_active_users: 1 });
const GUESSES = 30;
const GUESSES_A_MINUTE = 20;

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

const codes = "row 5: a code for a place is in no address, header or log, and good once";
clusterTestBothWays(codes, { rooms: [shop] }, async (cluster) => {
  await visitorInside(cluster, shop);
  const victim = new Visitor(cluster, { name: "victim", host: shop.host });
  const taker = new Visitor(cluster, { name: "taker", host: shop.host });
  for (const visitor of [victim, taker]) await visitor.visit();
  const made = await sendForm(victim, { act: "code" });
  assertHides(victim, JSON.stringify({ ...made.headers, "set-cookie": [] }), "a header");
  const [, code] = /<strong class="code" dir="ltr">([^<]+)</.exec((await victim.visit()).body);
  const taken = await sendForm(taker, { act: "take", code });
  assert.equal(taken.status, 303);
  for (const answer of [made, taken]) {
    assert.ok(!JSON.stringify(answer.headers).includes(code), "a header has the code");
    assert.equal(answer.headers["cache-control"], "private, no-store");
  }
  await cluster.advance(1_000);
  assert.equal(cluster.log.count(code), 0);
  const other = new Visitor(cluster, { name: "other", host: shop.host });
  await other.visit();
  assert.equal(await giveCode(other, code), 404, "a code that was read over a shoulder");
});

const guesses = "row 5: codes cannot be guessed, and one of another room is none";
clusterTestBothWays(guesses, { rooms: [shop, office] }, async (cluster) => {
  for (const room of [shop, office]) await visitorInside(cluster, room);
  const victim = new Visitor(cluster, { name: "victim", host: shop.host });
  const elsewhere = new Visitor(cluster, { name: "elsewhere", host: office.host });
  const thief = new Visitor(cluster, { name: "thief", host: shop.host });
  for (const visitor of [victim, elsewhere, thief]) await visitor.visit();
  const code = await codeOf(victim, { headers: { "cf-connecting-ip": "192.0.2.1" } });
  assert.equal(await giveCode(elsewhere, code), 404, "a code of another room");
  const headers = { "cf-connecting-ip": ADDRESS };
  const found = [];
  for (let guess = 0; guess < GUESSES; guess += 1) {
    found.push(await giveCode(thief, `0000-${String(guess).padStart(4, "0")}`, { headers }));
  }
  assert.ok(found.every((status) => status === 404 || status === 429), found.join());
  assert.equal(found.filter((status) => status === 404).length, GUESSES_A_MINUTE);
  const calls = await cluster.calls("GlobalAggregator", shop);
  assert.equal(await giveCode(thief, code, { headers }), 429, "one more guess, a right one");
  assert.ok((await cluster.calls("GlobalAggregator", shop)) - calls <= 1, "the object was asked");
  // Others are not kept from it.
  const taker = new Visitor(cluster, { name: "taker", host: shop.host });
  await taker.visit();
  assert.equal(await giveCode(taker, code, { headers: { "cf-connecting-ip": "192.0.2.1" } }), 200);
});
