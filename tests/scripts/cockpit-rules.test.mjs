/**
 * How the cockpit takes changes of rules back: from entries of the audit log as the API writes
 * them, and never over something newer.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { undoOf } from "../../cockpit/audit.js";
import { wayBack, whatWasDone } from "../../cockpit/rule_changes.js";

const room = { id: "r", zone_id: "z", name: "shop" };
const [a, b, c] = ["a", "b", "c"].map((id) => rule(id));
const newB = { ...b, expression: "not ssl", version: "2" };

test("each change of rules has its words and its way back", () => {
  const check = (from, to, words, now, want) => {
    const entry = entryOf(from, to);
    assert.equal(whatWasDone(entry), words);
    assert.deepEqual(wayBack(entry)(now), want);
  };
  check([a], [a, b], "“b” made", [a, b], [a]);
  check([a, b, c], [a, c], "“b” deleted", [a, c], [a, b, c]);
  check([a, b], [a, newB], "“b” changed: not ssl, before: ssl", [a, newB], [a, b]);
  check([a, b, c], [c, a, b], "in another order", [c, a, b], [a, b, c]);
  check([a], [], "“a” deleted", [], [a]);
  check([a, b], [c], "“c” made, “a” deleted, “b” deleted", [c], [a, b]);
  // What is newer and something else stays, and a rule comes back behind those it stood behind.
  check([a], [a, b], "“b” made", [a, c, b], [a, c]);
  check([a, b], [a, newB], "“b” changed: not ssl, before: ssl", [newB, c], [b, c]);
  check([a, b, c], [a, c], "“b” deleted", [c, a], [c, a, b]);
  check([a, b], [a], "“b” deleted", [c], [b, c]);
  const off = { ...a, enabled: false };
  check([a], [off], "“a” changed: disabled", [off], [a]);
});

test("what is newer is not overwritten", () => {
  const check = (from, to, now, want) => {
    assert.throws(() => wayBack(entryOf(from, to))(now), { message: want });
  };
  const nothing = "Nothing was changed: meanwhile";
  check([a], [a, b], [a, newB], `${nothing} “b” was changed. Look again.`);
  check([a], [a, b], [a], `${nothing} “b” was deleted. Look again.`);
  check([a, b], [a, newB], [a, b], `${nothing} “b” was changed. Look again.`);
  const others = `${nothing} somebody else has changed these rules. Look again.`;
  check([a, b], [a], [a, b], others);
  check([a, b], [b, a], [a, b], others);
  check([a, b], [b, a], [b, a, c], others);
});

test("what the log does not have whole is not offered to be undone", () => {
  const check = (entry, want) => {
    const told = { target: "zones/z/waiting_rooms/r/rules", method: "PATCH", ...entry };
    assert.equal(undoOf(told, [room])?.label, want);
  };
  const long = "4000 bytes, SHA-256 0123456789abcdef0123456789abcdef...";
  check(entryOf([a], [a, b]), "Undo: “b” made");
  check({ before: { a: long }, after: { a } });
  check({ before: { order: long }, after: { order: long, b } });
  check({ before: { order: long }, after: { order: long } });
  // As a version without the order has written it.
  check({ before: { b }, after: {} });
  check({ before: {}, after: {} });
  check({ before: {}, after: { b } }, "Undo: “b” made");
  const both = { before: { a: long }, after: { a: long } };
  assert.match(whatWasDone(both), /^a long rule changed: too long/);
});

function rule(id) {
  const written = { expression: "ssl", description: id, enabled: true };
  return { id, version: "1", action: "bypass_waiting_room", last_updated: "x", ...written };
}

/** The entry of a change of rules: what differs, and the order where it does. */
function entryOf(from, to) {
  const documents = (rules) => ({
    ...Object.fromEntries(rules.map((one) => [one.id, one])),
    order: rules.map(({ id }) => id),
  });
  const differing = (one, other) =>
    Object.fromEntries(
      Object.entries(one).filter(([name, value]) => {
        return JSON.stringify(other[name]) !== JSON.stringify(value);
      }),
    );
  const [before, after] = [documents(from), documents(to)];
  return { before: differing(before, after), after: differing(after, before) };
}
