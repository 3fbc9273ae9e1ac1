/** Each part that differs between Cloudflare and an owner's machine has one door. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ROOT } from "../harness/worker-modules.mjs";

const SOURCE = path.join(ROOT, "src");
/** How each part is spelled, and the files that may know it. */
const DOORS = [
  {
    part: "what the platform tells about a client",
    spelled: /\bcf\b(?!-)|["'`]cf-(?:connecting|ip|ray|pseudo|ew|visitor|worker)/,
    known: ["client.js", "own_machines.js"],
  },
  { part: "the Cache API", spelled: /\bcaches\.(?:open|default)\b/, known: ["copies.js"] },
  { part: "the way to the site", spelled: /\benv\.ORIGIN\b/, known: ["entry.js"] },
  {
    part: "headers and variables of own machines",
    spelled:
      /\b(?:TRUSTED_PROXIES|CLIENT_\w+_HEADER|OWN_SCHEME|DATA_CENTER\b(?!_))|x-forwarded-(f|pr?o)/,
    known: ["own_machines.js"],
  },
];

for (const { part, spelled, known } of DOORS) {
  test(`one door: ${part}`, () => {
    const knowing = sources().filter((name) => spelled.test(codeOf(name)));
    assert.deepEqual(knowing.sort(), known);
  });
}

function sources() {
  const names = fs.readdirSync(SOURCE, { recursive: true });
  return names.filter((name) => /\.(?:js|rs)$/.test(name));
}

/** The text of a file without the lines that are comments. */
function codeOf(name) {
  const lines = fs.readFileSync(path.join(SOURCE, name), "utf8").split("\n");
  return lines.filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line)).join("\n");
}
