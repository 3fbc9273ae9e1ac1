/** What a document says stands in a file stands there, and is a word of the source. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { PAGES } from "../harness/documents.mjs";
import { ROOT } from "../harness/worker-modules.mjs";

/** "`one`, `two` and `three` in `a/file.rs`"; a bare name of a file is that of one told before. */
const PLACED = /((?:`[\w:]+`(?:, | and )?)+) in `([\w.-]+\/[\w/.-]+\.(?:rs|mjs|js))`/g;
const NAME = /`(?:\w+::)*(\w+)`/g;
/** So many names there are at least: a pattern that finds none finds no mistake. */
const NAMES_MIN = 40;

test("what documents say stands in a file stands there", () => {
  const told = ["ARCHITECTURE.md", ...PAGES].flatMap(namesIn);
  assert.deepEqual(told.filter(isMissing), []);
  assert.ok(told.length >= NAMES_MIN, `only ${told.length} names are looked up`);
});

function namesIn(document) {
  const text = fs.readFileSync(path.join(ROOT, document), "utf8").replaceAll(/\s+/g, " ");
  return [...text.matchAll(PLACED)].flatMap(([, names, file]) =>
    [...names.matchAll(NAME)].map(([, name]) => ({ document, name, file })),
  );
}

function isMissing({ name, file }) {
  const where = path.join(ROOT, file);
  return !fs.existsSync(where) || !new RegExp(`\\b${name}\\b`).test(fs.readFileSync(where, "utf8"));
}
