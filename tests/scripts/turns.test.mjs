/** The messages about visitors whose turn is near: pure, so they are tested without a Worker. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { turnBody } from "../../webhooks/body.js";
import { added, answered, minutesLeft, namesOf, taken } from "../../webhooks/turns.js";

const HOOK = { id: "a", topics: ["queueing", "turn"] };
const NOBODY = () => false;
const turn = (id, contact = id, wait_s = 240) => {
  return { id, contact_id: `c ${contact}`, contact, wait_s };
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
  assert.deepEqual(added([], 0, turn("1"), [], NOBODY), []);
});

test("a mailbox gets three messages from one network, and each place its own", () => {
  const known = new Set();
  const isKnown = (name) => known.has(name);
  let turns = [];
  const give = (id, mailbox) => (turns = added(turns, 0, turn(id, mailbox), [HOOK], isKnown));
  give("1", "ann");
  for (const message of turns) for (const name of namesOf(message)) known.add(name);
  turns = [];
  for (const id of ["1", "2", "3", "4", "5"]) give(id, "ann");
  assert.deepEqual(ids(turns), ["a2", "a3"], "one was told before, and two are");
  give("6", "ann elsewhere");
  assert.deepEqual(ids(turns), ["a2", "a3", "a6"], "another network has its own share");
  turns = answered(turns, 0, turns[0], true);
  give("7", "ann");
  assert.deepEqual(ids(turns), ["a3", "a6", "a7"], "what nobody took is free again");
});

test("no more than a thousand wait, and four are under way", () => {
  let turns = [];
  for (let at = 0; at < 1_100; at += 1) turns = added(turns, 0, turn(`${at}`), [HOOK], NOBODY);
  assert.equal(turns.length, 1_000);
  const first = taken(turns, 0);
  assert.deepEqual(ids(first.due), ["a0", "a1", "a2", "a3"]);
  assert.deepEqual(taken(first.turns, 0).due, [], "while they are under way");
  const [done] = first.due;
  const next = answered(first.turns, 1, done, true);
  assert.equal(next.length, 999);
  assert.deepEqual(ids(taken(next, 1).due), ["a4"]);
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
