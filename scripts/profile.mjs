// `npm run profile`: builds the Worker with the names of its functions, and tells where the time of
// a visit goes.
import { profileOptions } from "../bench/options.mjs";
import { xtask } from "./xtask.mjs";

// What it does not know is told before the build.
profileOptions(process.argv.slice(2));
xtask("build", "--names");
await import("../bench/profile.mjs");
