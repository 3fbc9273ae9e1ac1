// Checks that this Node has all that the scripts use of it. Runs on any Node.
import util from "node:util";

import { stop } from "./stop.mjs";

/** Ends the process, with a sentence that says what to do, if Node is too old. */
export function checkNode() {
  // The newest thing that they use: it came with Node 20.12 and 21.7.
  if (util.parseEnv) return;
  const { node } = process.versions;
  stop(`Node ${node} is too old: install Node 20.12, 22 or newer from https://nodejs.org`);
}
