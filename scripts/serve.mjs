// `npm run serve`: from a clone, or from a release folder, to a room in front of a site on its
// owner's machine, without Cloudflare. Run again it goes on where it was. See docs/own-machines.md.
import fs from "node:fs";
import path from "node:path";

import { Kept } from "./deploy/kept.mjs";
import { Questions } from "./deploy/questions.mjs";
import { makeSecrets } from "./deploy/secrets.mjs";
import { madeRooms } from "./deploy/site-rooms.mjs";
import { fileProblem } from "./file-problem.mjs";
import { bringRust } from "./rust.mjs";
import { credentials, writeClusterKey } from "./serve/cluster.mjs";
import { claim, release } from "./serve/claim.mjs";
import { CLUSTER_KEY, CONFIGURATION, DATA, configurationText } from "./serve/configuration.mjs";
import { superviseWithSocket } from "./serve/hold.mjs";
import { LIMITS, serveOptions } from "./serve/options.mjs";
import { settle } from "./serve/settings.mjs";
import { stop } from "./stop.mjs";
import { buildWorker } from "./xtask.mjs";

process.chdir(path.join(import.meta.dirname, ".."));
const options = serveOptions(process.argv.slice(2));
const kept = new Kept(options.folder);
const questions = new Questions(options, "serve");
await command().catch((error) => {
  const problem = fileProblem(error);
  if (!problem) throw error;
  stop(problem);
});

function command() {
  if (options.backup || options.restore) return copy();
  return options["print-config"] ? printConfiguration() : serve();
}

async function copy() {
  // Node says that its SQLite is new: nothing that an owner could do about.
  process.removeAllListeners("warning");
  const { backUp, restore } = await import("./serve/backup.mjs");
  if (options.backup) await backUp(kept, options.backup);
  else await restore(kept, options.restore);
}

async function printConfiguration() {
  await settle(kept, options, questions);
  process.stdout.write(textOf(kept));
}

async function serve() {
  // What workerd writes, too, is for its owner alone: the registry holds secrets.
  process.umask(0o077);
  await settle(kept, options, questions);
  const { cluster } = kept.settings;
  if (cluster) credentials(kept.folder);
  const rooms = await madeRooms(kept, options, questions, LIMITS);
  kept.shut();
  await claim(kept);
  build();
  kept.saveSettings();
  kept.write("rooms.json", rooms);
  const made = makeSecrets(kept, cluster ? [CLUSTER_KEY] : []);
  if (cluster) writeClusterKey(kept);
  if (made.length > 0) console.log(`  These secrets were made: ${made.join(", ")}.`);
  fs.writeFileSync(kept.file(CONFIGURATION), textOf(kept));
  if (!cluster) fs.mkdirSync(kept.file(DATA), { recursive: true });
  const { code, signal } = await superviseWithSocket(kept, options);
  // What was killed could not end workerd: the next start does.
  if (!signal) release(kept);
  process.exit(code ?? 1);
}

/** Builds in a clone; a release folder brings what is built. */
function build() {
  if (!fs.existsSync("Cargo.toml") || options["no-build"]) return;
  bringRust();
  buildWorker();
}

function textOf({ folder, settings, secrets }) {
  const [, date] = /^compatibility_date = "(.+)"$/m.exec(fs.readFileSync("wrangler.toml", "utf8"));
  return configurationText({ folder, settings, secrets }, date);
}
