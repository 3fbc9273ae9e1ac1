// The report of a rehearsal: the built page with the figures in it.
import fs from "node:fs";
import path from "node:path";

import { ROOT } from "../modules.mjs";

const PAGE = path.join(ROOT, "build", "rehearsal", "report.html");

/** The page as one text that needs nothing else. */
export function reportOf(rehearsal) {
  // Inside of the element no text can end it.
  const json = JSON.stringify(rehearsal).replaceAll("<", "\\u003c");
  return fs.readFileSync(PAGE, "utf8").replace("/* rehearsal */", () => json);
}
