/**
 * The files of the owner's cockpit over HTTP: on the hosts of the management surface and nowhere
 * else, without a cookie, under a policy that lets nothing foreign in, also where the configuration
 * cannot be used; and what a look at a room costs in calls of objects.
 */

import assert from "node:assert/strict";

import { ROOMS, ask, call } from "../harness/api.mjs";
import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";

const shop = room({ name: "shop", queue_all: true });
const options = { rooms: [shop], colos: { AMS: 1 } };
const FILES = {
  "/_waiting-room/": "text/html; charset=utf-8",
  "/_waiting-room/cockpit.js": "text/javascript; charset=utf-8",
  "/_waiting-room/editor.js": "text/javascript; charset=utf-8",
  "/_waiting-room/cockpit.css": "text/css; charset=utf-8",
};
const LOOKS = 20;

const get = (cluster, path, { host = "localhost", method = "GET", headers } = {}) =>
  cluster.send("ams-1", { host, path, method, headers });

clusterTestBothWays("the files are served to owners' hosts alone", options, async (cluster) => {
  for (const [path, type] of Object.entries(FILES)) {
    const { status, headers, body } = await get(cluster, path);
    assert.deepEqual([status, headers["content-type"]], [200, type], path);
    assert.ok(body.length > 500, path);
    assert.equal(headers["set-cookie"], undefined);
    assert.equal(headers["cache-control"], "no-cache");
    const policy = headers["content-security-policy"];
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    // The room holds everybody: whoever asks on its host is a visitor like any other.
    const visitor = await get(cluster, path, { host: shop.host });
    assert.ok(visitor.headers["set-cookie"][0].startsWith("__cfwaitingroom="), path);
    assert.notEqual(visitor.body, body);
  }
});

clusterTest("the simulator's thread runs wasm and reaches nothing", options, async (cluster) => {
  const path = "/_waiting-room/rehearsal.js";
  const { status, headers, body } = await get(cluster, path);
  // Its build takes minutes: without it the file is not there, and says so.
  assert.ok(status === 200 ? body.length > 100_000 : /without the simulator/.test(body), body);
  const policy = "default-src 'none'; script-src 'wasm-unsafe-eval'";
  assert.equal(headers["content-security-policy"], policy);
  const page = await get(cluster, "/_waiting-room/");
  assert.match(page.headers["content-security-policy"], /; trusted-types rehearsal$/);
  const visitor = await get(cluster, path, { host: shop.host });
  assert.notEqual(visitor.body, body);
});

clusterTest("a browser that has a file is told so", options, async (cluster) => {
  const path = "/_waiting-room/cockpit.js";
  const { headers, body } = await get(cluster, path);
  const known = await get(cluster, path, { headers: { "if-none-match": headers.etag } });
  assert.deepEqual([known.status, known.body], [304, ""]);
  const other = await get(cluster, path, { headers: { "if-none-match": '"another"' } });
  assert.deepEqual([other.status, other.body], [200, body]);
  const head = await get(cluster, path, { method: "HEAD" });
  assert.deepEqual([head.status, head.body, head.headers.etag], [200, "", headers.etag]);
  const post = await get(cluster, path, { method: "POST" });
  assert.notEqual(post.status, 200);
});

const unusable = { ...options, vars: { TICKET_KEYS: "abc" } };
clusterTest("the files are there although nobody can be served", unusable, async (cluster) => {
  for (const path of Object.keys(FILES)) assert.equal((await get(cluster, path)).status, 200);
  const refused = await ask(cluster, "GET", ROOMS);
  assert.match(JSON.parse(refused.body).errors[0].message, /TICKET_KEYS/);
});

clusterTest("a look at a room is one call of one object", options, async (cluster) => {
  const status = `${ROOMS}/${shop.id}/status`;
  await call(cluster, "GET", status);
  const before = await cluster.allCalls();
  for (let look = 0; look < LOOKS; look += 1) await call(cluster, "GET", status);
  const calls = (await cluster.allCalls()) - before;
  assert.ok(calls >= LOOKS && calls <= LOOKS + 2, `${calls} calls for ${LOOKS} looks`);
});
