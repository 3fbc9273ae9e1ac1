// `npm run deploy`: from a clone, or from a release folder, to a live room. It can be run again at
// any time and changes what differs then; `--undo` takes everything down. See docs/deploy.md.
import fs from "node:fs";
import path from "node:path";

import { Cloudflare, stopAt, token } from "./deploy/cloudflare.mjs";
import { patternsOf, writeConfiguration } from "./deploy/configuration.mjs";
import { agreeInDraw } from "./deploy/draws.mjs";
import { Kept } from "./deploy/kept.mjs";
import { liveCheck } from "./deploy/live-check.mjs";
import { survey } from "./deploy/obstacles.mjs";
import { deployOptions } from "./deploy/options.mjs";
import { Questions } from "./deploy/questions.mjs";
import { makeSecrets } from "./deploy/secrets.mjs";
import { settle } from "./deploy/settings.mjs";
import { siteRooms } from "./deploy/site-rooms.mjs";
import { undo } from "./deploy/undo.mjs";
import { upload, uploadByButton } from "./deploy/upload.mjs";
import { checkWrangler } from "./deploy/wrangler.mjs";
import { bringRust } from "./rust.mjs";
import { stop } from "./stop.mjs";
import { buildWorker } from "./xtask.mjs";

process.chdir(path.join(import.meta.dirname, ".."));
const options = deployOptions(process.argv.slice(2));
const questions = new Questions(options);
checkWrangler();
if (process.env.WORKERS_CI === "1") await deployByButton();
const kept = new Kept(options.folder);
const cloudflare = new Cloudflare(token());
await (options.undo ? takeDown() : deploy()).catch(stopAt);

async function deploy() {
  await settle(cloudflare, kept, options, questions);
  const { settings } = kept;
  const { account, zone, host } = settings;
  console.log(`  Account ${account.name}, zone ${zone.name}, site ${host}`);
  const { rooms, edited } = await siteRooms(kept, options, questions);
  const patterns = patternsOf(rooms, settings);
  const { warnings, isConnected } = await survey(cloudflare, kept, patterns, options["take-over"]);
  for (const warning of warnings) console.log(`  Beware: ${warning}`);
  await build();
  showSecrets(makeSecrets(kept));
  await writeConfiguration(kept, patterns);
  const { untried } = options;
  const agree = () => agreeInDraw(kept, options, questions);
  const changed = await upload(cloudflare, kept, { isConnected, untried, edited, agree });
  if (!changed) console.log("  Nothing differs from what is deployed: nothing was uploaded.");
  console.log("  Asking whether it works ...");
  const deployed = {
    settings,
    token: kept.secrets.API_TOKEN,
    liveAddress: options["live-address"],
  };
  const problem = await liveCheck(deployed, options.patience);
  if (problem) {
    stop(`it is deployed, but the live check failed: ${problem}. Run the same command again later`);
  }
  farewell(settings);
}

/** Builds in a clone; a release folder brings what is built. */
async function build() {
  if (!fs.existsSync("Cargo.toml")) return;
  if (options["no-build"]) {
    if (fs.existsSync("build/worker/gen/waiting_room_bg.wasm")) return;
    stop("nothing is built yet: run `npm run build`, or leave --no-build away");
  }
  bringRust();
  // First: the cockpit carries it.
  const { buildRehearsal } = await import("./rehearsal.mjs");
  await buildRehearsal();
  buildWorker();
}

function showSecrets(made) {
  if (made.length === 0) return;
  console.log(`
  These secrets were made: ${made.join(", ")}. Cloudflare never tells them again: keep a copy of
  ${kept.folder} in a safe place.
`);
  // Without a terminal this goes into the log of some script, which others may read.
  if (!process.stdin.isTTY) return;
  for (const name of made) console.log(`    ${name.padEnd(12)} ${kept.secrets[name]}`);
}

function farewell({ host, adminHost, zone }) {
  console.log(`
  The room is live.

  Your site:    https://${host}/
  The cockpit:  https://${adminHost}/_waiting-room/
                with API_TOKEN (${kept.file("secrets.json")}): watch the room, and steer it
  Health:       https://${adminHost}/_waiting-room/health
  The API:      https://${adminHost}/_waiting-room/client/v4/zones/${zone.id}/waiting_rooms
                with the header "Authorization: Bearer <API_TOKEN>"

  A live room needs the plan Workers Paid: on Workers Free a day has 100,000 requests of visitors
  and 100,000 of objects, and beyond them newcomers are held.
  Is all well?  npm run doctor -- https://${adminHost}
  Take it down: npm run deploy -- --undo      New ticket keys: npm run rotate-keys
`);
}

async function takeDown() {
  // Without this a Worker of the same name might be taken down that somebody else deployed.
  if (!kept.state.began) {
    console.log(`  Nothing is deployed from ${kept.folder}: nothing to take down.`);
    return forgetIfAsked();
  }
  const { name, host } = kept.settings;
  const question = `Take down "${name}" of ${host}? Rooms, places in line and history are lost.`;
  if (!(await questions.agrees(question, options))) return;
  await undo(cloudflare, kept);
  console.log("  Nothing is left of it in the account.");
  forgetIfAsked();
}

function forgetIfAsked() {
  if (options["forget-secrets"]) kept.forget();
  else console.log(`  Settings and secrets stay in ${kept.folder}: --forget-secrets removes it.`);
}

/** Cloudflare's own build after its deploy button, which has asked for the secrets itself. */
async function deployByButton() {
  if (!fs.existsSync("build/worker/gen/waiting_room_bg.wasm")) {
    stop("this is no release folder: the button needs one, made by `npm run release`");
  }
  await uploadByButton();
  process.exit(0);
}
