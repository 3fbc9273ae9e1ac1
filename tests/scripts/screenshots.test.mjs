/** A picture that Chromium refuses once is taken again; another error, or a second one, is told. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { keepScreenshot } from "../harness/browser-test.mjs";

const REFUSAL =
  "page.screenshot: Protocol error (Page.captureScreenshot): Unable to capture screenshot";

/** A page that refuses its first pictures with these words; `asked` has how often it was asked. */
function pageThatSays(...refusals) {
  const page = { asked: 0 };
  page.screenshot = async () => {
    const refusal = refusals[page.asked];
    page.asked += 1;
    if (refusal) throw new Error(refusal);
  };
  return page;
}

test("a picture that is refused once is taken again", async () => {
  const page = pageThatSays(REFUSAL);
  await keepScreenshot(page, "refused-once");
  assert.equal(page.asked, 2);
});

test("a picture that is refused twice, or for another reason, is an error", async () => {
  const twice = pageThatSays(REFUSAL, REFUSAL);
  await assert.rejects(keepScreenshot(twice, "refused"), /Unable to capture/);
  const closed = pageThatSays("page.screenshot: Target page has been closed");
  await assert.rejects(keepScreenshot(closed, "closed"), /has been closed/);
  assert.deepEqual([twice.asked, closed.asked], [2, 1]);
});
