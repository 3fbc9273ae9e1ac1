/**
 * Threat 4, sharing an accepted ticket: a room can have it reported, ask for a challenge, or give
 * it no session, and a visitor whose phone changes the network notices nothing.
 */

import assert from "node:assert/strict";
import { after } from "node:test";

import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { asking, startSiteverify } from "../harness/siteverify.mjs";
import { Visitor, look } from "../harness/visitor.mjs";

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) " +
  "Version/19.1 Mobile/15E148 Safari/604.1";
const places = { total_active_users: 1, session_duration: 5 };
const allowing = room({ name: "allowing", ...places });
const reporting = room({ name: "reporting", ticket_sharing: "report", ...places });
const strict = room({ name: "strict", ticket_sharing: "new_visitor", ...places });
const options = { rooms: [allowing, reporting, strict], colos: { AMS: 1 } };

/** Where a phone goes in some minutes. */
const NETWORKS = ["203.0.113.9", "203.0.113.77", "198.51.100.4", "2001:db8::1"];
const THIEVES = 100;

for (const { host, name } of [allowing, reporting, strict]) {
  clusterTestBothWays(`row 4: a stolen cookie in the room ${name}`, options, async (cluster) => {
    const visitor = new Visitor(cluster, { name: "phone", host });
    const visit = (address) =>
      visitor.visit({ headers: { "cf-connecting-ip": address, "user-agent": PHONE } });
    const asThief = (at, agent) => {
      const address = `192.0.${at}.1`;
      const headers = { cookie: visitor.cookies, "cf-connecting-ip": address, "user-agent": agent };
      return look(cluster, "ams-1", { host, path: "/", headers });
    };
    for (const address of NETWORKS) assert.equal((await visit(address)).kind, "origin", address);
    await cluster.advance(15_000);

    const served = async (agent) => {
      const all = await Promise.all(Array.from({ length: THIEVES }, (_, at) => asThief(at, agent)));
      return all.filter(({ kind }) => kind === "origin").length;
    };
    const isStrict = name === "strict";
    assert.equal(await served("curl/8.1"), isStrict ? 0 : THIEVES, "another kind of client");
    const alike = await served(PHONE);
    assert.ok(isStrict ? alike <= 1 : alike === THIEVES, `${alike} of the same kind`);
    await cluster.advance(11_000);
    for (const address of NETWORKS) assert.equal((await visit(address)).kind, "origin", address);

    assert.equal(cluster.log.facts.sharedTickets > 0, name !== "allowing");
    assert.equal(cluster.log.count("192.0.") + cluster.log.count("curl"), 0);
  });
}

const challenging = room({
  name: "challenging",
  ticket_sharing: "challenge",
  turnstile_mode: "invisible",
  turnstile_action: "log",
  ...places,
});
const siteverify = await startSiteverify();
after(() => siteverify.stop());
const withTurnstile = { rooms: [challenging], colos: { AMS: 1 }, ...asking(siteverify) };
const title = "row 4: in a room that asks for a challenge, a person goes on and a script does not";
clusterTest(title, withTurnstile, async (cluster) => {
  const { host, id } = challenging;
  const visitor = new Visitor(cluster, { name: "phone", host });
  const atHome = { "cf-connecting-ip": NETWORKS[0], "user-agent": PHONE };
  assert.equal((await visitor.visit({ headers: atHome })).kind, "origin");
  const elsewhere = { "cf-connecting-ip": "192.0.2.1", "user-agent": "Firefox/150.0 Linux" };
  const visit = (path) => visitor.visit({ path, headers: elsewhere });

  for (const path of ["/", "/?cf_wr_turnstile=made-up", "/"]) {
    const { body, headers, status } = await visit(path);
    if (status === 303) continue;
    assert.match(body, /cf-turnstile"/, "served without a challenge");
    assert.equal(headers["set-cookie"], undefined, "the place was replaced");
  }
  const { status } = await visit(`/?cf_wr_turnstile=${siteverify.token(host, id)}`);
  assert.equal(status, 303);
  assert.equal((await visit("/")).kind, "origin", "who has passed is asked again");
  await cluster.advance(11_000);
  assert.equal((await visit("/")).kind, "origin", "who has passed is asked again later");
});
