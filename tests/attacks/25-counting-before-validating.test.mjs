/**
 * A request is validated before it is counted: what is refused or speculative moves no number, and
 * an address that somebody made up asks no object.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";

import { ROOMS, ask, call } from "../harness/api.mjs";
import { clusterTest, clusterTestBothWays } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { look } from "../harness/visitor.mjs";

const TIMES = 10;
const shop = room({ name: "shop", total_active_users: 5 });
const { host, id } = shop;
const PREFLIGHT = {
  method: "OPTIONS",
  headers: { origin: "https://a.example", "access-control-request-method": "POST" },
};
const INVALID = [
  { headers: { "sec-purpose": "prefetch" } },
  { headers: { "sec-purpose": "prefetch;prerender" } },
  { headers: { purpose: "prefetch" } },
  PREFLIGHT,
];

const title = "row 25: requests that are not valid visits take no place and call no object";
clusterTestBothWays(title, { rooms: [shop], colos: { AMS: 1 } }, async (cluster) => {
  for (const request of INVALID) {
    for (let time = 0; time < TIMES; time += 1) {
      const { headers } = await look(cluster, "ams-1", { host, ...request });
      assert.equal(headers["set-cookie"], undefined, JSON.stringify(request));
    }
  }
  for (let time = 0; time < TIMES; time += 1) {
    await ask(cluster, "PATCH", `${ROOMS}/${id}`, { total_active_users: -time });
    await ask(cluster, "PATCH", `${ROOMS}/${id}`, "no JSON");
  }
  await cluster.advance(6_000);
  const calls = await cluster.calls("DataCenterCounter", shop);
  assert.equal(calls, 0, "a counter was asked for a place");
  const { result } = await call(cluster, "GET", `${ROOMS}/${id}/status`);
  const { estimated_total_active_users: inside, estimated_queued_users: queued } = result;
  assert.deepEqual([inside, queued], [0, 0]);
});

const previews = "row 25: made-up addresses of previews ask no object";
clusterTest(previews, { rooms: [shop], colos: { AMS: 1 } }, async (cluster) => {
  const { result } = await call(cluster, "POST", `${ROOMS}/preview`, { custom_html: "<p>mine" });
  const { pathname } = new URL(result.preview_url);
  const show = (path) => cluster.send("ams-1", { host: "localhost", path });
  const last = pathname.endsWith("0") ? "1" : "0";
  const madeUp = Array.from({ length: 200 }, (_, at) =>
    pathname.replace(/\w+$/, createHash("sha256").update(`${at}`).digest("hex").slice(0, 32)),
  );
  const before = await cluster.calls("Registry");
  for (const path of [...madeUp, `${pathname.slice(0, -1)}${last}`]) {
    assert.equal((await show(path)).status, 404);
  }
  const asked = (await cluster.calls("Registry")) - before;
  assert.ok(asked <= 2, `${asked} calls of the registry`);
  assert.equal((await show(pathname)).body, "<p>mine");
});
