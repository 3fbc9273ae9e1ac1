/** A log is read patiently from an address that is busy, and not beyond what a log can be. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { saleFrom, secondsOf } from "../../transparency/download.js";

const TIMES_MAX = 10;

/** Reads a log of this size, whose bundles are refused so often; tells how long it waited. */
async function read(size, { times = 0, status = 429, retryAfterS } = {}) {
  const waits = [];
  const refused = new Map();
  const answer = async (path) => {
    if (path === "key") return new TextEncoder().encode("the-key\n");
    if (path === "checkpoint") return new TextEncoder().encode(`shop/1\n${size}\nAAAA\n`);
    const before = refused.get(path) ?? 0;
    refused.set(path, before + 1);
    if (before < times) throw Object.assign(new Error("no"), { status, retryAfterS });
    return new TextEncoder().encode(path);
  };
  const sale = await saleFrom(answer, { wait: async (ms) => waits.push(ms) });
  return { sale, waits };
}

test("a busy log is asked again when it says, and some ten times", async () => {
  const { sale, waits } = await read(600, { times: 2, retryAfterS: 3 });
  assert.deepEqual(waits, Array(6).fill(3_000));
  assert.deepEqual(sale.entries.map(atob), [
    "tile/entries/000",
    "tile/entries/001",
    "tile/entries/002.p/88",
  ]);
  assert.deepEqual((await read(1, { times: 1, status: 503 })).waits, [1_000]);
  assert.deepEqual((await read(1, { times: 1, retryAfterS: 86_400 })).waits, [30_000]);
  assert.equal((await read(1, { times: TIMES_MAX - 1 })).waits.length, TIMES_MAX - 1);
  await assert.rejects(read(1, { times: TIMES_MAX }), /^Error: no$/);
  await assert.rejects(read(1, { times: 1, status: 404 }), /^Error: no$/);
});

test("what is said of the pause is seconds, or nothing", () => {
  const given = ["2", null, "0", "-1", "soon"];
  assert.deepEqual(given.map(secondsOf), [2, ...Array(4).fill(undefined)]);
});

test("a checkpoint that claims more than a log can have is refused", async () => {
  assert.equal((await read(4_000)).sale.entries.length, 16);
  assert.deepEqual((await read(0)).sale.entries, []);
  for (const size of ["4000001", "1000000000000", "-5", "1.5", "1e3", "x", ""]) {
    await assert.rejects(read(size), /no number of entries from 0 to 4,000,000/, size);
  }
});
