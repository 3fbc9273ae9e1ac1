/**
 * Alerts by e-mail: a webhook with the format email sends by Cloudflare's binding, seldom, and says
 * why if it cannot.
 */

import assert from "node:assert/strict";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { ROOMS, call, refused } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { room } from "../harness/rooms.mjs";
import { startReceiver } from "../harness/webhook-receiver.mjs";

const shop = room({ name: "shop", total_active_users: 2 });
const ROOM = `${ROOMS}/${shop.id}`;
const PATH = `${ROOM}/webhooks`;
const FROM = "waiting-room@shop.example";
const TO = "ops@shop.example";
const ADMIN_HOSTS = "localhost,*.workers.dev,room-admin.shop.example";
const mailbox = await startReceiver();
after(() => mailbox.stop());
const options = {
  rooms: [shop],
  build: "debug",
  outside: { "mail.example": mailbox.port },
  vars: { EMAIL_FROM: FROM, ADMIN_HOSTS },
  bound: { serviceBindings: { EMAIL: { name: "origin", entrypoint: "Mail" } } },
  cloudflareAlone: "there is no binding for e-mails",
};

/** Makes a webhook that sends e-mails, and forgets those before. */
async function made(cluster, topics) {
  mailbox.requests = [];
  mailbox.statuses = [];
  const body = { format: "email", url: `mailto:${TO}`, topics };
  return (await call(cluster, "POST", PATH, body)).result;
}

const tried = (cluster, { id }) => call(cluster, "POST", `${PATH}/${id}/test`);

/** Waits for what became of the last message. */
async function lastOf(cluster, { id }, isMeant = (last) => last) {
  for (let left = 400; left > 0; left -= 1) {
    const { last_delivery: last } = (await call(cluster, "GET", `${PATH}/${id}`)).result;
    if (last && isMeant(last)) return last;
    await sleep(50);
  }
  return assert.fail("nothing was sent");
}

clusterTest("a test is one e-mail in plain text, without a visitor", options, async (cluster) => {
  const hook = await made(cluster, ["queueing"]);
  assert.equal(hook.url, `mailto:${TO}`);
  await tried(cluster, hook);
  const last = await lastOf(cluster, hook);
  assert.deepEqual([last.state, last.http_status, last.error], ["delivered", null, null]);
  const [{ from, to, subject, text }, ...others] = mailbox.bodies("/mail");
  assert.deepEqual([from, to, others], [FROM, TO, []]);
  assert.equal(subject, "Waiting room shop: test");
  assert.match(text, /^\d{4}-\d\d-\d\d \d\d:\d\d UTC\nWaiting room shop: a test\. 0 of 2 inside/);
  const address = `https://room-admin.shop.example/_waiting-room/#/room/${shop.zone_id}/${shop.id}`;
  assert.ok(text.includes(`\n\n${address}\n\n`), text);
  for (const url of ["mailto:a@b.example,c@d.example", "https://hooks.example/", TO]) {
    await refused(cluster, 400, "POST", PATH, { format: "email", url });
  }
});

const seldom = "what happens within five minutes of an e-mail comes together in the next one";
clusterTest(seldom, options, async (cluster) => {
  const hook = await made(cluster, ["hold", "event"]);
  await cluster.advance(6_000);
  const until = async (count) => {
    for (let left = 400; left > 0 && mailbox.requests.length < count; left -= 1) await sleep(50);
    assert.equal(mailbox.requests.length, count);
  };
  await call(cluster, "PATCH", ROOM, { queue_all: true });
  await cluster.advance(90_000);
  await until(1);
  const [first] = mailbox.bodies("/mail");
  assert.equal(first.subject, "Waiting room shop: hold started");
  assert.match(first.text, /Waiting room shop: it is held: nobody new enters\. 0 in line/);
  const at = (seconds) => new Date(cluster.clock.now() + seconds * 1_000).toISOString();
  const event = { name: "sale", event_start_time: at(20), event_end_time: at(80) };
  await call(cluster, "POST", `${ROOM}/events`, event);
  await call(cluster, "PATCH", ROOM, { queue_all: false });
  await cluster.advance(150_000);
  assert.equal(mailbox.requests.length, 1, "the next comes too soon");
  const waiting = (await call(cluster, "GET", `${PATH}/${hook.id}`)).result;
  assert.equal(waiting.pending, 3);
  await cluster.advance(200_000);
  await until(2);
  const [, second] = mailbox.bodies("/mail");
  assert.equal(second.subject, "Waiting room shop: 3 messages");
  for (const said of ["event sale has started", "event sale is over", "it is not held any more"]) {
    assert.ok(second.text.includes(said), second.text);
  }
  const { pending } = (await call(cluster, "GET", `${PATH}/${hook.id}`)).result;
  assert.equal(pending, 0);
});

clusterTest("what Cloudflare refuses is said, and tried again", options, async (cluster) => {
  const hook = await made(cluster, ["hold"]);
  await cluster.advance(6_000);
  mailbox.statuses = [400];
  await call(cluster, "PATCH", ROOM, { queue_all: true });
  await cluster.advance(70_000);
  const last = await lastOf(cluster, hook, ({ state }) => state !== "delivered");
  assert.equal(last.state, "retrying");
  assert.equal(last.error, "Cloudflare did not take the e-mail: E_SENDER_NOT_VERIFIED");
  await cluster.advance(60_000);
  const { attempts } = await lastOf(cluster, hook, ({ state }) => state === "delivered");
  assert.equal(attempts, 2);
  assert.equal(cluster.log.count("nobody@shop.example") + cluster.log.count(TO), 0);
});

for (const [what, more] of [
  ["the binding", { bound: {} }],
  ["EMAIL_FROM", { vars: { ADMIN_HOSTS } }],
]) {
  clusterTest(`without ${what} nothing is sent, and it says so`, { ...options, ...more }, async (
    cluster,
  ) => {
    const hook = await made(cluster, ["hold"]);
    await tried(cluster, hook);
    const { state, error } = await lastOf(cluster, hook);
    const why = "this deployment has no binding EMAIL, or no EMAIL_FROM";
    assert.deepEqual([state, error, mailbox.requests], ["given_up", why, []]);
  });
}

const email = { send_email: [{ name: "EMAIL", allowed_destination_addresses: [TO] }] };
const real = "Miniflare's own binding takes what is sent, and only for whom it may";
clusterTest(real, { ...options, bound: { email } }, async (cluster) => {
  const hook = await made(cluster, ["hold"]);
  await tried(cluster, hook);
  assert.equal((await lastOf(cluster, hook)).state, "delivered");
  const url = "mailto:other@shop.example";
  await call(cluster, "PATCH", `${PATH}/${hook.id}`, { url });
  await tried(cluster, hook);
  const { error } = await lastOf(cluster, hook, ({ state }) => state === "given_up");
  assert.match(error, /^Cloudflare did not take the e-mail: /);
});
