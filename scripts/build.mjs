// Builds the Worker's wasm and glue and holds the size budget. `--debug` builds what tests need as
// well: the wasm with panic hooks, and the client library, whose types are checked thereby.
// wrangler runs the same builder by itself, see wrangler.toml.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import zlib from "node:zlib";

import { WASM_GZIP_KB_MAX } from "./budget.mjs";

const WASM = "build/worker/gen/waiting_room_bg.wasm";

xtask("build");
if (process.argv.includes("--debug")) {
  xtask("build", "--debug");
  must("node", "node_modules/typescript/bin/tsc", "--project", "client");
}

const bytes = fs.readFileSync(WASM);
const gzipKb = Math.ceil(zlib.gzipSync(bytes, { level: 9 }).length / 1024);
console.log(
  `wasm: ${Math.ceil(bytes.length / 1024)} KB, ${gzipKb} KB gzip (at most ${WASM_GZIP_KB_MAX})`,
);
if (gzipKb > WASM_GZIP_KB_MAX) process.exit(1);

function xtask(...parameters) {
  must("cargo", "run", "--quiet", "--locked", "--package", "xtask", "--", ...parameters);
}

function must(program, ...parameters) {
  const { status } = spawnSync(program, parameters, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
