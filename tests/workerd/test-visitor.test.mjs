/**
 * The visitor whom an owner sends through the line: it waits and enters as everybody does, takes a
 * place and gives it back, and its requests never reach the site.
 */

import assert from "node:assert/strict";

import { OWNER, ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, pass } from "../harness/visitor.mjs";

/** One enters a minute, and nobody leaves by staying away. */
const SLOW = { new_users_per_minute: 1, session_duration: 5 };
const shop = room({ name: "shop", total_active_users: 1, ...SLOW });
const other = room({ name: "other" });
const LOGGED = { total_active_users: 1, transparency_log: "public" };
const sale = room({ name: "sale", ...LOGGED });
const free = room({ name: "free", session_endpoint: true, ...LOGGED });
const rooms = [shop, other, sale, free];
const options = { rooms, colos: { AMS: 1 }, vars: { API_TOKEN_READ: "reads" } };
const ADDRESS = `https://${shop.host}/`;
const COUNTED_MS = 8_000;
const SESSION_MS = 60_000;

clusterTest("a test visitor waits, and enters when it is let in", options, async (cluster) => {
  await call(cluster, "PATCH", `${ROOMS}/${shop.id}`, { queue_all: true });
  await cluster.advance(3_000);
  const came = await visit(cluster);
  assert.equal(came.outcome, "waits");
  assert.match(came.cookie, /^__cfwaitingroom=[^;]+; /);
  for (let round = 0; round < 3; round += 1) {
    await cluster.advance(COUNTED_MS);
    const again = await visit(cluster, { ticket: came.ticket });
    assert.equal(again.outcome, "waits");
  }
  const inLine = async () =>
    (await call(cluster, "GET", `${ROOMS}/${shop.id}/status`)).result.estimated_queued_users;
  assert.equal(await inLine(), 1, "with its cookie it is the same visitor");
  await call(cluster, "PATCH", `${ROOMS}/${shop.id}`, { queue_all: false });
  let now = came;
  for (let round = 0; round < 20 && now.outcome === "waits"; round += 1) {
    await cluster.advance(1_000);
    now = await visit(cluster, { ticket: now.ticket });
  }
  assert.equal(now.outcome, "inside");

  // It has taken the only place, and gives it back.
  const person = new Visitor(cluster, { name: "person", host: shop.host });
  assert.equal((await person.visit()).kind, "queue");
  assert.equal((await visit(cluster, { ticket: now.ticket, leaves: true })).outcome, "left");
  for (let round = 0; round < 90 && !person.inside; round += 1) {
    await cluster.advance(1_000);
    await person.visit();
  }
  assert.ok(person.inside, "the place did not come back");
  const visitors = (await cluster.arrivals()).map(({ visitor }) => visitor);
  assert.deepEqual([...new Set(visitors)], ["person"], "a test visitor reached the site");
});

const logged = "a test visitor leaves no session early that the log of the room counts as whole";
clusterTest(logged, options, async (cluster) => {
  const leaves = async (of) => {
    const url = `https://${of.host}/`;
    const came = await visit(cluster, { url }, of);
    assert.equal(came.outcome, "inside");
    return (await visit(cluster, { url, ticket: came.ticket, leaves: true }, of)).outcome;
  };
  assert.equal(await leaves(free), "left", "sessions may end early, and the log says so");
  assert.equal(await leaves(sale), "stays");
  const person = new Visitor(cluster, { name: "person", host: sale.host });
  await person.visit();
  const until = cluster.clock.now() + SESSION_MS;
  await pass(cluster, SESSION_MS, [person], () => person.inside);
  assert.ok(cluster.clock.now() >= until && person.waiting, "two entered within one session");
  await pass(cluster, 2 * SESSION_MS, [person], () => person.inside);
  assert.ok(person.inside, "the place did not come back");
});

clusterTest("only owners who may change send one, to their room", options, async (cluster) => {
  const answer = async (headers, of = shop, body = { url: ADDRESS }) => {
    return (await send(cluster, headers, of, body)).status;
  };
  assert.equal(await answer({}), 403);
  assert.equal(await answer({ authorization: "Bearer reads" }), 403);
  assert.equal(await answer(OWNER), 200);
  assert.equal(await answer(OWNER, { ...shop, id: "f".repeat(32) }), 404);
  assert.equal(await answer({}, { ...shop, id: "../" }), 403);
  const odd = await send(cluster, OWNER, { ...shop, id: "../" }, { url: ADDRESS });
  const [{ message }] = JSON.parse(odd.body).errors;
  assert.deepEqual([odd.status, message], [400, "The parameter room must be <zone id>/<room id>."]);
  for (const body of [{}, { url: 7 }, { url: "nonsense" }, "nonsense"]) {
    assert.equal(await answer(OWNER, shop, body), 400, JSON.stringify(body));
  }
  assert.equal((await visit(cluster, { url: `https://${other.host}/` })).outcome, "other_room");
  assert.equal((await visit(cluster, { url: "https://nobody.example/" })).outcome, "not_covered");
  const renewed = await visit(cluster, { ticket: 7 });
  assert.match(renewed.ticket, /^__cfwaitingroom=/);
});

async function visit(cluster, { url = ADDRESS, ...rest } = {}, of = shop) {
  const { status, body } = await send(cluster, OWNER, of, { url, ...rest });
  assert.equal(status, 200, body);
  return JSON.parse(body).result;
}

function send(cluster, headers, { zone_id: zone, id }, body) {
  const path = `/_waiting-room/test-visitor?room=${zone}/${id}`;
  return cluster.send("ams-1", {
    host: "localhost",
    path,
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
}
