/**
 * A visitor who wants it is told before the turn by the owner's own service: once, whatever happens
 * to isolates and objects, and what was typed is stored nowhere.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after } from "node:test";

import { ROOMS, call } from "../harness/api.mjs";
import { clusterTest } from "../harness/cluster-test.mjs";
import { askAsApp, sendForm } from "../harness/place.mjs";
import { room } from "../harness/rooms.mjs";
import { Visitor, pass, visitorInside } from "../harness/visitor.mjs";
import { isGenuine, startReceiver } from "../harness/webhook-receiver.mjs";

const MINUTE_MS = 60_000;
const HOST = "hooks.example";
const FORM = "Get a message before your turn";
const GIVEN = "we will send one message to:";
const SENT = "A message is on its way to:";
const FULL = "We will not send a message there: three places already use this address or number.";
const CONTACT = "ann+line@mail.example";
const COOKIE = "__cfwaitingroom-contact";
const lounge = room({
  name: "lounge",
  total_active_users: 1,
  session_duration: 2,
  turn_notice: "email_or_phone",
  show_position: true,
});
const languages = path.join(import.meta.dirname, "..", "..", "templates", "languages");
const TAGS = fs.readdirSync(languages).map((name) => path.basename(name, ".json"));
/** The page with every form, in any language. */
const PAGE_BYTES_MAX = 20 * 1_024;
const PATH = `${ROOMS}/${lounge.id}/webhooks`;
const receiver = await startReceiver();
after(() => receiver.stop());
const options = {
  rooms: [lounge],
  colos: { AMS: 2 },
  build: "debug",
  outside: { [HOST]: receiver.port },
};

/** Makes a webhook that is told of turns. Visitors wait meanwhile, until every isolate knows it. */
async function told(cluster, topics = ["turn"], waiting = []) {
  receiver.requests = [];
  receiver.statuses = [];
  const body = { url: `https://${HOST}/turns`, topics };
  const { result } = await call(cluster, "POST", PATH, body);
  await pass(cluster, 8_000, waiting);
  return result;
}

/** A visitor who comes from one address. */
class Guest extends Visitor {
  constructor(cluster, { address, ...options }) {
    super(cluster, options);
    this.address = address;
  }

  async visit(request = {}) {
    const headers = { "cf-connecting-ip": this.address, ...request.headers };
    return await super.visit({ ...request, headers });
  }
}

/** Somebody is inside, and so many wait, of whom the last has a wait of more than five minutes. */
async function line(cluster, count = 6, addressOf = (at) => `192.0.2.${at}`) {
  await visitorInside(cluster, lounge);
  const waiting = [];
  for (let at = 1; at <= count; at += 1) {
    const of = { name: `w${at}`, host: lounge.host, address: addressOf(at) };
    const visitor = new Guest(cluster, of);
    await visitor.visit();
    assert.ok(visitor.waiting);
    waiting.push(visitor);
    await cluster.advance(1_000);
  }
  return waiting;
}

/** Waits until so many messages have come, while visitors wait. */
async function come(cluster, count, visitors) {
  await pass(cluster, 12 * MINUTE_MS, visitors, () => receiver.requests.length >= count);
  assert.equal(receiver.requests.length, count, "messages");
}

/** Waits until the last answers of a receiver have reached the object. */
const settle = (cluster) => cluster.rests();

clusterTest("a visitor is told once before the turn, and nobody else", options, async (cluster) => {
  await told(cluster, ["save"]);
  const waiting = await line(cluster);
  const last = waiting.at(-1);
  assert.ok(!(await last.visit()).body.includes(FORM), "nobody would be told");
  assert.equal((await askAsApp(last, { act: "tell", contact: CONTACT })).status, 409);
  const hook = await told(cluster, ["turn"], waiting);
  await pass(cluster, 25_000, waiting);
  const page = await last.visit();
  assert.ok(page.body.includes(FORM), page.body);
  const seen = new Set();
  for (const tag of TAGS) {
    const { body, headers } = await last.visit({ headers: { "accept-language": tag } });
    assert.ok(body.includes('name="contact"'), tag);
    seen.add(/<html lang="([^"]+)"/.exec(body)[1]);
    assert.match(headers["content-security-policy"], /^default-src 'none'; /);
    assert.ok(Buffer.byteLength(body) <= PAGE_BYTES_MAX, `${tag}: ${Buffer.byteLength(body)}`);
  }
  assert.equal(seen.size, TAGS.length);
  const wrong = await sendForm(last, { act: "tell", contact: "ann, bob@mail.example" });
  assert.match(wrong.body, /That did not work\. Please check what you typed/);
  assert.match(wrong.body, /<details class="next move" open>/);
  assert.equal(wrong.headers["set-cookie"], undefined);
  const given = await sendForm(last, { act: "tell", contact: ` ${CONTACT} ` });
  assert.deepEqual([given.status, given.headers.location], [303, `http://${lounge.host}/`]);
  const [cookie] = given.headers["set-cookie"];
  assert.match(cookie, /^__cfwaitingroom-contact=[\w-]{80,400}; .*Max-Age=3\d\d; HttpOnly/);
  assert.ok(!cookie.includes("ann") && !cookie.includes(btoa(CONTACT).slice(0, 8)));
  const shown = await last.visit();
  assert.ok(shown.body.includes(GIVEN) && !shown.body.includes(FORM));
  assert.match(shown.body, /ann&#43;line@mail\.example|ann\+line@mail\.example/);
  await come(cluster, 1, waiting);
  const [request] = receiver.requests;
  assert.ok(isGenuine(request, hook.secret, cluster.clock.now()));
  const { id, type, summary, data } = JSON.parse(request.text);
  assert.deepEqual([id, type], [request.headers["webhook-id"], "turn_near"]);
  const { contact, minutes, room_name: name, visitor } = data;
  assert.deepEqual([contact, name, id], [CONTACT, "lounge", `msg_${visitor}`]);
  assert.ok(minutes >= 3 && minutes <= 5, `${minutes} minutes before`);
  assert.match(summary, /^Waiting room lounge: a visitor's turn is in about \d min\.$/);
  assert.ok(!summary.includes(CONTACT));
  assert.ok((await last.visit()).body.includes(SENT));
  await pass(cluster, 12 * MINUTE_MS, waiting, () => last.inside);
  assert.ok(last.inside);
  assert.equal(receiver.requests.length, 1, "told more than once");
  const { result } = await call(cluster, "GET", `${PATH}/${hook.id}`);
  assert.deepEqual([result.last_delivery, result.last_error, result.pending], [null, null, 0]);
});

clusterTest("two tabs, dying isolates and objects: one message", options, async (cluster) => {
  await told(cluster);
  const waiting = await line(cluster);
  const last = waiting.at(-1);
  await sendForm(last, { act: "tell", contact: CONTACT });
  const headers = { cookie: last.cookies };
  // The other tab has the same cookies, and so has whoever copies them.
  const tab = new Visitor(cluster, { name: "tab", host: lounge.host });
  await tab.visit({ headers });
  const tabs = [...waiting, tab];
  await pass(cluster, 12 * MINUTE_MS, tabs, () => receiver.requests.length > 0);
  await settle(cluster);
  await cluster.killObjects("GlobalAggregator");
  await pass(cluster, 65_000, tabs);
  await cluster.restart();
  await pass(cluster, 65_000, tabs);
  const ids = new Set(receiver.requests.map((request) => request.headers["webhook-id"]));
  assert.deepEqual([ids.size, receiver.requests.length], [1, 1]);
});

clusterTest("what was lost with an object comes again", options, async (cluster) => {
  await told(cluster);
  const waiting = await line(cluster);
  const last = waiting.at(-1);
  await sendForm(last, { act: "tell", contact: "+49 (151) 1234567" });
  receiver.statuses = Array.from({ length: 100 }, () => 500);
  await come(cluster, 1, waiting);
  await settle(cluster);
  await cluster.killObjects("GlobalAggregator");
  receiver.statuses = [];
  await come(cluster, 2, waiting);
  const [first, second] = receiver.requests;
  assert.equal(first.headers["webhook-id"], second.headers["webhook-id"]);
  assert.equal(JSON.parse(second.text).data.contact, "+491511234567");
});

/** What a room's object answers to an isolate about somebody whose turn is near. */
async function handedOver(cluster, of) {
  const webhooks = `turn ${JSON.stringify(of)}`;
  const message = JSON.stringify({ v: 1, m: { webhooks } });
  const { m } = JSON.parse(await cluster.callObject("GlobalAggregator", lounge.id, message));
  return JSON.parse(m.webhooks);
}

const full = "the page promises nothing while the object takes no more";
clusterTest(full, options, async (cluster) => {
  await told(cluster);
  const waiting = await line(cluster);
  const last = waiting.at(-1);
  await sendForm(last, { act: "tell", contact: CONTACT });
  // Each takes its 10 s: messages that fail at once would be sent 30,000 times in these minutes.
  receiver.statuses = Array.from({ length: 1_000 }, () => "hang");
  const others = Array.from({ length: 1_000 }, (_, at) => {
    return { id: `v${at}`, contact_id: `m${at}`, contact: `a${at}@mail.example`, wait_s: 3_000 };
  });
  for (const of of others) assert.deepEqual(await handedOver(cluster, of), { taken: true });
  const more = { ...others[0], id: "more" };
  assert.deepEqual(await handedOver(cluster, more), { taken: false });
  assert.deepEqual(await handedOver(cluster, others[999]), { taken: true }, "it has that one");
  const isTold = () => receiver.requests.some(({ text }) => text.includes(CONTACT));
  await pass(cluster, 9 * MINUTE_MS, waiting, () => waiting[3].inside);
  assert.ok(waiting[3].inside && last.waiting, "the last has two minutes left");
  assert.ok((await last.visit()).body.includes(GIVEN));
  assert.ok(!isTold());
  receiver.statuses = [];
  await pass(cluster, 4 * MINUTE_MS, waiting, isTold);
  assert.ok(isTold() && last.waiting, "a later check-in has brought it");
  assert.ok((await last.visit()).body.includes(SENT));
});

clusterTest("it is tried again until the turn, and then forgotten", options, async (cluster) => {
  await told(cluster);
  // One more waits behind, so that the room is awake after the turn.
  const waiting = await line(cluster, 5);
  const [last, behind] = waiting.slice(-2);
  await sendForm(last, { act: "tell", contact: CONTACT });
  receiver.statuses = ["hang", ...Array.from({ length: 1_000 }, () => 503)];
  await come(cluster, 1, waiting);
  await come(cluster, 4, waiting);
  assert.ok(last.waiting, "somebody waits for a webhook");
  await pass(cluster, 12 * MINUTE_MS, waiting, () => last.inside);
  assert.ok(last.inside);
  await pass(cluster, 65_000, waiting);
  const tried = receiver.requests.length;
  await pass(cluster, 40_000, waiting);
  assert.ok(behind.waiting);
  assert.equal(receiver.requests.length, tried, "tried after the turn");
  assert.equal(cluster.log.count(CONTACT), 0, "it is in the log");
  let files = 0;
  await cluster.whileHalted((folder) => {
    for (const name of fs.readdirSync(folder, { recursive: true })) {
      const file = path.join(folder, name);
      if (!fs.statSync(file).isFile()) continue;
      files += 1;
      for (const text of [CONTACT, "mail.example"]) {
        assert.ok(!fs.readFileSync(file).includes(text), `it was stored in ${name}`);
      }
    }
  });
  assert.ok(files > 0);
});

clusterTest("it is taken back, and is of one place alone", options, async (cluster) => {
  await told(cluster);
  const waiting = await line(cluster);
  const [near, other] = waiting;
  const [far, last] = waiting.slice(-2);
  await pass(cluster, 65_000, waiting);
  // Of somebody near the head a message would come at once.
  assert.equal((await askAsApp(near, { act: "tell", contact: CONTACT })).status, 409);
  assert.ok(!(await near.visit()).body.includes(FORM));
  const foreign = { headers: { origin: "https://other.example" } };
  for (const act of ["tell", "tell-not"]) {
    const { status } = await askAsApp(last, { act, contact: CONTACT }, foreign);
    assert.equal(status, 403, act);
  }
  assert.deepEqual(await askAsApp(last, { act: "tell", contact: "x" }), {
    status: 400,
    error: "It cannot be read.",
  });
  assert.deepEqual(await askAsApp(last, { act: "tell", contact: CONTACT }), {
    status: 200,
    told: true,
  });
  assert.deepEqual(await askAsApp(far, { act: "tell", contact: CONTACT }), {
    status: 200,
    told: true,
  });
  // With another ticket a cookie means nothing.
  const { headers } = await other.visit({
    headers: { cookie: `${other.cookies}; ${COOKIE}=${last.cookie(COOKIE)}` },
  });
  assert.ok(!(headers["set-cookie"] ?? []).some((line) => line.startsWith(COOKIE)));
  assert.deepEqual(await askAsApp(far, { act: "tell-not" }), { status: 200, told: false });
  assert.equal(far.cookie(COOKIE), undefined);
  await pass(cluster, 12 * MINUTE_MS, waiting, () => last.inside);
  assert.equal(receiver.requests.length, 1, "of the last alone");
});

const hijacked = "an address that others have typed too is told for this place";
clusterTest(hijacked, options, async (cluster) => {
  await told(cluster);
  const [count, away] = [8, "198.51.100.7"];
  const addressOf = (at) => (at === count ? away : `203.0.113.${at}`);
  const waiting = await line(cluster, count, addressOf);
  const others = waiting.slice(-5, -1);
  const last = waiting.at(-1);
  const spellings = [
    ...["ann@bücher.example", "ANN@xn--bcher-kva.example"],
    ...["ann+1@BÜCHER.example", "a.nn@XN--bcher-kva.Example"],
  ];
  for (const [at, other] of others.slice(0, 3).entries()) {
    const { status } = await askAsApp(other, { act: "tell", contact: spellings[at] });
    assert.equal(status, 200, spellings[at]);
  }
  // The fourth place of that network is told at once that no message will come, and why.
  const fourth = others.at(-1);
  const full = await sendForm(fourth, { act: "tell", contact: spellings[3] });
  assert.equal(full.status, 200);
  assert.ok(full.body.includes(FULL) && full.body.includes(FORM), full.body);
  assert.equal(full.headers["set-cookie"], undefined);
  assert.deepEqual(await askAsApp(fourth, { act: "tell", contact: spellings[3] }), {
    status: 409,
    error: "No message will be sent: three places have this address or number.",
  });
  assert.ok(!(await fourth.visit()).body.includes(GIVEN));
  // Typed once more, or instead of another address, it is the same place's one share.
  assert.equal((await askAsApp(others[0], { act: "tell", contact: spellings[3] })).status, 200);
  assert.equal((await askAsApp(fourth, { act: "tell", contact: "bob@mail.example" })).status, 200);
  // Whoever takes it back leaves the share to the next.
  assert.equal((await askAsApp(others[0], { act: "tell-not" })).status, 200);
  assert.equal((await askAsApp(fourth, { act: "tell", contact: spellings[3] })).status, 200);
  assert.equal((await askAsApp(others[0], { act: "tell", contact: spellings[0] })).status, 409);
  const own = "Ann@bücher.example";
  assert.equal((await askAsApp(last, { act: "tell", contact: own })).status, 200);
  const contacts = () => receiver.requests.map(({ text }) => JSON.parse(text).data.contact);
  await pass(cluster, 20 * MINUTE_MS, waiting, () => last.inside);
  await settle(cluster);
  assert.ok(last.inside);
  const ofLast = contacts().filter((one) => one === own);
  assert.deepEqual(ofLast, [own], `only ${contacts()}`);
  assert.equal(contacts().length, 4, `${contacts()}: so many for one mailbox`);
});
