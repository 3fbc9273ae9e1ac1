/** Alerts by e-mail: what they say, and when one goes out, without any object. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { adminOf, gathered, mailOf } from "../../webhooks/mail.js";
import { EMPTY, MAILED, NO_ANSWER, answered, pushed, taken } from "../../webhooks/outbox.js";

const NOON = Date.parse("2026-11-24T12:00:00Z");
const MINUTE_MS = 60_000;
const numbers = { active: 5, waiting: 7, told_wait_s: 60, active_limit: 9, new_limit: 3 };
const notice = { hook: "a", topic: "hold", kind: "hold_started", event: null, at: NOON, numbers };
const message = (id, more) => ({ id, notice: { ...notice, ...more } });
const WEBHOOK = { fields: { url: "mailto:ops@shop.example" } };
const ROOM = { id: "r", zone: "z", name: "shop" };
const FROM = "room@shop.example";

test("one message names what it is, and several their number", () => {
  const one = mailOf([message("1")], WEBHOOK, ROOM, FROM, "admin.example");
  assert.deepEqual([one.from, one.to], [FROM, "ops@shop.example"]);
  assert.equal(one.subject, "Waiting room shop: hold started");
  const [said, link, footer, ...rest] = one.text.split("\n\n");
  assert.match(said, /^2026-11-24 12:00 UTC\nWaiting room shop: it is held: nobody new enters\./);
  assert.equal(link, "https://admin.example/_waiting-room/#/room/z/r");
  assert.match(footer, /at most one e-mail in 5 minutes/);
  assert.deepEqual(rest, []);
  const event = { id: "e", name: "sale" };
  const two = mailOf([message("1"), message("2", { event })], WEBHOOK, ROOM, FROM);
  assert.equal(two.subject, "Waiting room shop: 2 messages");
  assert.match(two.text, /it is held while event sale is on:/);
  assert.ok(!two.text.includes("https://"), "an address of nowhere");
});

test("a name cannot end a line of the head, or hide in the text", () => {
  const name = "shop\r\nBcc: all@shop.example\u202eevil\u2028x";
  const event = { id: "e", name };
  const mail = mailOf([message("1", { event })], WEBHOOK, { ...ROOM, name }, FROM);
  for (const text of [mail.subject, mail.text]) {
    assert.ok(!/[\r\u202e\u2028]/.test(text), text);
    assert.ok(!/^Bcc:/m.test(text), text);
  }
  assert.ok(!mail.subject.includes("\n"));
});

test("the link leads to the first host that has a name", () => {
  const check = (ADMIN_HOSTS, want) => assert.equal(adminOf({ ADMIN_HOSTS }), want, ADMIN_HOSTS);
  check("localhost,127.0.0.1,*.workers.dev", undefined);
  check("localhost, room-admin.shop.example,other.example", "room-admin.shop.example");
  check(undefined, undefined);
});

test("a second e-mail waits for five minutes, and has all that came meanwhile", () => {
  let outbox = pushed(EMPTY, NOON, [message("1")]);
  const go = (now, status) => {
    const { due, outbox: next } = taken(outbox, now);
    const found = gathered(next, now, "a", due);
    outbox = found.outbox;
    for (const one of found.together) outbox = answered(outbox, now, one, status);
    return found.together.map(({ id }) => id);
  };
  assert.deepEqual(go(NOON, MAILED), ["1"]);
  outbox = pushed(outbox, NOON + MINUTE_MS, [message("2")]);
  assert.deepEqual(go(NOON + MINUTE_MS, MAILED), []);
  outbox = pushed(outbox, NOON + 2 * MINUTE_MS, [message("3"), message("4", { hook: "b" })]);
  assert.deepEqual(go(NOON + 2 * MINUTE_MS, MAILED), []);
  const mine = outbox.messages.filter((one) => one.notice.hook === "a");
  assert.deepEqual(mine.map(({ attempts }) => attempts), [0, 0], "waiting is no attempt");
  assert.deepEqual(go(NOON + 5 * MINUTE_MS - 1, MAILED), []);
  assert.deepEqual(go(NOON + 5 * MINUTE_MS, NO_ANSWER), ["2", "3"]);
  const [{ attempts, next_at: next }] = outbox.messages;
  assert.equal(attempts, 1);
  assert.ok(next > NOON + 5 * MINUTE_MS, "a failure is tried again later");
  assert.deepEqual(go(next, MAILED), ["2", "3"]);
  assert.deepEqual(outbox.messages.map(({ id }) => id), ["4"], "another webhook's is its own");
});

test("an e-mail of a clock that was a year ahead delays none", () => {
  const ahead = NOON + 365 * 24 * 60 * MINUTE_MS;
  const sent = taken(pushed(EMPTY, ahead, [message("1")]), ahead);
  const outbox = answered(sent.outbox, ahead, sent.due[0], MAILED);
  const next = taken(pushed(outbox, NOON, [message("2")]), NOON);
  const { together } = gathered(next.outbox, NOON, "a", next.due);
  assert.deepEqual(together.map(({ id }) => id), ["2"]);
});

test("a test in between delays nothing", () => {
  const tried = pushed(EMPTY, NOON, [message("t", { kind: "test" })]);
  const { due, outbox } = taken(tried, NOON);
  const after = pushed(answered(outbox, NOON, due[0], MAILED), NOON, [message("1")]);
  const next = taken(after, NOON);
  const { together } = gathered(next.outbox, NOON, "a", next.due);
  assert.deepEqual(together.map(({ id }) => id), ["1"]);
});
