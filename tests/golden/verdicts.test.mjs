// The entry reads the verdicts of the golden file, which a test of the core writes, as they are
// meant.
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import { decode, decodeStreamStep } from "../../src/verdict.js";

const file = new URL("verdicts.json", import.meta.url);
const { verdicts, streamSteps } = JSON.parse(fs.readFileSync(file, "utf8"));

test("every verdict says to JavaScript what the core meant", () => {
  assert.ok(verdicts.length > 50);
  for (const { text, meaning } of verdicts) assert.deepEqual(decode(text), meaning, text);
});

test("every step of an event stream does", () => {
  assert.equal(streamSteps.length, 4);
  for (const { text, meaning } of streamSteps) {
    assert.deepEqual(decodeStreamStep(text), meaning, text);
  }
});

test("what no core writes decides nothing", () => {
  for (const text of ["", "X", "?", " P", "R"]) assert.equal(decode(text).kind, "undecided", text);
});
