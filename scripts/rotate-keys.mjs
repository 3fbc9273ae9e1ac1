// `npm run rotate-keys`: a new key for tickets, without anybody losing a place. It first puts the
// new key behind the old ones, waits until all isolates know it, and moves it to the front. After
// an interruption the next run goes on. `--drop-old` removes the old keys when no ticket needs
// them any more.
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Cloudflare, stopAt, token } from "./deploy/cloudflare.mjs";
import { dependentsOf } from "./deploy/dependents.mjs";
import { Kept } from "./deploy/kept.mjs";
import { rotateOptions } from "./deploy/options.mjs";
import { nextStep } from "./deploy/rotation.mjs";
import { ticketKeys } from "./deploy/secrets.mjs";
import { isDeployed, putTicketKeys } from "./deploy/upload.mjs";
import { checkWrangler } from "./deploy/wrangler.mjs";
import { stop } from "./stop.mjs";

const MINUTE_MS = 60_000;
const DONE = {
  behind: "The new key is there, behind the old one: it opens tickets and seals none yet.",
  "in front": "The new key seals all tickets from now on; the old one still opens its own.",
  alone: "The old keys are gone.",
};
/** After these steps nothing of a rotation is left to do at once. */
const LAST_STEPS = ["in front", "alone"];

process.chdir(path.join(import.meta.dirname, ".."));
const options = rotateOptions(process.argv.slice(2));
checkWrangler();
const kept = new Kept(options.folder);
if (!kept.state.deployed) stop("nothing is deployed from this folder: run `npm run deploy` first");
const cloudflare = new Cloudflare(token());
await rotate().catch(stopAt);

async function rotate() {
  for (;;) {
    const waitMs = options["wait-minutes"] * MINUTE_MS;
    const known = { now: Date.now(), waitMs, dropOld: options["drop-old"] };
    const keys = ticketKeys(kept);
    const next = nextStep(keys, kept.state.rotation, known);
    if (next.refusal) stop(next.refusal);
    if (next.step === "behind" && next.keys !== keys) await stopIfOlder();
    if (next.step === "alone" && !options["even-if-used"]) await stopIfUsed();
    if (next.waitMs) await wait(next.waitMs);
    else {
      await put(next);
      if (LAST_STEPS.includes(next.step)) return farewell(next.step);
    }
  }
}

/** Ends the process if another version is deployed: it may not read the mark of a new key. */
async function stopIfOlder() {
  if (await isDeployed(kept)) return;
  stop("what is deployed is of another version or configuration: run `npm run deploy` first");
}

/** Ends the process if somebody would lose something with the old keys. */
async function stopIfUsed() {
  const anyway = "To drop it all the same add --even-if-used.";
  const used = await dependentsOf(kept, options["live-address"]).catch(({ message }) =>
    stop(`what hangs on the old key is not known: ${message}. ${anyway}`),
  );
  if (used.length === 0) return;
  const lines = used.map((line) => `  ${line}`);
  stop(`without the old key these change:\n${lines.join("\n")}\nKeep it meanwhile. ${anyway}`);
}

/** Keeps the keys before they are put: whatever happens, no key in use is ever lost. */
async function put({ step, keys }) {
  kept.secrets.TICKET_KEYS = keys.join(",");
  kept.saveSecrets();
  kept.state.rotation = { step };
  kept.saveState();
  await putTicketKeys(cloudflare, kept);
  kept.state.rotation.at = Date.now();
  kept.saveState();
  console.log(`  ${DONE[step]}`);
}

async function wait(ms) {
  const until = new Date(Date.now() + ms).toLocaleTimeString();
  console.log(
    `  Waiting until ${until}, since data centers get to know it at different moments. It may be ` +
      "interrupted: run the same command again then.",
  );
  await sleep(ms);
}

function farewell(step) {
  if (step === "alone") return;
  console.log(
    "  In 31 minutes no ticket needs the old key: npm run rotate-keys -- --drop-old. It tells " +
      "which draws and invitations still hang on it.",
  );
}
