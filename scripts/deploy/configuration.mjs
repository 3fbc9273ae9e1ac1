// Writes the production configuration: wrangler.toml with the account, the routes and the variables
// of the site, for the real wrangler.
import path from "node:path";

import { hostsOf } from "./hosts.mjs";

const ROOT = path.join(import.meta.dirname, "..", "..");
/** The file's name in the folder of the deployment. */
export const CONFIGURATION = "wrangler.json";

/** When Cloudflare is asked what is used of the plan. */
export const USAGE_CRON = "*/15 * * * *";

/** Reads wrangler.toml as it is written. */
export async function baseConfiguration() {
  // Imported late: it may not be installed, and takes a second.
  const { experimental_readRawConfig: read } = await import("wrangler");
  return read({ config: path.join(ROOT, "wrangler.toml") }).rawConfig;
}

/** The routes of the rooms' hosts, whole: patterns heed the letter case and rooms do not. */
export function patternsOf(rooms, { host }) {
  return [...new Set([host, ...hostsOf(rooms)])].map((one) => `${one}/*`);
}

/** Makes the production configuration and writes it into the folder. */
export async function writeConfiguration(kept, patterns) {
  const { build: _, routes: __, ...base } = await baseConfiguration();
  const { account, zone, name, adminHost, locationHint, jurisdiction } = kept.settings;
  const configuration = {
    ...base,
    name,
    account_id: account.id,
    main: path.relative(kept.folder, path.join(ROOT, base.main)),
    alias: { ...base.alias, "../rooms.json": kept.file("rooms.json") },
    workers_dev: false,
    preview_urls: false,
    routes: [
      ...patterns.map((pattern) => ({ pattern, zone_id: zone.id })),
      { pattern: adminHost, custom_domain: true, zone_id: zone.id },
    ],
    vars: {
      ...base.vars,
      ZONES: `${zone.id}=${zone.name}`,
      ADMIN_HOSTS: adminHost,
      ...(locationHint && { LOCATION_HINT: locationHint }),
      ...(jurisdiction && { JURISDICTION: jurisdiction }),
      ...(kept.secrets.USAGE_TOKEN && { ACCOUNT_ID: account.id }),
    },
    // Without a token nothing is to be asked, and nothing shall wake the Worker.
    ...(kept.secrets.USAGE_TOKEN && { triggers: { crons: [USAGE_CRON] } }),
  };
  kept.write(CONFIGURATION, configuration);
}
