// `npm run profile`: builds the Worker with the names of its functions, and tells where the time of
// a visit goes. Options are those of `bench/profile.mjs`.
import { xtask } from "./xtask.mjs";

xtask("build", "--names");
await import("../bench/profile.mjs");
