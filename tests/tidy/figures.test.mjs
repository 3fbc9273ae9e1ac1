// Checks that the documents tell the figures that docs/figures.json has, and promise the same.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { AGAINST_QUEUE_IT, VARIANTS } from "../../bench/variants.mjs";
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

const SPEEDS = "README tells the speeds of docs/performance.md, and the goals and gates of bench";
test(SPEEDS, () => {
  const [performance, readme] = ["docs/performance.md", "README.md"].map((document) =>
    fs.readFileSync(path.join(ROOT, document), "utf8"),
  );
  const speed = readme.split("\n").find((line) => line.startsWith("| speed"));
  const target = (name) => VARIANTS.find((variant) => variant.name === name).target;
  const rows = {
    "admitted, unchanged ticket": target("admitted"),
    "admitted, ticket renewed": target("renewed"),
    "admitted, to Queue-it's connector": AGAINST_QUEUE_IT,
  };
  for (const [row, { goal, gate }] of Object.entries(rows)) {
    const cells = performance.split("\n").find((line) => line.startsWith(`| ${row} |`));
    const [, , ...figures] = cells.split("|").map((cell) => cell.trim().split(" ")[0]);
    const measured = figures.slice(0, -3).sort();
    assert.deepEqual(figures.slice(-3, -1), [goal.toFixed(2), gate.toFixed(2)], row);
    const range = `${measured[0]} to ${measured.at(-1)}`;
    assert.ok(speed.replace("[", "").replace("]", "").includes(range), `${row}: ${range}`);
    assert.ok(speed.includes(`goal ${goal.toFixed(2)}`), `${row}: goal`);
    assert.match(speed.split("CI holds")[1], new RegExp(gate.toFixed(2)), `${row}: gate`);
  }
});
