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

test("README.md and docs/algorithm.md promise of the limits what SECURITY.md does", () => {
  const promises = /<!-- same: limits -->\n((?:- .+\n(?: {2}.+\n)*){2})/;
  const [promised, ...copies] = ["SECURITY.md", "README.md", "docs/algorithm.md"].map(
    (document) => promises.exec(fs.readFileSync(path.join(ROOT, document), "utf8"))?.[1],
  );
  assert.match(promised, /^- \*\*New visitors\*\*[^]*\n- \*\*Visitors inside/);
  for (const copy of copies) assert.equal(copy, promised);
});

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
