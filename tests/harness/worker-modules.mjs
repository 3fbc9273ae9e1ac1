/**
 * Gathers the modules of a built Worker for Miniflare: what its entry imports, nothing else. It
 * builds nothing; `npm run build` does. The rooms of a test take the place of `rooms.json`.
 */

import fs from "node:fs";
import path from "node:path";

/** The checkout. */
export const ROOT = path.join(import.meta.dirname, "..", "..");

const ROOMS = path.join(ROOT, "rooms.json");
const RELEASE = path.join(ROOT, "build", "worker", path.sep);
const DEBUG = path.join(ROOT, "build", "worker-debug", path.sep);
/**
 * The relative imports and exports of a module; what starts with `cloudflare:` is workerd's own.
 */
const IMPORT = /^\s*(?:import|export)\b[^"';]*?["'](\.[^"']+)["']/gm;
/** The wasm's functions, and the name they keep when `glance` is switched off. */
const GLUE = path.join(RELEASE, "gen", "waiting_room.js");
const WHOLE_GLUE = path.join(RELEASE, "gen", "waiting_room_whole.js");
/** Every visit goes to the fetch handler: a module's own export hides the one it passes on. */
const GLANCE_OFF = `export * from "./waiting_room_whole.js";\nexport const glance = () => "H";\n`;
const TYPES = { ".wasm": "CompiledWasm", ".html": "Text", ".txt": "Text" };

/**
 * The Worker under test with its side door around it.
 *
 * @param {object} options
 * @param {"release" | "debug"} [options.build] which wasm
 * @param {string} [options.entry] the full path of another entry than the product's
 * @param {boolean} [options.glance] false: the synchronous fast path answers nothing
 * @param {object[]} options.rooms the rooms it serves
 */
export function workerModules({ build = "release", entry = defaultEntry(), glance = true, rooms }) {
  const door = path.join(import.meta.dirname, "counting-entry.mjs");
  const product = path.join(import.meta.dirname, "product.mjs");
  const target = path.relative(path.dirname(product), entry);
  const given = new Map([
    [product, `export * from "./${target}";\nexport { default } from "./${target}";\n`],
    [ROOMS, `export default ${JSON.stringify(rooms)};`],
  ]);
  if (!glance) given.set(GLUE, GLANCE_OFF);
  const modules = new Map();
  gather(door, modules, given, build);
  return {
    modulesRoot: path.parse(ROOT).root,
    modules: [...modules].map(([file, contents]) => ({ type: typeOf(file), path: file, contents })),
  };
}

/** The product's entry, or a mutant of it, to see which tests notice. */
function defaultEntry() {
  return path.resolve(process.env.TEST_WORKER_ENTRY ?? path.join(ROOT, "src", "entry.js"));
}

/**
 * Adds `file` and then all it imports, so that the first module is the one that Miniflare starts.
 */
function gather(file, modules, given, build) {
  if (modules.has(file)) return;
  modules.set(file, given.get(file) ?? read(file, build));
  if (typeOf(file) !== "ESModule") return;
  for (const [, specifier] of modules.get(file).matchAll(IMPORT)) {
    gather(path.resolve(path.dirname(file), specifier), modules, given, build);
  }
}

function read(file, build) {
  const built = file === WHOLE_GLUE ? GLUE : file;
  const source = build === "debug" ? built.replace(RELEASE, DEBUG) : built;
  if (!fs.existsSync(source)) throw new Error(`${source} is missing: run \`npm run build\` first`);
  return fs.readFileSync(source, typeOf(file) === "CompiledWasm" ? undefined : "utf8");
}

function typeOf(file) {
  return TYPES[path.extname(file)] ?? "ESModule";
}
