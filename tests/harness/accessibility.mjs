/**
 * Finds what hinders people who use a page with a keyboard, a screen reader or bad eyes, as far as
 * axe-core can tell.
 */

import { createRequire } from "node:module";

/** The path of the script that a page must have loaded, for playwright's `addInitScript`. */
export const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** A frame of ours runs no script, so axe-core cannot look inside: that has a test of its own. */
const NOT_INSIDE_FRAMES = { "frame-tested": { enabled: false } };

/** Lists what hinders somebody on a page, and what axe-core could not decide. */
export async function barriers(page) {
  const options = { runOnly: RULES, rules: NOT_INSIDE_FRAMES };
  const found = await page.evaluate((chosen) => window.axe.run(document, chosen), options);
  return [...found.violations, ...found.incomplete].map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`,
  );
}
