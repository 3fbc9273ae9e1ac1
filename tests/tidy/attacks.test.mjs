// Checks that every known attack has tests that are there, and that docs/security.md names them.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { DOCUMENT, problems, withTable } from "../../scripts/attack-rows.mjs";

const ROOT = path.resolve(import.meta.dirname, "..", "..");

test("every attack has tests, and each of them is there", () => {
  assert.deepEqual(problems(), []);
});

test("docs/security.md has the table of rows and tests", () => {
  const text = fs.readFileSync(path.join(ROOT, DOCUMENT), "utf8");
  const outOfDate = "out of date: run `node scripts/attacks.mjs --write`";
  assert.equal(text, withTable(text), outOfDate);
});
