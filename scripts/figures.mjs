// Keeps the figures of the last runs of the suite in docs/figures.json, and writes the tables of
// the documents from them: `node scripts/figures.mjs --write`.
import fs from "node:fs";

import { stop } from "./stop.mjs";
import { DOCUMENTS, commitFigures, withFigures } from "./suite/figures.mjs";

if (process.argv[2] !== "--write") stop("usage: node scripts/figures.mjs --write");
commitFigures();
for (const document of Object.keys(DOCUMENTS)) {
  fs.writeFileSync(document, withFigures(document, fs.readFileSync(document, "utf8")));
}
