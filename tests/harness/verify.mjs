/** Runs `npm run verify`, and makes logs for it with the built module. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "..", "..");
const ORIGIN = "shop.example/waiting-room/1";
const SEED = new Uint8Array(32).fill(9);
/** The entries of one bundle. */
const WIDTH = 256;

export const glue = await import("../../build/transparency/transparency.js");
const MODULE = path.join(ROOT, "build", "transparency", "transparency_bg.wasm");
glue.initSync({ module: fs.readFileSync(MODULE) });

/** The log of these entries in one file, signed. */
export function saleWith(leaves) {
  const tiles = new Map();
  const store = {
    tile: (level, place) => tiles.get(`${level}/${place}`),
    keep: (level, place, hashes) => tiles.set(`${level}/${place}`, hashes.slice()),
  };
  glue.append(store, 0, leaves.join("\n"));
  const entries = [];
  for (let at = 0; at < leaves.length; at += WIDTH) {
    const bundle = glue.bundle(leaves.slice(at, at + WIDTH).join("\n"));
    entries.push(Buffer.from(bundle).toString("base64"));
  }
  const vkey = glue.verifier_key(ORIGIN, SEED);
  return { vkey, checkpoint: glue.checkpoint(store, leaves.length, ORIGIN, SEED), entries };
}

/** Runs the command with files of these texts, in a folder of its own. */
export function verified(files, ...parameters) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "sale-"));
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(folder, name), text);
  }
  const script = path.join(ROOT, "scripts", "verify.mjs");
  const ran = spawnSync("node", [script, ...parameters], { cwd: folder, encoding: "utf8" });
  const page = path.join(folder, "verify.html");
  const wrote = fs.existsSync(page) ? fs.readFileSync(page, "utf8") : "";
  fs.rmSync(folder, { recursive: true });
  return { status: ran.status, says: ran.stdout + ran.stderr, wrote };
}
