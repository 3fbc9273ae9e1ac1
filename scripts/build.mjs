// Builds the Worker's wasm and glue, and the client library, and checks the size budget. `--debug`
// also builds the wasm with panic hooks, which tests need. wrangler runs the same builder by
// itself, see wrangler-build.mjs.
import { WASM_GZIP_KB_MAX, wasmWeight } from "./budget.mjs";
import { buildWorker, must, xtasksAtOnce } from "./xtask.mjs";

if (process.argv.includes("--debug")) await xtasksAtOnce(["build"], ["build", "--debug"]);
buildWorker();
must("node", "node_modules/typescript/bin/tsc", "--project", "client");

const { kb, gzipKb } = wasmWeight();
console.log(`wasm: ${kb} KB, ${gzipKb} KB gzip (at most ${WASM_GZIP_KB_MAX})`);
if (gzipKb > WASM_GZIP_KB_MAX) process.exit(1);
