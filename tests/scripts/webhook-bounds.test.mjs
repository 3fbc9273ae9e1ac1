/** The bounds of what webhooks are told of, and of how often a message is sent again. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { EMPTY, answered, dueAt, pushed, taken, told } from "../../webhooks/outbox.js";
import { lookAt, watched } from "../../webhooks/watch.js";
import { HOOK, NOON, QUIET, SECOND_MS } from "../harness/sight.mjs";

/** What is told of a room that stays so for five minutes. */
function toldOf(sight) {
  const first = watched(undefined, { ...sight, now: NOON });
  const later = watched(first.told, { ...sight, now: NOON + 300 * SECOND_MS });
  return [...first.messages, ...later.messages].map(({ kind }) => kind);
}

test("what is at its bound is told no more than what is below it", () => {
  const check = (sight, ...want) => assert.deepEqual(toldOf({ ...QUIET, ...sight }), want);
  check({});
  check({ told_wait_s: 30 * 60 });
  check({ told_wait_s: 30 * 60 + 1 }, "told_wait_above");
  check({ told_wait_s: 60 * 60, hooks: [{ ...HOOK, topics: ["queueing"] }] });
  // A line is closed to newcomers, or somebody stands in it.
  check({ is_open: false }, "queueing_started");
  check({ waiting: 1 }, "queueing_started");
  check({ active: 106 }, "limit_exceeded");
  check({ active: 106, is_off: true });
});

test("a look is stored where something of it must be known later, and only there", () => {
  const first = watched(undefined, { ...QUIET, now: NOON });
  assert.ok(first.changed);
  const look = (told, sight) => watched(told, { ...QUIET, ...sight, now: NOON + SECOND_MS });
  assert.ok(!look(first.told, {}).changed);
  const closed = look(first.told, { is_open: false });
  assert.deepEqual([closed.messages, closed.changed], [[], true]);
});

test("a room whose webhooks are gone is looked at without any", () => {
  const sight = { ...QUIET, hooks: null, is_open: false, now: NOON };
  const { told: next, messages } = watched(undefined, sight);
  assert.deepEqual(messages, []);
  assert.equal(lookAt(next, sight, NOON), NOON + 15 * SECOND_MS);
});

const filled = (...ids) =>
  pushed(
    EMPTY,
    NOON,
    ids.map((id) => ({ id, notice: { hook: "a", kind: "queueing_started" } })),
  );

test("what the owner reads of a status says what was wrong", () => {
  const error = (status) => {
    const { due, outbox } = taken(filled("m0"), NOON);
    return told(answered(outbox, NOON, due[0], status)).a.last_delivery.error;
  };
  assert.equal(error(0), "no answer within 10 s");
  for (const status of [300, 302, 399]) assert.match(error(status), /redirect/, `${status}`);
  for (const status of [299, 200]) assert.equal(error(status), null, `${status}`);
  for (const status of [101, 400, 500]) {
    assert.equal(error(status), "its status is no success", `${status}`);
  }
});

test("messages of one moment come again apart, by a tenth of the time at most", () => {
  // The last letter of an id decides: 0x30 adds nothing, 0x3f the most.
  const again = (id) => (dueAt(taken(filled(id), NOON).outbox) - NOON) / SECOND_MS;
  assert.deepEqual(["m0", "m8", "m?"].map(again), [15, 15.75, 15 * (1 + 15 / 160)]);
});

test("a message is forgotten a minute after its last attempt whose outcome nobody told", () => {
  let outbox = filled("m0");
  let last;
  for (let at = dueAt(outbox); at < Infinity; at = dueAt(outbox)) {
    const found = taken(outbox, at);
    outbox = found.outbox;
    if (found.due.length > 0) last = at;
    else assert.equal(at - last, 60 * SECOND_MS);
  }
  assert.deepEqual([outbox.messages, (last - NOON) / SECOND_MS], [[], 13_365]);
});
