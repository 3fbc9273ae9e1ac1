/**
 * No file of tests chooses some of them: the suite runs each file in one process, in which Node
 * leaves out all others without a word, and the file passes.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ROOT } from "../harness/worker-modules.mjs";

const FOLDERS = ["tests", "client/test"];
/** How a test is chosen: by its name, or by an option. */
const CHOSEN = /\.only\(|\bonly:\s*true\b/;
/** So many files there are at least: who reads none finds nothing. */
const FILES_MIN = 250;

test("a test that is chosen is found", () => {
  const call = ["test", "only("].join(".");
  const option = ["only", "true"].join(": ");
  for (const text of [`${call}"one", one);`, `test("one", { ${option} }, one);`]) {
    assert.match(text, CHOSEN);
  }
  assert.doesNotMatch('room({ invitation_only: true });', CHOSEN);
});

test("no file of tests chooses some of them", () => {
  const files = FOLDERS.flatMap((folder) => {
    const names = fs.readdirSync(path.join(ROOT, folder), { recursive: true });
    return names.filter((name) => name.endsWith(".mjs")).map((name) => `${folder}/${name}`);
  });
  assert.ok(files.length > FILES_MIN, `only ${files.length} files are found`);
  const text = (file) => fs.readFileSync(path.join(ROOT, file), "utf8");
  assert.deepEqual(files.filter((file) => CHOSEN.test(text(file))), []);
});
