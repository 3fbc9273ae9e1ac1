// Builds the Worker's wasm and glue, and the client library, and checks the size budget. wrangler
// runs the same builder by itself, see wrangler-build.mjs.
import { wasmWeights } from "./budget.mjs";
import { HELP, readFlags } from "./usage.mjs";
import { buildWorker, must, xtasksAtOnce } from "./xtask.mjs";

const FLAGS = [["debug", false, "", "Also the wasm with panic hooks, which tests need."], HELP];
const page = "README.md";
const { debug } = readFlags("build", FLAGS, process.argv.slice(2), { page }).values;
if (debug) await xtasksAtOnce(["build"], ["build", "--debug"]);
buildWorker();
must("node", "node_modules/typescript/bin/tsc", "--project", "client");

const { lines, held } = wasmWeights();
console.log(lines.join("\n"));
if (!held) process.exit(1);
