/** The table of errors in docs/api.md has every status and code with which the API refuses. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ROOT } from "../harness/worker-modules.mjs";

const DOCUMENT = "docs/api.md";
const SOURCES = path.join(ROOT, "room-core", "src", "management");
/** A refusal of the API: its status and its code. */
const REFUSAL = /(?:Failure|Self)::new\(\s*(\d{3}),\s*([\d_]+),/g;
/** A row of the table: its status, its code, and the last code where it has several. */
const ROW = /^\| (\d{3}) \| (\d+)(?: to (\d+))? \|/gm;

test("docs/api.md has a row for each error of the API", () => {
  const rows = [...fs.readFileSync(path.join(ROOT, DOCUMENT), "utf8").matchAll(ROW)];
  const told = rows.map(([, status, from, to = from]) => [status, from, to].map(Number));
  const refusals = fs
    .readdirSync(SOURCES, { recursive: true })
    .filter((name) => name.endsWith(".rs"))
    .flatMap((name) => [...fs.readFileSync(path.join(SOURCES, name), "utf8").matchAll(REFUSAL)])
    .map(([, status, code]) => [status, code.replaceAll("_", "")].map(Number));
  assert.ok(refusals.length > 20, `only ${refusals.length} refusals found`);
  const isTold = ([status, code]) =>
    told.some(([of, from, to]) => of === status && from <= code && code <= to);
  const missing = refusals.filter((refusal) => !isTold(refusal)).map((one) => one.join(" "));
  assert.deepEqual([...new Set(missing)], [], `${DOCUMENT} has no row for these`);
});
