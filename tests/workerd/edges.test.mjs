/**
 * Requests that are no page view: preflights, prefetches, forms, WebSockets, HEAD; and what a page
 * always carries.
 */

import assert from "node:assert/strict";

import { clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { QUEUE_MARK, Visitor, look, visitorInside } from "../harness/visitor.mjs";

const shop = room({ name: "shop", total_active_users: 1 });
const { host } = shop;
const options = { rooms: [shop], colos: { AMS: 1 } };
/** How long a session lasts, in milliseconds. */
const SESSION_MS = 60_000;
const WEBSOCKET = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/**
 * A test in a room whose only place is free, and one in the same room when a guest has taken it.
 */
const freeTest = (name, body) => clusterTestBothWays(name, options, body);
const fullTest = (name, body) =>
  freeTest(name, async (cluster) => {
    const guest = await visitorInside(cluster, shop);
    await body(cluster, guest);
  });

fullTest("a queue page is never stored and comes back by itself", async (cluster) => {
  const page = await look(cluster, "ams-1", { host, headers: { accept: "text/html" } });
  assert.equal(page.status, 200);
  assert.match(page.headers["cache-control"], /no-store/);
  assert.match(page.headers["content-type"], /^text\/html/);
  assert.match(page.headers.refresh, /^[1-9]\d*$/);
  assert.ok(page.headers["set-cookie"][0].startsWith("__cfwaitingroom="));
  assert.ok(page.body.includes(QUEUE_MARK));
});

freeTest("an answer that carries a ticket is never stored by a cache", async (cluster) => {
  const answer = await look(cluster, "ams-1", { host });
  assert.equal(answer.kind, "origin");
  assert.ok(answer.headers["set-cookie"]);
  assert.match(answer.headers["cache-control"], /no-store/);
});

freeTest("a host that no room covers goes to the origin untouched", async (cluster) => {
  const answer = await look(cluster, "ams-1", { host: "elsewhere.example", path: "/a?b=c" });
  assert.equal(answer.kind, "origin");
  assert.equal(answer.headers["set-cookie"], undefined);
  assert.equal(JSON.parse(answer.body).url, "http://elsewhere.example/a?b=c");
  assert.equal(await cluster.allCalls(), 0);
});

for (const [state, expected] of [
  ["free", "origin"],
  ["full", "queue"],
]) {
  const inState = state === "free" ? freeTest : fullTest;
  inState(`a CORS preflight to a ${state} room passes and is not counted`, async (cluster) => {
    const headers = { origin: "https://app.example", "access-control-request-method": "PUT" };
    const answer = await look(cluster, "ams-1", { host, method: "OPTIONS", headers });
    assert.equal(answer.kind, "origin");
    assert.equal(answer.headers["set-cookie"], undefined);
    const newcomer = new Visitor(cluster, { name: "newcomer", host });
    assert.equal((await newcomer.visit()).kind, expected, "the preflight took the place");
  });
}

const SPECULATIONS = [{ "sec-purpose": "prefetch" }, { "sec-purpose": "prefetch;prerender" }];
freeTest("prefetch and prerender take no place", async (cluster) => {
  for (const headers of [...SPECULATIONS, { purpose: "prefetch" }]) {
    await look(cluster, "ams-1", { host, headers });
  }
  const newcomer = new Visitor(cluster, { name: "newcomer", host });
  assert.equal((await newcomer.visit()).kind, "origin", "a speculative request took the place");
});

/** How browsers ask for the pictures, style sheets and scripts of a page. */
const PARTS = ["image", "style", "script"].map((part) => ({ "sec-fetch-dest": part }));
fullTest("parts of a queue page take no place and get no page", async (cluster, guest) => {
  const refused = ({ status, body, headers }) => [status, body, headers["set-cookie"]];
  const waiting = new Visitor(cluster, { name: "waiting", host });
  await waiting.visit();
  await cluster.advance(SESSION_MS - 20_000);
  await waiting.visit();
  // Its check-in is due and the place is free, and still the page alone enters.
  await cluster.advance(35_000);
  const [cookie, path] = [waiting.cookies, "/logo.png"];
  for (const part of PARTS) {
    const seen = await look(cluster, "ams-1", { host, path, headers: { ...part, cookie } });
    assert.deepEqual(refused(seen), [503, "", undefined]);
  }
  const arrivals = await cluster.arrivals();
  assert.ok(arrivals.every(({ url }) => !url?.includes("logo")), JSON.stringify(arrivals.at(-1)));
  assert.equal((await waiting.visit()).kind, "origin");
  // At first the isolate may not know that the place is taken.
  for (const headers of PARTS) {
    const seen = await look(cluster, "ams-1", { host, headers });
    assert.deepEqual(refused(seen), [503, "", undefined]);
    assert.equal((await waiting.visit({ headers })).kind, "origin", "of somebody inside");
  }
  assert.equal(guest.visits, 1);
});

fullTest("a prefetch of somebody inside passes", async (cluster, guest) => {
  for (const headers of SPECULATIONS) {
    assert.equal((await guest.visit({ headers })).kind, "origin");
  }
});

fullTest(
  "a queued form says that nothing was submitted, and the origin never sees it",
  async (cluster) => {
    const form = { host, method: "POST", path: "/buy", body: "item=1" };
    const page = await look(cluster, "ams-1", { ...form, headers: { accept: "text/html" } });
    assert.equal(page.kind, "queue");
    assert.match(page.body, /nothing (was|has been) (submitted|sent)/i);
    assert.ok((await cluster.arrivals()).every(({ method }) => method !== "POST"));
  },
);

freeTest("an admitted form reaches the origin with its body", async (cluster) => {
  const answer = await look(cluster, "ams-1", {
    host,
    method: "POST",
    path: "/buy",
    body: "item=1",
  });
  assert.equal(answer.kind, "origin");
  assert.equal(JSON.parse(answer.body).body, "item=1");
});

fullTest("a queued WebSocket upgrade is refused with 503", async (cluster) => {
  const answer = await look(cluster, "ams-1", { host, headers: WEBSOCKET });
  assert.equal(answer.status, 503);
  assert.ok((await cluster.arrivals()).length === 1, "the upgrade reached the origin");
});

fullTest("the WebSocket of somebody inside opens", async (cluster, guest) => {
  assert.equal((await guest.visit({ headers: WEBSOCKET })).status, 101);
});

fullTest("HEAD is answered like GET, without a body", async (cluster) => {
  const page = await look(cluster, "ams-1", { host, method: "HEAD" });
  assert.equal(page.kind, "queue");
  assert.equal(page.status, 200);
  assert.match(page.headers["cache-control"], /no-store/);
  assert.equal(page.body, "");
});
