/**
 * Webhooks: who is told what happens in a room, also when a receiver fails, hangs or redirects; and
 * a room without any costs nothing for it.
 */

import assert from "node:assert/strict";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { ROOMS, call, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { Crowd } from "../harness/crowd.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor } from "../harness/visitor.mjs";
import { isGenuine, startReceiver } from "../harness/webhook-receiver.mjs";

const HOST = "hooks.example";
const shop = room({ name: "shop", total_active_users: 2, session_duration: 5 });
const PATH = `${ROOMS}/${shop.id}/webhooks`;
const receiver = await startReceiver();
after(() => receiver.stop());
const options = {
  rooms: [shop],
  colos: { AMS: 1 },
  build: "debug",
  outside: { [HOST]: receiver.port },
};

/** Makes a webhook that is told at this path of the receiver. */
async function made(cluster, path, fields) {
  receiver.requests = [];
  receiver.statuses = [];
  const body = { url: `https://${HOST}${path}`, ...fields };
  const { result } = await call(cluster, "POST", PATH, body);
  return result;
}

/** Waits until `found` returns something, for 40 s of real time at most. */
async function until(found) {
  for (let left = 800; left > 0; left -= 1) {
    const value = await found();
    if (value) return value;
    await sleep(50);
  }
  return assert.fail("it has not come");
}

const shown = async (cluster, { id }) => (await call(cluster, "GET", `${PATH}/${id}`)).result;
const types = (path) => receiver.bodies(path).map(({ type }) => type);

clusterTest("a test is sent at once, signed, and its outcome told", options, async (cluster) => {
  const hook = await made(cluster, "/one");
  assert.deepEqual([hook.last_delivery, hook.pending], [null, 0]);
  await call(cluster, "POST", `${PATH}/${hook.id}/test`);
  const [request] = await until(() => receiver.requests.length > 0 && receiver.requests);
  const now = cluster.clock.now();
  assert.ok(isGenuine(request, hook.secret, now));
  assert.ok(!isGenuine({ ...request, text: `${request.text} ` }, hook.secret, now));
  assert.ok(!isGenuine(request, hook.secret, now + 600_000), "an old one is not good again");
  const { id, type, data } = JSON.parse(request.text);
  assert.deepEqual([id, type], [request.headers["webhook-id"], "test"]);
  assert.deepEqual([data.room_name, data.total_active_users], ["shop", 2]);
  const { last_delivery: last } = await until(async () => {
    const one = await shown(cluster, hook);
    return one.last_delivery && one;
  });
  assert.deepEqual([last.state, last.http_status, last.attempts], ["delivered", 204, 1]);

  receiver.statuses = [302];
  await call(cluster, "POST", `${PATH}/${hook.id}/test`);
  const { last_error: failed } = await until(async () => {
    const one = await shown(cluster, hook);
    return one.last_error && one;
  });
  assert.deepEqual([failed.state, failed.http_status], ["given_up", 302]);
  assert.deepEqual(receiver.bodies("/elsewhere"), [], "a redirect was followed");
  await refused(cluster, 404, "POST", `${PATH}/${"9".repeat(32)}/test`);
  await refused(cluster, 400, "POST", PATH, { url: "https://127.0.0.1/" });
});

clusterTest("a line is told, again after failures, and none waits", options, async (cluster) => {
  const hook = await made(cluster, "/two", { topics: ["queueing"] });
  await cluster.advance(6_000);
  receiver.statuses = [500, "hang"];
  const crowd = new Crowd(cluster, { count: 4, host: shop.host });
  await crowd.arrive();
  await crowd.wait(45_000);
  await until(() => receiver.requests.length >= 2);
  const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
  assert.equal(new Set(ids).size, 1, "an attempt has the id of the first");
  await cluster.advance(60_000);
  await until(() => receiver.requests.length >= 3);
  assert.deepEqual(new Set(types("/two")), new Set(["queueing_started"]));
  const last = await until(async () => {
    const { last_delivery } = await shown(cluster, hook);
    return last_delivery?.state === "delivered" && last_delivery;
  });
  assert.ok(last.attempts >= 3);
});

clusterTest("visitors are answered while a receiver hangs", options, async (cluster) => {
  const hook = await made(cluster, "/hangs");
  receiver.statuses = ["hang"];
  await call(cluster, "POST", `${PATH}/${hook.id}/test`);
  await until(() => receiver.requests.length > 0);
  const visitors = [1, 2, 3].map((name) => new Visitor(cluster, { name, host: shop.host }));
  for (const visitor of visitors) await visitor.visit();
  assert.deepEqual(visitors.map(({ seen }) => seen), ["origin", "origin", "queue"]);
  const { pending, last_delivery: last } = await shown(cluster, hook);
  assert.deepEqual([pending, last], [1, null], "meanwhile it still hangs");
});

clusterTest("Slack and PagerDuty get what they take", options, async (cluster) => {
  const slack = await made(cluster, "/slack", { format: "slack" });
  const routing_key = "0123456789abcdef0123456789abcdef";
  const pagerduty = await made(cluster, "/pagerduty", { format: "pagerduty", routing_key });
  for (const { id } of [slack, pagerduty]) await call(cluster, "POST", `${PATH}/${id}/test`);
  await until(() => receiver.requests.length >= 2);
  const [message, ...others] = receiver.bodies("/slack");
  assert.deepEqual([Object.keys(message), others], [["text"], []]);
  assert.match(message.text, /^Waiting room shop: a test\./);
  const [event] = receiver.bodies("/pagerduty");
  assert.deepEqual([event.routing_key, event.event_action], [routing_key, "trigger"]);
  const { summary, source, severity } = event.payload;
  assert.deepEqual([summary, source, severity], [message.text, "shop", "info"]);
});

clusterTest("a sleeping room tells an event's phases", options, async (cluster) => {
  await made(cluster, "/three", { topics: ["event"] });
  const now = cluster.clock.now();
  const at = (minutes) => new Date(now + minutes * 60_000).toISOString();
  const event = { name: "sale", event_start_time: at(2), event_end_time: at(4) };
  await call(cluster, "POST", `${ROOMS}/${shop.id}/events`, event);
  await cluster.advance(180_000);
  await until(() => types("/three").includes("event_started"));
  await cluster.advance(120_000);
  await until(() => types("/three").includes("event_ended"));
  assert.deepEqual(types("/three"), ["event_started", "event_ended"]);
});

clusterTest("a hold by the API is told though nobody comes", options, async (cluster) => {
  await made(cluster, "/hold", { topics: ["hold"] });
  await cluster.advance(10_000);
  for (const [held, told] of [[true, "hold_started"], [false, "hold_ended"]]) {
    await cluster.killObjects();
    await call(cluster, "PATCH", `${ROOMS}/${shop.id}`, { queue_all: held });
    for (let minutes = 0; minutes < 3; minutes += 1) await cluster.advance(60_000);
    await until(() => types("/hold").includes(told));
  }
  assert.deepEqual(types("/hold"), ["hold_started", "hold_ended"]);
});

clusterTest("the end of a line is told though nobody comes again", options, async (cluster) => {
  await made(cluster, "/four", { topics: ["queueing"] });
  await cluster.advance(6_000);
  const crowd = new Crowd(cluster, { count: 4, host: shop.host });
  await crowd.arrive();
  await crowd.wait(30_000);
  await until(() => types("/four").includes("queueing_started"));
  // All leave, and the objects sleep whenever they can.
  for (let minutes = 0; minutes < 20; minutes += 2) {
    await cluster.advance(120_000);
    await cluster.killObjects();
  }
  await until(() => types("/four").includes("queueing_stopped"));
  assert.deepEqual(types("/four"), ["queueing_started", "queueing_stopped"]);
});

clusterTest("after an outage no beginning comes after its end", options, async (cluster) => {
  const topics = ["queueing"];
  await made(cluster, "/log", { topics });
  await made(cluster, "/chat", { topics, format: "slack" });
  await made(cluster, "/incidents", { topics, format: "pagerduty", routing_key: "0".repeat(32) });
  await cluster.advance(6_000);
  receiver.statuses = Array.from({ length: 1_000 }, () => 503);
  const crowd = new Crowd(cluster, { count: 4, host: shop.host });
  await crowd.arrive();
  await crowd.wait(30_000);
  await until(() => receiver.requests.length >= 3);
  for (let minutes = 0; minutes < 20; minutes += 2) await cluster.advance(120_000);
  await until(() => types("/log").includes("queueing_stopped"));
  receiver.requests = [];
  receiver.statuses = [];
  for (let hours = 0; hours < 4; hours += 1) await cluster.advance(3_600_000, 30_000);
  await until(() => types("/log").length >= 2);
  assert.deepEqual(new Set(types("/log")), new Set(["queueing_started", "queueing_stopped"]));
  const [said, ...more] = receiver.bodies("/chat").map(({ text }) => text);
  assert.match(said, /^Waiting room shop: nobody waits\..* \(\d{4}-\d\d-\d\d \d\d:\d\d UTC\)$/);
  assert.deepEqual(more, []);
  const actions = receiver.bodies("/incidents").map(({ event_action: action }) => action);
  assert.deepEqual(actions, ["resolve"]);
});

clusterTest("a queue page is no receiver that has taken a message", options, async (cluster) => {
  const hook = await made(cluster, "/covered", { topics: ["event"] });
  const outcome = async (headers) => {
    receiver.headers = headers;
    receiver.statuses = [200];
    const { last_delivery: before } = await shown(cluster, hook);
    await call(cluster, "POST", `${PATH}/${hook.id}/test`);
    const { last_delivery: last } = await until(async () => {
      const one = await shown(cluster, hook);
      return one.last_delivery?.id !== before?.id && one;
    });
    receiver.headers = {};
    return last.error ?? last.state;
  };
  const isLength = ([name]) => ["content-length", "transfer-encoding"].includes(name);
  const answered = async () => {
    const request = { host: shop.host, path: "/", method: "POST", body: "{}" };
    const { headers } = await cluster.send(cluster.isolateNear("AMS"), request);
    return Object.fromEntries(Object.entries(headers).filter((header) => !isLength(header)));
  };
  // Two enter, and their answers have a ticket too.
  for (let place = 0; place < shop.total_active_users; place += 1) {
    assert.equal(await outcome(await answered()), "delivered");
  }
  assert.match(await outcome(await answered()), /queue page: use a url that no room covers/);
  const change = async (fields) => {
    await call(cluster, "PATCH", `${ROOMS}/${shop.id}`, fields);
    await cluster.advance(6_000);
    return outcome(await answered());
  };
  assert.match(await change({ queueing_method: "reject" }), /queue page/);
  const own = { queueing_method: "fifo", custom_page_html: "<p>{{waitTime}}" };
  assert.match(await change(own), /queue page/);
});
