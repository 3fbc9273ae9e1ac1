/**
 * Threat 13, many places for one person: a network has its share of new places in a minute, at no
 * object call; prefetches take none; one ticket has few streams.
 */

import assert from "node:assert/strict";
import { after } from "node:test";

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { RARE_CHECK_INS, room } from "../harness/rooms.mjs";
import { asking, startSiteverify } from "../harness/siteverify.mjs";
import { Visitor, look, visitorInside } from "../harness/visitor.mjs";

const SHARE = 3;
const shared = room({
  name: "shared",
  total_active_users: 2,
  new_places_per_network: SHARE,
  show_position: true,
});
const tiny = room({ name: "tiny", total_active_users: 1 });
const streaming = room({
  name: "streaming",
  total_active_users: 1,
  ...RARE_CHECK_INS,
  event_stream_enabled: true,
});
const challenging = ["log", "infinite_queue"].map((action) =>
  room({
    name: action.replace("_", "-"),
    total_active_users: 1,
    session_duration: 30,
    turnstile_mode: "visible_managed",
    turnstile_action: action,
    new_places_per_network: SHARE,
  }),
);

const brief = room({
  name: "brief",
  total_active_users: 1,
  new_users_per_minute: 1,
  session_duration: 1,
  new_places_per_network: 1,
});

const siteverify = await startSiteverify();
after(() => siteverify.stop());
const rooms = [shared, tiny, streaming, brief, ...challenging];
const options = { rooms, colos: { AMS: 1 }, ...asking(siteverify) };

/** A newcomer from this address. */
function newcomer(cluster, address, name = "newcomer") {
  const headers = { "cf-connecting-ip": address, "x-visitor": name, accept: "text/html" };
  return look(cluster, "ams-1", { host: shared.host, path: "/", headers });
}

clusterTestBothWays("row 13: a network gets its share of new places", options, async (cluster) => {
  const first = await Promise.all(
    Array.from({ length: 30 }, (_, at) => newcomer(cluster, `203.0.113.${at}`)),
  );
  const places = first.filter(({ headers }) => headers["set-cookie"]);
  assert.equal(places.length, SHARE, "places at once");
  assert.ok(first.every(({ status, kind }) => status === 200 && kind !== "else"));
  // The room may still be full of those three: their reports are sent meanwhile.
  await cluster.advance(5_000);
  const before = await cluster.allCalls(shared);
  for (let at = 0; at < 50; at += 1) {
    const { kind, headers } = await newcomer(cluster, "203.0.113.200");
    assert.deepEqual([kind, headers["set-cookie"]], ["queue", undefined]);
  }
  const idle = (await cluster.allCalls(shared)) - before;
  assert.ok(idle <= 2, `${idle} calls for 50 visits that get no place`);
  // Others are not bounded by it, and who has a place keeps it.
  assert.ok((await newcomer(cluster, "198.51.100.1")).headers["set-cookie"]);
  const [cookie] = places[0].headers["set-cookie"];
  const headers = { "cf-connecting-ip": "203.0.113.1", cookie: cookie.split(";")[0] };
  const again = await look(cluster, "ams-1", { host: shared.host, path: "/", headers });
  assert.equal(again.kind, places[0].kind);
  await cluster.advance(60_000);
  assert.ok((await newcomer(cluster, "203.0.113.200")).headers["set-cookie"], "the next minute");
});

const customers = "row 13: a customer of IPv6 has one share, and by 6to4 that of the IPv4 address";
clusterTestBothWays(customers, options, async (cluster) => {
  const places = async (addresses) => {
    const seen = await Promise.all(addresses.map((address) => newcomer(cluster, address)));
    return seen.filter(({ headers }) => headers["set-cookie"]).length;
  };
  const hex = (number) => number.toString(16).padStart(2, "0");
  const many = (address) => Array.from({ length: 30 }, (_, at) => address(at));
  assert.equal(await places(many((at) => `2001:db8:7:${hex(at * 0x800)}::1`)), SHARE);
  assert.equal(await places(many((at) => `2002:cb00:71${hex(at)}::1`)), SHARE);
  assert.equal(await places(["203.0.113.200"]), 0, "the same customer by IPv4");
  const byTeredo = many((at) => `2001:0:4136:e3${hex(at)}:${at}:63bf:34ff:8e${hex(at)}`);
  assert.equal(await places(byTeredo), 0, "by Teredo, through whatever server");
  assert.equal(await places(many((at) => `64:ff9b::203.0.113.${at}`)), 0, "by a translator");
  assert.equal(await places(["2001:db8:8::1", "198.51.100.1"]), 2, "others");
});

const tokens = "row 13: no token gives a place beyond the share, and none is used up for it";
clusterTest(tokens, options, async (cluster) => {
  const headers = { "cf-connecting-ip": "203.0.113.9" };
  for (const { host, id } of challenging) {
    await look(cluster, "ams-1", { host, path: "/", headers: { "cf-connecting-ip": "192.0.2.1" } });
    await cluster.advance(3_000);
    const redeem = async (token, cookie) => {
      const path = `/?cf_wr_turnstile=${token}`;
      const sent = { ...headers, ...(cookie && { cookie }) };
      const answer = await look(cluster, "ams-1", { host, path, headers: sent });
      assert.equal(answer.status, 303, host);
      return answer.headers["set-cookie"]?.[0].split(";")[0];
    };
    // A place in the infinite queue is none.
    const infinite = host === challenging[1].host ? await redeem("made-up") : undefined;
    for (let at = 0; at < SHARE; at += 1) {
      assert.ok(await redeem(siteverify.token(host, id)), `${host} ${at}`);
    }
    siteverify.forget();
    const good = siteverify.token(host, id);
    for (const token of ["", "made-up-too", good]) {
      assert.equal(await redeem(token), undefined, `${host}: ${token}`);
      assert.equal(await redeem(token, infinite), undefined, `${host}: ${token}`);
    }
    assert.equal(siteverify.questions.length, 0, "a token is used up");
    const page = await look(cluster, "ams-1", { host, path: "/", headers });
    assert.deepEqual([page.kind, page.headers["set-cookie"]], ["queue", undefined]);
    assert.doesNotMatch(page.body, /cf-turnstile"/, "a challenge for nothing");
    await cluster.advance(60_000);
    assert.ok(await redeem(good), "the next minute");
  }
});

clusterTest("row 13: a spent ticket gives no place beyond the share", options, async (cluster) => {
  const go = async (address, cookie) => {
    const headers = { "cf-connecting-ip": address, ...(cookie && { cookie }) };
    const { kind, headers: answer } = await look(cluster, "ams-1", {
      host: brief.host,
      path: "/",
      headers,
    });
    return { kind, cookie: answer["set-cookie"]?.[0].split(";")[0] };
  };
  await go("198.51.100.1");
  await cluster.advance(3_000);
  let [spent, { kind, cookie }] = [undefined, await go("203.0.113.9")];
  for (let at = 0; at < 60 && kind !== "origin"; at += 1) {
    if (cookie) spent = cookie;
    await cluster.advance(5_000);
    ({ kind, cookie } = await go("203.0.113.9", spent));
  }
  assert.equal(kind, "origin", "the visitor has entered");
  await cluster.advance(70_000);
  await go("198.51.101.1");
  await cluster.advance(3_000);
  let places = 0;
  for (let at = 0; at < 20; at += 1) {
    const again = await go("203.0.113.9", spent);
    assert.equal(again.kind, "queue");
    if (again.cookie) places += 1;
  }
  assert.equal(places, 1, "places by copies of a spent ticket");
});

clusterTestBothWays("row 13: no kind of prefetch takes a place", options, async (cluster) => {
  for (const headers of [
    { "sec-purpose": "prefetch" },
    { purpose: "prefetch" },
    { "x-moz": "prefetch" },
    { "x-purpose": "preview" },
  ]) {
    const { status, headers: answer } = await look(cluster, "ams-1", {
      host: tiny.host,
      path: "/",
      headers,
    });
    assert.deepEqual([status, answer["set-cookie"]], [503, undefined], Object.keys(headers)[0]);
  }
  await visitorInside(cluster, tiny);
});

clusterTest("row 13: one ticket does not use up the streams of all", options, async (cluster) => {
  await visitorInside(cluster, streaming);
  await cluster.advance(20_000);
  const [greedy, other] = ["greedy", "other"].map(
    (name) => new Visitor(cluster, { name, host: streaming.host }),
  );
  await greedy.visit();
  await other.visit();
  const streams = await Promise.all(Array.from({ length: 600 }, () => greedy.listen()));
  const stream = await other.listen();
  await cluster.advance(1_500);
  const open = streams.filter(({ ended }) => !ended).length;
  assert.ok(open >= 1 && open <= 4, `${open} streams of one ticket`);
  assert.ok(!stream.ended, "another visitor has no stream");
  for (const one of [...streams, stream]) one.close();
});
