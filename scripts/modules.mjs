// The modules that the Worker and the scripts consist of: what a file imports, and of which kind it
// is to workerd.
import fs from "node:fs";
import path from "node:path";

/** The folder of the checkout, or of the release. */
export const ROOT = path.join(import.meta.dirname, "..");
/**
 * The relative imports and exports of a module; what starts with `cloudflare:` is workerd's own.
 */
const IMPORT = /^\s*(?:import|(?:import|export)\b[^"';]*?\bfrom)\s*["'](\.[^"']+)["']/gm;
/** Imports of modules that are loaded when they are first needed. */
const LATE_IMPORT = /\bawait import\(["'](\.[^"']+)["']\)/g;
const TYPES = { ".wasm": "CompiledWasm", ".html": "Text", ".txt": "Text" };

/** Lists the files of the product as it is built now, by their full paths. */
export function productFiles() {
  return filesFrom(path.join(ROOT, "src", "entry.js"));
}

/** Lists a module and all that it imports, by their full paths, the module first. */
export function filesFrom(entry) {
  const files = new Set();
  const follow = (file) => {
    if (files.has(file)) return;
    files.add(file);
    if (typeOf(file) === "ESModule") importedBy(file, textOf(file)).forEach(follow);
  };
  follow(entry);
  return [...files];
}

/** Lists what the text of a module imports, by full paths. */
export function importedBy(file, text) {
  const found = [IMPORT, LATE_IMPORT].flatMap((imports) => [...text.matchAll(imports)]);
  return found.map(([, specifier]) => path.resolve(path.dirname(file), specifier));
}

/** The kind of a module, in Miniflare's words. */
export function typeOf(file) {
  return TYPES[path.extname(file)] ?? "ESModule";
}

function textOf(file) {
  if (fs.existsSync(file)) return fs.readFileSync(file, "utf8");
  throw new Error(`${file} is missing: run \`npm run build\` first`);
}
