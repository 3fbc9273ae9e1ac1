// The build command of `wrangler dev` and `wrangler deploy` (wrangler.toml, [build]): installs the
// pinned Rust, refuses rooms that cannot be used, builds the wasm. It uses nothing but Node.
import path from "node:path";

import { bringRust } from "./rust.mjs";
import { buildWorker } from "./xtask.mjs";

process.chdir(path.join(import.meta.dirname, ".."));
bringRust();
buildWorker();
console.log(
  "rooms.json counts until the API first changes a room; from then on what the API stored does, " +
    "and `npm run rooms:import` brings an edited file in.",
);
