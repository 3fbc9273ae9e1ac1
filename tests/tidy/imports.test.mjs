/**
 * Scripts import each other in no circle, what owners run imports nothing of the tests, and one
 * file is asked for objects.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ROOT } from "../harness/worker-modules.mjs";

/** What visitors, owners and their sites run. */
const PRODUCT =
  /^(?:analytics|client\/src|cockpit|examples|scripts|src|transparency|webhooks)\//;
/** The commands of developers, which share parts of the tests. */
const COMMANDS = [
  "attack-mutants",
  "attack-rows",
  "keep-previous",
  "object-cpu",
  "page-states",
  "screenshots",
  "sdk-tests",
  "soak",
].map((name) => `scripts/${name}.mjs`);

const imports = importsOf(filesOf());

test("no scripts import each other in a circle", () => {
  assert.ok([...imports.values()].flat().length > 500, "imports are found");
  const circle = [...imports.keys()].map((file) => wayBack(file)).find((way) => way.length > 0);
  assert.equal(circle, undefined, circle?.join(" imports "));
});

test("what owners and visitors run imports nothing of the tests", () => {
  const product = [...imports].filter(([file]) => PRODUCT.test(file) && !COMMANDS.includes(file));
  assert.ok(product.length > 150, "files of the product are found");
  const wrong = product.flatMap(([file, others]) =>
    others.filter((other) => other.startsWith("tests/")).map((other) => `${file}: ${other}`),
  );
  assert.deepEqual(wrong, []);
});

test("one file of JavaScript knows in which place a deployment has its objects", () => {
  const knows = /\.(?:getByName|idFromName|jurisdiction)\(/;
  const asks = (file) => knows.test(fs.readFileSync(path.join(ROOT, file), "utf8"));
  const product = [...imports.keys()].filter((file) => PRODUCT.test(file));
  assert.deepEqual(product.filter(asks), ["src/objects.js"]);
});

function filesOf() {
  const listed = ["ls-files", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", listed, { cwd: ROOT, encoding: "utf8" }).split("\n");
  return files.filter((file) => /\.m?js$/.test(file) && fs.existsSync(path.join(ROOT, file)));
}

/** The files of the project that each of `files` imports, at once or later. */
function importsOf(files) {
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const text = fs.readFileSync(path.join(ROOT, file), "utf8");
      const named = [...text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)];
      const others = named.map(([, to]) => path.posix.join(path.posix.dirname(file), to));
      return [file, others.filter((other) => known.has(other))];
    }),
  );
}

/** A way of imports from a file back to itself, if there is one. */
function wayBack(start) {
  const before = new Map();
  const left = [start];
  while (left.length > 0) {
    const file = left.pop();
    for (const other of imports.get(file)) {
      if (other === start) return [...wayTo(file, before), start];
      if (before.has(other)) continue;
      before.set(other, file);
      left.push(other);
    }
  }
  return [];
}

function wayTo(file, before) {
  return before.has(file) ? [...wayTo(before.get(file), before), file] : [file];
}
