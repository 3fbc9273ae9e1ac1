/**
 * What is half written in a form of the cockpit: kept with what each field began with, so that
 * what somebody else has changed before it is back is not written over.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { draftOf, keptOf, staleOf, staleWords } from "../../cockpit/form_draft.js";

const fields = [{ name: "text" }, { name: "limit" }, { name: "secret", isSecret: true }];
const initial = { text: "", limit: "100", secret: "" };

test("a draft that is back knows which fields somebody else has changed since", () => {
  const written = { text: "Hello", limit: "70", secret: "s" };
  const draft = draftOf({ fields, initial, written, basis: {} });
  assert.deepEqual(draft, {
    values: { text: "Hello", limit: "70" },
    basis: { text: "", limit: "100" },
  });
  assert.equal(draftOf({ fields, initial, written: initial, basis: {} }), undefined);

  const now = { ...initial, limit: "20" };
  const back = { ...now, ...draft.values };
  const check = (basis, written, want) => {
    assert.deepEqual(staleOf({ initial: now, written, basis }), want);
  };
  check(draft.basis, back, { limit: "100" });
  // What is the same as the present value replaces nothing.
  check(draft.basis, { ...back, limit: "20" }, {});
  // Whoever has written it anew has seen the present value.
  check({ text: "" }, back, {});
  const later = draftOf({ fields, initial: now, written: back, basis: { limit: "100" } });
  assert.deepEqual(later.basis, draft.basis, "it is forgotten with the next letter");

  const words = (value) => staleWords({ limit: "100" }, { limit: value }).limit;
  assert.match(words("20"), /meanwhile\. Now it is “20”\. Write it anew/);
  assert.match(words(""), /meanwhile\. Now it is empty\. Write it anew/);
  assert.match(words("x".repeat(101)), /meanwhile\. Write it anew/);
  assert.match(words(true), /meanwhile\. Write it anew/);
});

test("a draft that was kept by the version before is there", () => {
  assert.deepEqual(keptOf({ text: "Hello" }), { values: { text: "Hello" }, basis: {} });
  assert.deepEqual(keptOf(undefined), { values: {}, basis: {} });
  const kept = { values: { text: "Hello" }, basis: { text: "" } };
  assert.deepEqual(keptOf(kept), kept);
});
