// Uploads code and secrets in one step, unless exactly that is deployed already, or the Worker
// would serve nobody with it.
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { stop } from "../stop.mjs";
import { CONFIGURATION, baseConfiguration } from "./configuration.mjs";
import { newKey } from "./secrets.mjs";
import { tried } from "./trial.mjs";
import { wrangler } from "./wrangler.mjs";

/** What wrangler writes beside the modules. */
const NO_MODULE = /\.map$|README\.md$/;

/**
 * Deploys; returns false if nothing had to change. The secrets go with the code: no version ever
 * runs without its keys.
 *
 * @param {object} options
 * @param {boolean} options.isConnected whether all hosts lead to the Worker already
 * @param {boolean} options.untried whether to upload without a trial
 * @param {string} options.edited the file in which the owner writes the rooms
 * @param {() => Promise<void>} options.agree returns if the version may be exchanged now
 */
export async function upload(cloudflare, kept, { isConnected, untried, edited, agree }) {
  const { account } = kept.settings;
  const { digest: last, version } = kept.state.deployed ?? {};
  const { digest, isSame, trial } = await withModules(kept, async (modules) => {
    const digest = digestOf(modules, kept);
    const isSame = digest === last && version === (await liveVersion(cloudflare, kept));
    if (isSame || untried) return { digest, isSame };
    const configuration = JSON.parse(fs.readFileSync(kept.file(CONFIGURATION), "utf8"));
    return { digest, isSame, trial: await tried(modules, configuration, kept.secrets) };
  });
  if (isSame && isConnected) return false;
  if (trial) judge(trial, edited);
  await agree();
  const files = ["--config", kept.file(CONFIGURATION), "--secrets-file", kept.file("secrets.json")];
  const onFailure = await begin(cloudflare, kept);
  await wrangler(account.id, ["deploy", ...files], { onFailure });
  await remember(cloudflare, kept, digest);
  return true;
}

/** Deploys as Cloudflare's own build does: the Worker has its secrets, which nobody knows. */
export async function uploadByButton() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "waiting-room-"));
  const modules = await modulesIn(folder, undefined, []);
  const trial = await tried(modules, await baseConfiguration(), { TICKET_KEYS: newKey([]) });
  fs.rmSync(folder, { recursive: true });
  judge(trial, "rooms.json");
  await wrangler(undefined, ["deploy"]);
}

/**
 * Notes that the account is about to change. Returns what takes that back where an upload has
 * failed before it changed anything: a Worker of this name is then not ours.
 */
async function begin(cloudflare, kept) {
  const { began } = kept.state;
  const before = JSON.stringify(await deploymentsOf(cloudflare, kept));
  kept.state.began = true;
  kept.saveState();
  return async () => {
    if (JSON.stringify(await deploymentsOf(cloudflare, kept)) !== before) return;
    kept.state.began = began;
    kept.saveState();
  };
}

/** Whether what would be uploaded from here is what this folder has deployed last. */
export async function isDeployed(kept) {
  const digest = await withModules(kept, (modules) => digestOf(modules, kept));
  return digest === kept.state.deployed.digest;
}

/** Puts the ticket keys that are kept, with the code that is deployed. */
export async function putTicketKeys(cloudflare, kept) {
  const { account } = kept.settings;
  const parameters = ["secret", "put", "TICKET_KEYS", "--config", kept.file(CONFIGURATION)];
  await wrangler(account.id, parameters, { input: kept.secrets.TICKET_KEYS, shows: false });
  await remember(cloudflare, kept, await withModules(kept, (modules) => digestOf(modules, kept)));
}

/** Tells what is wrong; ends the process if the Worker would serve nobody, or it is not known. */
function judge({ reason, notes, failure }, edited) {
  for (const note of notes) console.log(`  Beware: ${note}`);
  if (failure) {
    stop(
      `rooms and variables could not be tried on this machine (${failure}), so nothing was ` +
        "uploaded: deploy from another one, or what was not tried with --untried",
    );
  }
  if (!reason) return;
  stop(
    `the Worker would serve nobody (${reason}), so nothing was uploaded: what is deployed goes ` +
      `on. Mend rooms in ${edited}, variables in wrangler.toml, and run the same command again`,
  );
}

/** Keeps what is live now, to know later whether it still is. */
async function remember(cloudflare, kept, digest) {
  const rooms = (kept.rooms() ?? []).map(({ id, name }) => ({ id, name }));
  kept.state.deployed = { digest, version: await liveVersion(cloudflare, kept), rooms };
  kept.saveState();
}

/** The version that visitors get; `undefined` if there is none or more than one. */
async function liveVersion(cloudflare, kept) {
  const [latest] = (await deploymentsOf(cloudflare, kept)) ?? [];
  return latest?.versions.length === 1 ? latest.versions[0].version_id : undefined;
}

/** All deployments of the Worker, the latest first; `undefined` if there is no such Worker. */
async function deploymentsOf(cloudflare, { settings: { account, name } }) {
  const path = `accounts/${account.id}/workers/scripts/${name}/deployments`;
  return (await cloudflare.call("GET", path))?.deployments;
}

/** Runs `body` with the paths of the modules that would be uploaded. */
async function withModules(kept, body) {
  const folder = kept.file("bundle");
  const parameters = ["--config", kept.file(CONFIGURATION)];
  try {
    return await body(await modulesIn(folder, kept.settings.account.id, parameters));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function modulesIn(folder, account, parameters) {
  const bundle = ["deploy", "--dry-run", "--outdir", folder, ...parameters];
  await wrangler(account, bundle, { shows: false });
  const names = fs.readdirSync(folder).filter((name) => !NO_MODULE.test(name));
  return names.sort().map((name) => path.join(folder, name));
}

/** A digest of the modules, the configuration and the secrets. */
function digestOf(modules, kept) {
  const hash = createHash("sha256");
  for (const file of [...modules, kept.file(CONFIGURATION), kept.file("secrets.json")]) {
    hash.update(path.basename(file)).update(fs.readFileSync(file));
  }
  return hash.digest("hex");
}
