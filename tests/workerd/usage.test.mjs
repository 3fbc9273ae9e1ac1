/**
 * The use of the plan: asked of an imitation of Cloudflare's API by the cron trigger, told in
 * health, in metrics and by webhooks; without a token nothing is asked and no object called, and a
 * failure disturbs nobody.
 */

import assert from "node:assert/strict";
import http from "node:http";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { OWNER, ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";
import { startReceiver } from "../harness/webhook-receiver.mjs";

const DAY_MS = 24 * 3_600_000;
const STEP_MS = 600_000;
const CLOUDFLARE = "usage.example";
const HOOKS = "hooks.example";
const shop = room({ name: "shop" });
const quiet = room({ name: "quiet" });
const receiver = await startReceiver();
/** What the imitation of Cloudflare answers, and what it was asked. */
const cloudflare = { used: { requests: 0, object_calls: 0 }, status: 200, questions: [] };
const server = http.createServer(answer);
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => Promise.all([receiver.stop(), new Promise((resolve) => server.close(resolve))]));
const USAGE = {
  USAGE_TOKEN: "a-token",
  ACCOUNT_ID: "a1",
  USAGE_URL: `https://${CLOUDFLARE}/client/v4/graphql`,
};
const options = {
  rooms: [shop, quiet],
  colos: { AMS: 1 },
  build: "debug",
  outside: { [CLOUDFLARE]: server.address().port, [HOOKS]: receiver.port },
};

async function answer(request, response) {
  let text = "";
  for await (const chunk of request) text += chunk;
  const { authorization } = request.headers;
  cloudflare.questions.push({ authorization, ...JSON.parse(text) });
  const sum = ([of, requests]) => [of, [{ sum: { requests } }]];
  const sums = Object.entries(cloudflare.used).map(sum);
  const body = { data: { viewer: { accounts: [Object.fromEntries(sums)] } } };
  response.writeHead(cloudflare.status).end(JSON.stringify(body));
}

/** Lets the cron trigger fire when so much is used. */
async function look(cluster, requests, status = 200) {
  cloudflare.used.requests = requests;
  cloudflare.status = status;
  await cluster.schedule("ams-1");
}

/** Waits until so many messages have come, for 40 s of real time at most; returns what they say. */
async function messages(count) {
  for (let left = 800; left > 0 && receiver.requests.length < count; left -= 1) await sleep(50);
  const told = receiver.bodies("/plan");
  return told.map(({ type, data }) => [type, data.quota_of, data.quota_percent]);
}

const examined = async (cluster) =>
  (await call(cluster, "GET", "waiting_rooms/doctor")).result.usage;

clusterTest(
  "80 and 95 % of the plan are told, once each",
  { ...options, vars: USAGE },
  async (cluster) => {
    receiver.requests = [];
    cloudflare.questions = [];
    // Early in a day, so that no other begins on the way.
    await cluster.advance(DAY_MS - (cluster.clock.now() % DAY_MS) + STEP_MS, STEP_MS);
    const body = { url: `https://${HOOKS}/plan`, topics: ["quota"] };
    await call(cluster, "POST", `${ROOMS}/${shop.id}/webhooks`, body);
    const deaf = { url: `https://${HOOKS}/deaf`, topics: ["save"] };
    await call(cluster, "POST", `${ROOMS}/${quiet.id}/webhooks`, deaf);
    await cluster.advance(10_000);
    assert.equal((await examined(cluster)).checked_at, null);
    await look(cluster, 10);
    const [{ authorization, query }] = cloudflare.questions;
    assert.equal(authorization, "Bearer a-token");
    assert.match(query, /accountTag: "a1"/);
    const { parts } = await examined(cluster);
    assert.deepEqual(parts.map(({ of, used }) => [of, used]), [
      ["requests", 10],
      ["object_calls", 0],
    ]);
    await look(cluster, 80_000);
    assert.deepEqual(await messages(1), [["quota_reached", "requests", 80]]);
    await look(cluster, 81_000);
    await look(cluster, 96_000);
    const both = [
      ["quota_reached", "requests", 80],
      ["quota_reached", "requests", 96],
    ];
    assert.deepEqual(await messages(2), both);

    // Cloudflare fails: the last numbers stand, with the reason, and visitors enter.
    await look(cluster, 99_000, 500);
    const failed = await examined(cluster);
    assert.match(failed.problem, /status 500/);
    assert.equal(failed.parts[0].used, 96_000);
    const visitor = new Visitor(cluster, { name: "visitor", host: shop.host });
    await visitor.visit();
    assert.equal(visitor.seen, "origin");
    const metrics = await cluster.send("ams-1", {
      host: "localhost",
      path: "/_waiting-room/metrics",
      headers: OWNER,
    });
    assert.match(metrics.body, /^waiting_room_plan_used\{of="requests"\} 96000$/m);
    assert.match(metrics.body, /^waiting_room_plan_age_seconds \d+$/m);

    await cluster.advance(DAY_MS, STEP_MS);
    await look(cluster, 5);
    assert.deepEqual(await messages(3), [...both, ["quota_renewed", "requests", 0]]);
    assert.deepEqual(receiver.bodies("/deaf"), []);
  },
);

clusterTest("without a token nothing is asked and nobody called", options, async (cluster) => {
  cloudflare.questions = [];
  const before = await cluster.door();
  await cluster.schedule("ams-1");
  const { calls, began } = await cluster.door();
  assert.deepEqual([calls, began], [before.calls, before.began]);
  assert.deepEqual(cloudflare.questions, []);
  assert.equal(await examined(cluster), null);
});
