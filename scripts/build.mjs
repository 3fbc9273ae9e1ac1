// Builds the Worker's wasm and glue and holds the size budget. `--debug` builds the one with the
// panic hooks of the tests as well. wrangler runs the same builder by itself, see wrangler.toml.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import zlib from "node:zlib";

import { WASM_GZIP_KB_MAX } from "./budget.mjs";

const WASM = "build/worker/gen/waiting_room_bg.wasm";

xtask("build");
if (process.argv.includes("--debug")) xtask("build", "--debug");

const bytes = fs.readFileSync(WASM);
const gzipKb = Math.ceil(zlib.gzipSync(bytes, { level: 9 }).length / 1024);
console.log(
  `wasm: ${Math.ceil(bytes.length / 1024)} KB, ${gzipKb} KB gzip (at most ${WASM_GZIP_KB_MAX})`,
);
if (gzipKb > WASM_GZIP_KB_MAX) process.exit(1);

function xtask(...parameters) {
  const command = ["run", "--quiet", "--locked", "--package", "xtask", "--", ...parameters];
  const { status } = spawnSync("cargo", command, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
