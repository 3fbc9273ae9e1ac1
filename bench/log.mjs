// `node bench/log.mjs [count]`: how long the object of a transparency log works for admissions,
// from the stored rows to the signed checkpoint, in the built module; and how many rows it writes.
import fs from "node:fs";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "..");
const MODULE = path.join(ROOT, "build", "transparency", "transparency_bg.wasm");
const WIDTH = 256;
const ROUNDS = 5;
const LIMITS = "500,100,300,0,0";
/** Admissions that are taken over at once: as many as enter in 5 s at 12,000 a minute. */
const AT_ONCE = 1_000;
const count = Number(process.argv[2] ?? 100_000);

const glue = await import("../build/transparency/transparency.js");
glue.initSync({ module: fs.readFileSync(MODULE) });
const [secret, seed] = [7, 9].map((byte) => new Uint8Array(32).fill(byte));

const times = [];
let rows = 0;
for (let round = 0; round < ROUNDS; round += 1) times.push(once());
const [median] = times.toSorted((one, other) => one - other).slice(Math.floor(ROUNDS / 2));
const each = ((median / count) * 1_000).toFixed(1);
console.log(`${count} admissions, ${AT_ONCE} at once: ${each} ms for 1,000 (median of ${ROUNDS})`);
console.log(`${(rows / ROUNDS / count).toFixed(4)} rows of tiles, entries and state for each`);

function once() {
  const tiles = new Map();
  let leaves = [];
  let limits = "";
  const store = {
    // The object reads the bundles of these seconds.
    entries: () => leaves.join("\n"),
    tile: (level, place) => tiles.get(`${level}/${place}`),
    keep: (level, place, hashes) => {
      tiles.set(`${level}/${place}`, hashes.slice());
      rows += 1;
    },
  };
  const began = performance.now();
  for (let size = 0; size < count; size += leaves.length) {
    const records = Array.from({ length: AT_ONCE }, (_, at) => recordOf(size + at));
    const row = [LIMITS, ...records].join("\n");
    const merged = JSON.parse(glue.merged(store, secret, limits, size, [size], [row]));
    leaves = merged.entries.map(({ leaf }) => leaf);
    ({ limits } = merged);
    const next = size + leaves.length;
    glue.append(store, size, leaves.join("\n"));
    glue.checkpoint(store, next, "shop.example/waiting-room/1", seed);
    // The bundles that have grown, and the state.
    rows += Math.ceil(next / WIDTH) - Math.floor(size / WIDTH) + 1;
  }
  return performance.now() - began;
}

function recordOf(number) {
  const second = 1_796_061_600 + Math.floor(number / 100);
  return `${(number * 2_654_435_761).toString(16)},${second - 1_500},${second},0,5`;
}
