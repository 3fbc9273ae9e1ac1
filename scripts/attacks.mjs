// Puts the table of known attacks and their tests into docs/security.md, by
// `node scripts/attacks.mjs --write`. Each run of `npm test` prints it with the results.
import fs from "node:fs";

import { DOCUMENT, withTable } from "./attack-rows.mjs";
import { stop } from "./stop.mjs";

if (process.argv[2] !== "--write") stop("usage: node scripts/attacks.mjs --write");
fs.writeFileSync(DOCUMENT, withTable(fs.readFileSync(DOCUMENT, "utf8")));
