/**
 * The room option `strip_cookie`: the origin sees the visitor's other cookies, with and without
 * ours.
 */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
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
