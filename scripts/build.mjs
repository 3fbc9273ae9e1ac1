// Builds the Worker's wasm and glue, and the client library, and holds the size budget. `--debug`
// builds what tests need as well: the wasm with panic hooks. wrangler runs the same builder by
// itself, see wrangler-build.mjs.
import fs from "node:fs";
import zlib from "node:zlib";

import { WASM_GZIP_KB_MAX } from "./budget.mjs";
import { must, xtask } from "./xtask.mjs";

const WASM = "build/worker/gen/waiting_room_bg.wasm";

xtask("build");
if (process.argv.includes("--debug")) xtask("build", "--debug");
must("node", "node_modules/typescript/bin/tsc", "--project", "client");

const bytes = fs.readFileSync(WASM);
const gzipKb = Math.ceil(zlib.gzipSync(bytes, { level: 9 }).length / 1024);
console.log(
  `wasm: ${Math.ceil(bytes.length / 1024)} KB, ${gzipKb} KB gzip (at most ${WASM_GZIP_KB_MAX})`,
);
if (gzipKb > WASM_GZIP_KB_MAX) process.exit(1);
