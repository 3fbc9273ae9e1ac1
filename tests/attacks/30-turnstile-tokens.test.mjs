/**
 * Threat 30, Turnstile tokens: one counts once, a browser's retry harms nobody, and made-up ones
 * cost few questions.
 */

import assert from "node:assert/strict";
import { after } from "node:test";

import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { asking, startSiteverify } from "../harness/siteverify.mjs";
import { Visitor, visitorInside } from "../harness/visitor.mjs";

const PARAMETER = "cf_wr_turnstile";
const gated = room({
  name: "gated",
  total_active_users: 1,
  session_duration: 30,
  turnstile_mode: "visible_managed",
  turnstile_action: "infinite_queue",
});

const siteverify = await startSiteverify();
after(() => siteverify.stop());
const options = { rooms: [gated], colos: { AMS: 2 }, ...asking(siteverify) };

/** Sends a token in one isolate; `place` is the cookie that came back. */
async function redeem(cluster, token, isolate, address = "203.0.113.1") {
  const visitor = new Visitor(cluster, { name: "visitor", host: gated.host });
  const path = `/?${PARAMETER}=${token}`;
  const headers = { "cf-connecting-ip": address };
  const { status, headers: answer } = await visitor.visit({ path, isolate, headers });
  assert.equal(status, 303);
  return { visitor, place: answer["set-cookie"] };
}

const again = "row 30: a token that is sent again is worth nothing and harms nobody";
clusterTest(again, options, async (cluster) => {
  await visitorInside(cluster, gated);
  await cluster.advance(3_000);
  const token = siteverify.token(gated.host, gated.id);
  assert.ok((await redeem(cluster, token, "ams-1")).place);
  for (const isolate of ["ams-1", "ams-2"]) {
    const { visitor, place } = await redeem(cluster, token, isolate);
    assert.equal(place, undefined, `${isolate}: counted twice, or led to the infinite queue`);
    assert.match((await visitor.visit({ isolate })).body, /cf-turnstile"/, "no new challenge");
  }
});

clusterTest("row 30: made-up tokens cost few questions", options, async (cluster) => {
  await visitorInside(cluster, gated);
  await cluster.advance(3_000);
  siteverify.forget();
  await Promise.all(
    Array.from({ length: 100 }, (_, at) => redeem(cluster, `made-up-${at}`, "ams-1")),
  );
  assert.ok(siteverify.questions.length <= 20, `${siteverify.questions.length} questions`);
  const token = () => siteverify.token(gated.host, gated.id);
  assert.equal((await redeem(cluster, token(), "ams-1")).place, undefined, "the bot's own address");
  const next = await redeem(cluster, token(), "ams-1", "203.0.113.77");
  assert.ok(next.place, "a neighbour is kept from passing the challenge");
  const { place } = await redeem(cluster, token(), "ams-1", "198.51.100.1");
  assert.ok(place, "a person elsewhere is not heard");
  await cluster.advance(60_000);
  assert.ok((await redeem(cluster, token(), "ams-1")).place, "the next minute");
  siteverify.forget();
  const spread = Array.from({ length: 400 }, (_, at) => [`spread-${at}`, `203.0.113.${at % 250}`]);
  await Promise.all(spread.map(([one, address]) => redeem(cluster, one, "ams-1", address)));
  assert.ok(siteverify.questions.length <= 200, `${siteverify.questions.length} of a network`);
});
