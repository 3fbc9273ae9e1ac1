/**
 * Gathers the modules of a built Worker for Miniflare: its entry and what that imports. It must
 * have been built by `npm run build`. The rooms of a test take the place of `rooms.json`.
 */

import fs from "node:fs";
import path from "node:path";

import { ROOT, importedBy, typeOf } from "../../scripts/modules.mjs";

export { ROOT, productFiles } from "../../scripts/modules.mjs";

const RELEASE = path.join(ROOT, "build", "worker", path.sep);
/** Where the other builds are: one with panic hooks, and one with the names of its functions. */
const OTHERS = {
  debug: path.join(ROOT, "build", "worker-debug", path.sep),
  named: path.join(ROOT, "build", "worker-named", path.sep),
};
/** The module of the central wasm's functions. */
const CENTRAL_GLUE = path.join(RELEASE, "central", "central.js");
/** The module of the visits' wasm's functions, and its name while `glance` is switched off. */
const GLUE = path.join(RELEASE, "gen", "waiting_room.js");
const WHOLE_GLUE = path.join(RELEASE, "gen", "waiting_room_whole.js");
/** What the test adds to such modules: the size of the memory, which they keep to themselves. */
const WASM_BYTES = "\nexport const wasmBytes = () => wasm.memory.buffer.byteLength;\n";
/** What tells the memory of all modules that an isolate has loaded. */
const ALL_WASM_BYTES = `import { parts } from "../../src/part.js";
export const wasmBytes = () => parts.reduce((sum, { wasm }) => sum + wasm.wasmBytes(), 0);
`;
/**
 * The module that switches `glance` off, so that every visit goes to the fetch handler: its own
 * export hides the one that it passes on.
 */
const GLANCE_OFF = `export * from "./waiting_room_whole.js";\nexport const glance = () => "H";\n`;
/** The simplest Worker there is, a bare pass-through to compare with. */
export const BARE = "export default { fetch(request) { return fetch(request); } };";

/**
 * The modules of each kind of Worker that this process has started: each isolate of each cluster
 * has the same, and they are megabytes.
 */
const gathered = new Map();

/**
 * Gathers the modules of the Worker under test, with the side door around it.
 *
 * @param {object} options
 * @param {"release" | "debug" | "named"} [options.build] which wasm
 * @param {string} [options.entry] the full path of another entry than the product's
 * @param {boolean} [options.glance] false: the synchronous fast path answers nothing
 * @param {object[]} options.rooms the rooms it serves
 */
export function workerModules({ build = "release", entry = defaultEntry(), glance = true, rooms }) {
  const kind = JSON.stringify([build, entry, glance]);
  if (!gathered.has(kind)) gathered.set(kind, gatherAll(build, entry, glance));
  const roomsFile = roomsOf(entry);
  return {
    modulesRoot: path.parse(ROOT).root,
    modules: gathered
      .get(kind)
      .map((one) => (one.path === roomsFile ? { ...one, contents: asModule(rooms) } : one)),
  };
}

/** All modules of a Worker, as if it served no room. */
function gatherAll(build, entry, glance) {
  const door = path.join(import.meta.dirname, "counting-entry.mjs");
  const product = path.join(import.meta.dirname, "product.mjs");
  const target = path.relative(path.dirname(product), entry);
  const instance = path.join(path.dirname(target), "instance.js");
  const given = new Map([
    [
      product,
      `export * from "./${target}";\nexport { default } from "./${target}";\n` +
        // What the product has and another entry has not: a way to replace the instance.
        (hasInstance(entry) ? `export { rebuild } from "./${instance}";\n` : "") +
        (isProduct(entry) ? ALL_WASM_BYTES : ""),
    ],
    [roomsOf(entry), asModule([])],
  ]);
  if (!glance) given.set(GLUE, GLANCE_OFF);
  const modules = new Map();
  gather(door, modules, given, build);
  return [...modules].map(([file, contents]) => ({ type: typeOf(file), path: file, contents }));
}

function roomsOf(entry) {
  return path.join(path.dirname(entry), "..", "rooms.json");
}

function hasInstance(entry) {
  return fs.existsSync(path.join(path.dirname(entry), "instance.js"));
}

function isProduct(entry) {
  return path.dirname(entry) === path.join(ROOT, "src");
}

function asModule(value) {
  return `export default ${JSON.stringify(value)};`;
}

/** Makes the modules of a Worker that has one module. */
export function script(contents) {
  return { modules: [{ type: "ESModule", path: "script.mjs", contents }] };
}

/** The path of the product's entry, or of a mutant of it, to see which tests notice. */
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
  for (const one of importedBy(file, modules.get(file))) gather(one, modules, given, build);
}

function read(file, build) {
  const built = file === WHOLE_GLUE ? GLUE : file;
  const source = built.replace(RELEASE, OTHERS[build] ?? RELEASE);
  if (!fs.existsSync(source)) throw new Error(`${source} is missing: run \`npm run build\` first`);
  if (typeOf(file) === "CompiledWasm") return fs.readFileSync(source);
  return fs.readFileSync(source, "utf8") + ([GLUE, CENTRAL_GLUE].includes(built) ? WASM_BYTES : "");
}
