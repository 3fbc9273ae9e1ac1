/** What is said of the disk of a served folder: once for each change, and never back and forth. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { diskNews } from "../../scripts/serve/disk.mjs";

const MB = 1_000_000;

test("each change of a disk is said once", () => {
  let state = "ample";
  const heard = [];
  const story = [4_000, 499, 501, 480, 900, 7, 9, 15, 17, 900, 1_001, 999, 600, 3];
  for (const left of story) {
    const news = diskNews(state, left * MB, "/srv");
    state = news.state;
    heard.push(news.sentence ? `${left} ${state}: ${news.sentence.split(":")[0]}` : "");
  }
  assert.deepEqual(heard.filter(Boolean), [
    "499 low: The disk of /srv is nearly full",
    "7 full: The disk of /srv is full",
    "17 low: The disk of /srv has room again",
    "1001 ample: The disk of /srv has room again",
    "3 full: The disk of /srv is full",
  ]);
});
