// Builds the verifier of transparency logs as one page that needs nothing else, into
// build/transparency/verify.html. The module in it was built by `xtask transparency`.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

import { bundled } from "./bundle.mjs";
import { ROOT } from "./modules.mjs";

const SOURCE = path.join(ROOT, "transparency");
const TARGET = path.join(ROOT, "build", "transparency");

const module = fs.readFileSync(path.join(TARGET, "transparency_bg.wasm"));
const parts = {
  style: await bundled(path.join(SOURCE, "page.css")),
  script: await bundled(path.join(SOURCE, "page.js")),
  module: module.toString("base64"),
};
let page = fs.readFileSync(path.join(SOURCE, "page.html"), "utf8");
for (const [name, text] of Object.entries(parts)) {
  page = page.replace(`/* ${name} */`, () => text.trim().replaceAll("</script", "<\\/script"));
}
fs.writeFileSync(path.join(TARGET, "verify.html"), page);
const gzipped = zlib.gzipSync(module, { level: 9 });
console.log(`transparency: ${(gzipped.length / 1_024).toFixed(1)} KB gzip`);
