// `npm run bench`: builds the Worker and runs the benchmark of `bench/` on it.
import { spawnSync } from "node:child_process";

import { benchOptions } from "../bench/options.mjs";

// What it does not know is told before the build.
benchOptions(process.argv.slice(2));
const { status } = spawnSync("node", ["scripts/build.mjs"], { stdio: "inherit" });
if (status !== 0) process.exit(1);
await import("../bench/main.mjs");
