// The wasm knows the usual headers by their places alone: both lists must be the same.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";

const SRC = path.join(import.meta.dirname, "..", "..", "src");

function listIn(file, beginning) {
  const text = fs.readFileSync(path.join(SRC, file), "utf8");
  const [, rest] = text.split(beginning);
  return [...rest.split("];")[0].matchAll(/"([^"]+)"/g)].map(([, name]) => name);
}

test("JavaScript reads the usual headers in the order in which the wasm takes them", () => {
  const read = listIn("usual_headers.js", "const USUAL = [");
  assert.ok(read.length > 1);
  assert.deepEqual(listIn("incoming.rs", "const USUAL: [&str; 7] = ["), read);
});
