// Checks that the documents tell the figures that docs/figures.json has, and promise the same.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { DOCUMENTS, withFigures } from "../../scripts/suite/figures.mjs";

const ROOT = path.resolve(import.meta.dirname, "..", "..");

for (const document of Object.keys(DOCUMENTS)) {
  test(`${document} has the figures that were kept`, () => {
    const text = fs.readFileSync(path.join(ROOT, document), "utf8");
    const outOfDate = "out of date: run `node scripts/figures.mjs --write`";
    assert.equal(text, withFigures(document, text), outOfDate);
  });
}

/** What several documents say in the same words, by the name that stands in its place. */
const SAME = { limits: ["README.md", "SECURITY.md", "docs/algorithm.md"] };

for (const [name, documents] of Object.entries(SAME)) {
  test(`${documents.join(", ")} say the same of ${name}`, () => {
    const place = new RegExp(`<!-- same: ${name} -->\\n([^]+?)<!-- /same -->`);
    const texts = documents.map((document) => {
      const text = fs.readFileSync(path.join(ROOT, document), "utf8");
      const found = place.exec(text)?.[1];
      assert.ok(found, `${document} says nothing of ${name}`);
      return found;
    });
    for (const [at, text] of texts.entries()) assert.equal(text, texts[0], documents[at]);
  });
}
