/**
 * The room option `strip_cookie`: the origin sees the visitor's other cookies, with and without
 * ours.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { send } from "../harness/http.mjs";
import { startPair } from "../harness/pair.mjs";
import { room } from "../harness/rooms.mjs";
import { look } from "../harness/visitor.mjs";

for (const strip_cookie of [true, false]) {
  const shop = room({ name: "shop", strip_cookie });
  const name = `the origin sees ${strip_cookie ? "no" : "the"} ticket, and every other cookie`;
  clusterTestBothWays(name, { rooms: [shop], colos: { AMS: 1 } }, async (cluster) => {
    const seen = async (cookie) => {
      const answer = await look(cluster, "ams-1", { host: shop.host, headers: { cookie } });
      assert.equal(answer.kind, "origin");
      return [JSON.parse(answer.body).cookie, answer.headers["set-cookie"]];
    };
    const [newcomers, [setCookie]] = await seen("a=1; b=2");
    assert.equal(newcomers, "a=1; b=2");
    const [ticket] = setCookie.split(";");
    const sent = `a=1; ${ticket}; b=2`;
    const [unchanged] = await seen(sent);
    assert.equal(unchanged, strip_cookie ? "a=1; b=2" : sent);
    await cluster.advance(2_000);
    const [renewed, renewal] = await seen(sent);
    assert.equal(renewed, strip_cookie ? "a=1; b=2" : sent);
    assert.ok(renewal, "the ticket was not renewed");
  });
}

test("cookies of an old shop, with bytes that are no UTF-8, stay as they are", async () => {
  const shop = room({ name: "shop", strip_cookie: true, total_active_users: 9 });
  // Node reads a header byte by byte.
  const origin = ({ headers }, response) =>
    response.end(Buffer.from(headers.cookie, "latin1").toString("hex"));
  const pair = await startPair({ origin, rooms: [shop] });
  const ask = (cookie) => send({ port: pair.ports.product, host: shop.host, headers: { cookie } });
  const bytes = (text) => Buffer.from(text, "latin1").toString("hex");
  try {
    const first = await ask("a=1");
    const [ticket] = first.headers["set-cookie"][0].split(";");
    const readable = "a=x\xc3\xa9; b=1";
    assert.equal((await ask(`${ticket}; ${readable}`)).body, bytes(readable));
    const unreadable = "a=x\xe9; b=1";
    assert.equal((await ask(unreadable)).body, bytes(unreadable));
  } finally {
    await pair.stop();
  }
});
