/**
 * Checks states of the queue page in all languages: no barrier for anybody, nothing that scrolls
 * sideways on a phone, and no page that is too large. The tests say which states there are.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

import { barriers } from "./accessibility.mjs";
import { PHONE, keepScreenshot } from "./browser-test.mjs";
import { isInSample } from "./sample.mjs";
import { look } from "./visitor.mjs";
import { ROOT } from "./worker-modules.mjs";

const LANGUAGES = fs
  .readdirSync(path.join(ROOT, "templates", "languages"))
  .map((file) => path.basename(file, ".json"));
/**
 * The languages of which pictures are kept: one per kind of script, and German for its long words.
 */
const PICTURED = ["ar-EG", "de-DE", "hi-IN", "ja-JP", "th-TH"];
/** The share of all states and languages that a run looks at, besides English. */
const SHARE = 0.05;
const ENGLISH = "en-US";
/** Most bytes of a page in UTF-8. That is all of it: a page loads nothing but a challenge. */
export const PAGE_BYTES_MAX = 20_000;

/**
 * Checks what newcomers of these rooms see, in English and a sample of all languages, and keeps
 * pictures of some.
 *
 * @param {{ cluster: object, browser: object }} arena
 * @param {{ state: string, room: { host: string } }[]} states
 */
export async function checkEveryLanguage({ cluster, browser }, states) {
  const near = cluster.isolates[0].name;
  const page = await browser.newPage({ ...PHONE, reducedMotion: "reduce" });
  await page.route(/^https?:/, (route) => route.abort());
  await page.goto("about:blank");
  for (const { state, room } of states) {
    const isLookedAt = (tag) => tag === ENGLISH || isInSample(`${state} ${tag}`, SHARE);
    for (const tag of LANGUAGES.filter(isLookedAt)) {
      const headers = { "accept-language": tag };
      const { body } = await look(cluster, near, { host: room.host, headers });
      const bytes = Buffer.byteLength(body);
      assert.ok(bytes < PAGE_BYTES_MAX, `${state} in ${tag}: ${bytes} bytes`);
      await page.setContent(body);
      assert.deepEqual(await barriers(page), [], `${state} in ${tag}`);
      assert.ok(await fitsItsWidth(page), `${state} in ${tag} scrolls sideways`);
      if (PICTURED.includes(tag)) await keepScreenshot(page, `page-${state}-${tag}`);
    }
  }
  await page.close();
}

/** True if the page is no wider than its window, so that nobody has to scroll sideways. */
export function fitsItsWidth(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth <= clientWidth;
  });
}
