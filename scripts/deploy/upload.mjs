// Uploads code and secrets in one step, unless exactly that is deployed already.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

import { CONFIGURATION } from "./configuration.mjs";
import { wrangler } from "./wrangler.mjs";

/** What wrangler writes beside the modules. */
const NO_MODULE = /\.map$|README\.md$/;

/**
 * Deploys; returns false if nothing had to change. The secrets go with the code: no version ever
 * runs without its keys.
 */
export async function upload(cloudflare, kept, isConnected) {
  const { account } = kept.settings;
  const digest = await digestOf(kept);
  const { digest: last, version } = kept.state.deployed ?? {};
  const isSame = digest === last && version === (await liveVersion(cloudflare, kept));
  if (isSame && isConnected) return false;
  kept.state.began = true;
  kept.saveState();
  const files = ["--config", kept.file(CONFIGURATION), "--secrets-file", kept.file("secrets.json")];
  await wrangler(account.id, ["deploy", ...files]);
  await remember(cloudflare, kept, digest);
  return true;
}

/** Puts the ticket keys that are kept, with the code that is deployed. */
export async function putTicketKeys(cloudflare, kept) {
  const { account } = kept.settings;
  const parameters = ["secret", "put", "TICKET_KEYS", "--config", kept.file(CONFIGURATION)];
  await wrangler(account.id, parameters, { input: kept.secrets.TICKET_KEYS, shows: false });
  await remember(cloudflare, kept, await digestOf(kept));
}

/** Keeps what is live now, to know later whether it still is. */
async function remember(cloudflare, kept, digest) {
  kept.state.deployed = { digest, version: await liveVersion(cloudflare, kept) };
  kept.saveState();
}

/** The version that visitors get; `undefined` if there is none or more than one. */
async function liveVersion(cloudflare, { settings: { account, name } }) {
  const path = `accounts/${account.id}/workers/scripts/${name}/deployments`;
  const [latest] = (await cloudflare.call("GET", path))?.deployments ?? [];
  return latest?.versions.length === 1 ? latest.versions[0].version_id : undefined;
}

/** A digest of the bundled modules, the configuration and the secrets. */
async function digestOf(kept) {
  const folder = kept.file("bundle");
  const parameters = ["deploy", "--dry-run", "--outdir", folder];
  const configuration = ["--config", kept.file(CONFIGURATION)];
  await wrangler(kept.settings.account.id, [...parameters, ...configuration], { shows: false });
  const modules = fs.readdirSync(folder).filter((name) => !NO_MODULE.test(name));
  const files = modules.sort().map((name) => path.join(folder, name));
  const hash = createHash("sha256");
  for (const file of [...files, kept.file(CONFIGURATION), kept.file("secrets.json")]) {
    hash.update(path.basename(file)).update(fs.readFileSync(file));
  }
  fs.rmSync(folder, { recursive: true });
  return hash.digest("hex");
}
