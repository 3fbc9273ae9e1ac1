// Builds the Worker's wasm and glue, and the client library, and checks the size budget. `--debug`
// also builds the wasm with panic hooks, which tests need. wrangler runs the same builder by
// itself, see wrangler-build.mjs.
import { wasmWeights } from "./budget.mjs";
import { buildWorker, must, xtasksAtOnce } from "./xtask.mjs";

if (process.argv.includes("--debug")) await xtasksAtOnce(["build"], ["build", "--debug"]);
buildWorker();
must("node", "node_modules/typescript/bin/tsc", "--project", "client");

const { lines, held } = wasmWeights();
console.log(lines.join("\n"));
if (!held) process.exit(1);
