// The wasm knows the usual headers by their places alone: both lists must be the same.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

const SRC = path.join(import.meta.dirname, "..", "..", "src");

function listIn(file, beginning) {
  const text = fs.readFileSync(path.join(SRC, file), "utf8");
  const [, rest] = text.split(beginning);
  const names = rest.split("];")[0].matchAll(/"([^"]+)"|CHECK_IN_HEADER/g);
  return [...names].map(([, name = "waiting-room-check-in"]) => name);
}

test("JavaScript reads the usual headers in the order in which the wasm takes them", () => {
  const read = listIn("usual_headers.js", "const USUAL = [");
  assert.ok(read.length > 1);
  assert.deepEqual(listIn("incoming.rs", "const USUAL: [&str; 9] = ["), read);
});
