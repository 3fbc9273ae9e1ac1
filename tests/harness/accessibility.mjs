/**
 * What stands in the way of people who use a page with a keyboard, a screen reader or bad eyes, as
 * far as axe-core can tell. It knows nothing of waiting rooms.
 */

import { createRequire } from "node:module";

/** The script that a page must have loaded, for playwright's `addInitScript`. */
export const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What stands in somebody's way, and what could not be told. */
export async function barriers(page) {
  const found = await page.evaluate((rules) => window.axe.run(document, { runOnly: rules }), RULES);
  return [...found.violations, ...found.incomplete].map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`,
  );
}
