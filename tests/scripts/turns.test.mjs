/** The messages about visitors whose turn is near: pure, so they are tested without a Worker. */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { turnBody } from "../../webhooks/body.js";
import { forget, open, shorten, take } from "../../webhooks/shares.js";
import { added, answered, minutesLeft, taken } from "../../webhooks/turns.js";

const HOOK = { id: "a", topics: ["queueing", "turn"] };
const NOBODY = () => false;
const turn = (id, contact = id, wait_s = 240) => {
  return { id, contact_id: `c ${contact}`, contact, wait_s };
};
/** What the storage of an object offers, with a database in memory. */
const sqlInMemory = () => {
  const database = new DatabaseSync(":memory:");
  const exec = (text, ...values) => {
    const statement = database.prepare(text);
    const rows = /^SELECT/.test(text) ? statement.all(...values) : [];
    if (rows.length === 0) statement.run(...values);
    return { toArray: () => rows };
  };
  return { exec };
};
const ids = (turns) => turns.map(({ id, hook }) => `${hook}${id}`);

test("each webhook that names turns gets one message for a visitor", () => {
  const hooks = [HOOK, { id: "b", topics: ["save"] }, { id: "c", topics: ["turn"] }, { id: "d" }];
  const one = added([], 0, turn("1"), hooks, NOBODY);
  assert.deepEqual(ids(one), ["a1", "c1"]);
  assert.deepEqual(added(one, 9, turn("1", "other"), hooks, NOBODY), one, "the same visitor");
  assert.deepEqual(ids(added(one, 9, turn("2"), hooks, NOBODY)), ["a1", "c1", "a2", "c2"]);
  const told = added([], 0, turn("3"), hooks, (known) => known === "a 3");
  assert.deepEqual(ids(told), ["c3"], "it is remembered");
  assert.deepEqual(added([], 0, turn("3"), [HOOK], () => true), [], "it was sent");
  assert.equal(added([], 0, turn("1"), [{ id: "b", topics: ["save"] }], NOBODY), undefined);
});

test("a mailbox has three shares for one network, and a place has one", () => {
  const sql = sqlInMemory();
  open(sql);
  const ask = (id, mailbox, now = 0) => take(sql, now, { id, contact_id: mailbox });
  const wins = ["1", "2", "3", "4", "1"].map((id) => ask(id, "ann"));
  assert.deepEqual(wins, [true, true, true, false, true]);
  assert.ok(ask("5", "ann elsewhere"), "another network has its own shares");
  assert.ok(ask("1", "bob") && ask("4", "ann"), "whoever types another address leaves the first");
  assert.ok(!ask("1", "ann") && ask("6", "bob") && ask("7", "bob") && !ask("8", "bob"));
  assert.ok(!ask("2", "") && ask("8", "ann"), "what is taken back is free");
  shorten(sql, "3", 1_000);
  assert.ok(!ask("9", "ann", 999) && ask("9", "ann", 1_000), "after the message it is free again");
  assert.ok(!ask("1", "ann", 21_599_999) && ask("1", "ann", 21_600_000), "after six hours too");
  forget(sql);
  open(sql);
  assert.ok(ask("1", "ann") && ask("2", "ann") && ask("3", "ann"));
});

test("no more than a thousand wait, and five are under way", () => {
  let turns = [];
  for (let at = 0; at < 1_000; at += 1) turns = added(turns, 0, turn(`${at}`), [HOOK], NOBODY);
  assert.equal(turns.length, 1_000);
  assert.equal(added(turns, 0, turn("1000"), [HOOK], NOBODY), undefined, "it is not taken");
  assert.deepEqual(added(turns, 0, turn("999"), [HOOK], NOBODY), turns, "it is taken already");
  const both = [HOOK, { id: "b", topics: ["turn"] }];
  assert.equal(added(turns.slice(1), 0, turn("x"), both, NOBODY), undefined, "one would be lost");
  const first = taken(turns, 0);
  assert.deepEqual(ids(first.due), ["a0", "a1", "a2", "a3", "a4"]);
  assert.deepEqual(taken(first.turns, 0).due, [], "while they are under way");
  const [done] = first.due;
  const next = answered(first.turns, 1, done, true);
  assert.equal(next.length, 999);
  assert.deepEqual(ids(taken(next, 1).due), ["a5"]);
});

test("a message is sent again after a while, until the turn and for a minute at least", () => {
  const attempts = (wait_s) => {
    let turns = added([], 0, turn("1", "1", wait_s), [HOOK], NOBODY);
    const at = [];
    for (let now = 0; turns.length > 0 && now < 3_600_000; now += 1_000) {
      const { due, turns: kept } = taken(turns, now);
      turns = kept;
      for (const message of due) {
        at.push(now / 1_000);
        turns = answered(turns, now, message, false);
      }
    }
    return at;
  };
  assert.deepEqual(attempts(60), [0, 5, 15, 35, 55]);
  assert.deepEqual(attempts(0), [0, 5, 15, 35, 55]);
  assert.equal(attempts(300).at(-1), 295);
});

test("a message that is late says fewer minutes", () => {
  const [message] = added([], 0, turn("1", "a@b.example", 290), [HOOK], NOBODY);
  assert.equal(minutesLeft(message, 0), 5);
  assert.equal(minutesLeft(message, 51_000), 4);
  assert.equal(minutesLeft(message, 900_000), 1);
  const room = { id: "r", zone: "z", name: "shop" };
  const { summary, data, id } = JSON.parse(turnBody(message, 4, room));
  assert.equal(summary, "Waiting room shop: a visitor's turn is in about 4 min.");
  const { contact, minutes, visitor } = data;
  assert.deepEqual([id, visitor, contact, minutes], ["msg_1", "1", "a@b.example", 4]);
});
