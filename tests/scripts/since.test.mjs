/** Which files of tests `npm test -- --since` chooses for a change: by what they import. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { testFiles } from "../../scripts/suite/node-tests.mjs";
import { touches } from "../../scripts/suite/since.mjs";
import { STEPS } from "../../scripts/suite/steps.mjs";

const FILES = STEPS.flatMap(({ folder }) => (folder ? testFiles(folder) : []));
const chosen = (changed) => FILES.filter((file) => touches(file, [changed]));

test("a changed file of tests is chosen, and no other", () => {
  const file = "tests/scripts/since.test.mjs";
  assert.deepEqual(chosen(file), [file]);
});

test("a change of the harness chooses those that import it, directly or through others", () => {
  const files = chosen("tests/harness/rest.mjs");
  assert.ok(files.includes("tests/workerd/order.test.mjs"));
  assert.ok(!files.includes("tests/tidy/spelling.test.mjs"));
});
