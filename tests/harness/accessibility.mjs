/**
 * Finds what hinders people who use a page with a keyboard, a screen reader or bad eyes, as far as
 * axe-core can tell.
 */

import fs from "node:fs";
import { createRequire } from "node:module";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * A frame of ours runs no script, so axe-core cannot look inside: that has a test of its own. Where
 * it was asked to, it sometimes waited for an answer for ever.
 */
const NOT_INSIDE_FRAMES = { iframes: false, rules: { "frame-tested": { enabled: false } } };

/** The source of axe-core, once it was read. */
let source;

/** Lists what hinders somebody on a page, and what axe-core could not decide. */
export async function barriers(page) {
  source ??= fs.readFileSync(AXE, "utf8");
  // Not before: as a script of each page its 650 KB would run again with each navigation.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(source);
  const options = { runOnly: RULES, ...NOT_INSIDE_FRAMES };
  const found = await page.evaluate((chosen) => window.axe.run(document, chosen), options);
  return [...found.violations, ...found.incomplete].map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`,
  );
}

/**
 * Returns what a screen reader finds on a page, role by role, a line each. Numbers are N, and what
 * depends on the hour or on how many there are of something is left out.
 */
export async function readAloud(page) {
  const tree = await page.locator("body").ariaSnapshot();
  return tree
    .replace(/(time): .*/g, "$1: …")
    .replace(/(?<!level=)\b\d+/g, "N")
    .replace(/N (minute|hour)s?( N minutes?)?/g, "N $1s");
}
