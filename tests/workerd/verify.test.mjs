/** What `npm run verify` says of logs that the built module has made. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { saleWith, verified } from "../harness/verify.mjs";

/** The second at which the sale of these tests began. */
const BEGAN_S = 1_796_061_600;
const RULES = `rules ${BEGAN_S} 10 10 600 fifo full`;

/** Admissions one after another, one in each second. */
function admissions(count, kind = "line") {
  const second = (number) => BEGAN_S + number;
  const commitment = (number) => Buffer.alloc(32, number).toString("base64");
  return Array.from({ length: count }, (_, number) => {
    const at = second(number);
    return `admission ${commitment(number)} ${at} ${at} ${kind} 3`;
  });
}

test("an empty key is none that anybody trusts", () => {
  const sale = saleWith([RULES, ...admissions(5)]);
  const files = { "sale.json": JSON.stringify(sale), blank: "\uFEFF\r\n", key: `${sale.vkey}\n` };
  for (const key of ["", " ", "blank"]) {
    const { status, says } = verified(files, "sale.json", "--key", key);
    assert.match(says, /^\s*the key you gave is empty: give the one that you trust\s*$/, key);
    assert.equal(status, 1, key);
  }
  const missing = verified(files, "sale.json", "--key", "no-key.txt");
  assert.match(missing.says, /^\s*there is no file no-key\.txt\s*$/);
  assert.equal(missing.status, 1);
  for (const key of ["key", sale.vkey]) {
    assert.match(verified(files, "sale.json", "--key", key).says, /the key you gave has signed/);
  }
});

test("what is newer than the file is not checked, and says so", () => {
  const leaves = [RULES, ...admissions(5)];
  const [older, newer] = [saleWith(leaves.slice(0, 4)), saleWith(leaves)];
  const files = { "sale.json": JSON.stringify(older), kept: newer.checkpoint };
  const { status, says } = verified(files, "sale.json", "--checkpoint", "kept");
  assert.match(says, /^not checked +older checkpoint +newer than this file: download .* again$/m);
  assert.match(says, /^ok +tree /m);
  assert.equal(status, 0, says);
});

test("a file that is no log of a sale is named in a plain sentence", () => {
  const text = JSON.stringify(saleWith([RULES, ...admissions(5)]));
  const check = (file, want) => {
    const { status, says } = verified({ "sale.json": file }, "sale.json");
    assert.equal(says.trim(), `nothing was checked: the file is ${want}`, file);
    assert.equal(status, 1);
  };
  for (const cut of ["", text.slice(0, 40), text.slice(0, -1)]) {
    check(cut, "cut off, download it again");
  }
  for (const other of ["[]", "{}", "7", '{"vkey":1}']) check(other, "no log of a sale");
  check("<!doctype html>", "no log of a sale: it is no JSON");
});
