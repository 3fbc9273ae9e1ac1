// Builds the owner's cockpit into build/cockpit/: a script, the editor of pages, a style sheet and
// a page, as texts that src/cockpit.js serves. They end in .txt because wrangler takes such modules
// as texts.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

import { build } from "esbuild";

const ROOT = path.join(import.meta.dirname, "..");
const SOURCE = path.join(ROOT, "cockpit");
const LANGUAGES = path.join(ROOT, "templates", "languages");
const TARGET = path.join(ROOT, "build", "cockpit");
/** What every browser has that knows `light-dark()`, which the style sheet needs. */
const BROWSERS = ["chrome123", "firefox120", "safari17.5"];

const tags = fs.readdirSync(LANGUAGES).map((name) => path.basename(name, ".json"));

fs.mkdirSync(TARGET, { recursive: true });
await bundle("main.jsx", "cockpit.js.txt");
await bundle("editor_main.js", "editor.js.txt");
await bundle("style.css", "cockpit.css.txt");
fs.copyFileSync(path.join(SOURCE, "index.html"), path.join(TARGET, "index.html"));
const sizes = fs.readdirSync(TARGET).map((name) => {
  const gzipped = zlib.gzipSync(fs.readFileSync(path.join(TARGET, name)), { level: 9 });
  return gzipped.length / 1_024;
});
const sum = sizes.reduce((one, other) => one + other, 0);
console.log(`cockpit: ${sum.toFixed(1)} KB gzip in ${sizes.length} files`);

async function bundle(source, target) {
  await build({
    entryPoints: [path.join(SOURCE, source)],
    outfile: path.join(TARGET, target),
    bundle: true,
    minify: true,
    format: "esm",
    charset: "utf8",
    target: BROWSERS,
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { PAGE_LANGUAGES: JSON.stringify(tags) },
    logLevel: "warning",
  });
}
