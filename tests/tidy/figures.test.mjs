// Checks that the documents tell the figures of the suite that docs/figures.json has.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { DOCUMENTS, withFigures } from "../../scripts/suite/figures.mjs";

const ROOT = path.resolve(import.meta.dirname, "..", "..");

for (const document of Object.keys(DOCUMENTS)) {
  test(`${document} has the figures of the suite`, () => {
    const text = fs.readFileSync(path.join(ROOT, document), "utf8");
    const outOfDate = "out of date: run `node scripts/figures.mjs --write`";
    assert.equal(text, withFigures(document, text), outOfDate);
  });
}
