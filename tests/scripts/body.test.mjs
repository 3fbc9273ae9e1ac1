/** How a body is read that the site does not get: to its end, within bytes and time. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { readAway } from "../../src/body.js";

const SECOND_MS = 1_000;

/** A body of as many parts of ten bytes; `parts` counts those that were asked for. */
function bodyOf(parts, ends = true) {
  const seen = { parts: 0, isCancelled: false };
  const body = new ReadableStream(
    {
      pull(controller) {
        if (seen.parts < parts) controller.enqueue(new Uint8Array(10));
        else if (ends) controller.close();
        seen.parts += 1;
      },
      cancel: () => void (seen.isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

test("a body is read to its end", async () => {
  const { body, seen } = bodyOf(5);
  assert.equal(await readAway({ body }, 1_000, SECOND_MS), 50);
  assert.deepEqual(seen, { parts: 6, isCancelled: false });
});

test("of a long body no more is read than is wanted", async () => {
  const { body, seen } = bodyOf(500);
  assert.equal(await readAway({ body }, 100, SECOND_MS), 110);
  assert.deepEqual(seen, { parts: 11, isCancelled: true });
});

test("a body that does not end is left", async () => {
  const { body, seen } = bodyOf(5, false);
  assert.equal(await readAway({ body }, 1_000, 20), undefined);
  assert.ok(seen.isCancelled);
});
