// Builds the owner's cockpit into build/cockpit/: a script, the editor of pages, the simulator of
// rehearsals, a style sheet and a page, as texts that src/cockpit.js serves. They end in .txt
// because wrangler takes such modules as texts.
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

import { bundled } from "./bundle.mjs";
import { ROOT } from "./modules.mjs";
import { isBuilt } from "./rehearse/player.mjs";

const SOURCE = path.join(ROOT, "cockpit");
const LANGUAGES = path.join(ROOT, "templates", "languages");
const TARGET = path.join(ROOT, "build", "cockpit");
/** A module of wasm as a script carries it: packed, and unpacked by the browser. */
const PACKED_WASM = {
  name: "packed wasm",
  setup({ onLoad }) {
    onLoad({ filter: /\.wasm$/ }, ({ path: file }) => {
      const contents = zlib.gzipSync(fs.readFileSync(file), { level: 9 });
      return { contents, loader: "binary" };
    });
  },
};

const tags = fs.readdirSync(LANGUAGES).map((name) => path.basename(name, ".json"));
const source = (name) => path.join(SOURCE, name);

fs.mkdirSync(TARGET, { recursive: true });
const define = { PAGE_LANGUAGES: JSON.stringify(tags) };
write("cockpit.js.txt", await bundled(source("main.jsx"), { define }));
write("editor.js.txt", await bundled(source("editor_main.js")));
write("cockpit.css.txt", await bundled(source("style.css")));
write("index.html", fs.readFileSync(source("index.html"), "utf8"));
write("rehearsal.js.txt", await simulator());
const sizes = fs.readdirSync(TARGET).map((name) => {
  const gzipped = zlib.gzipSync(fs.readFileSync(path.join(TARGET, name)), { level: 9 });
  return gzipped.length / 1_024;
});
const sum = sizes.reduce((one, other) => one + other, 0);
console.log(`cockpit: ${sum.toFixed(1)} KB gzip in ${sizes.length} files`);

/**
 * The simulator with its thread; an empty line where it is not built, which takes minutes: no
 * upload loses a file with something in it.
 */
async function simulator() {
  if (!isBuilt()) return "\n";
  return bundled(source("rehearse_main.js"), {
    plugins: [PACKED_WASM],
    loader: { ".html": "text" },
  });
}

/**
 * Writes a file where it is another one, in one step: what serves it now is left alone otherwise,
 * and never reads half of it.
 */
function write(name, text) {
  const file = path.join(TARGET, name);
  if (fs.existsSync(file) && fs.readFileSync(file, "utf8") === text) return;
  const beside = `${file}.new`;
  fs.writeFileSync(beside, text);
  fs.renameSync(beside, file);
}
