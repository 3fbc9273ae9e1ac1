// Completes what is known of a deployment: from flags, from what was kept, from Cloudflare, and by
// asking. It keeps the answers, so that nothing is asked twice.
import { stop } from "../stop.mjs";
import { baseConfiguration } from "./configuration.mjs";
import { zoneOf } from "./zone.mjs";

const HOST = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$/;

export async function settle(cloudflare, kept, options, questions) {
  const host = await hostOf(kept, options, questions);
  const { settings } = kept;
  const wanted = options.account ?? settings.account?.id ?? process.env.CLOUDFLARE_ACCOUNT_ID;
  const choose = (zones) => chosenZone(zones, questions);
  const zone = await zoneOf(cloudflare, host, wanted, choose);
  const usual = `room-admin.${zone.name}`;
  const adminHost = checked(options["admin-host"] ?? settings.adminHost ?? usual);
  if (adminHost === host) stop("--admin-host must be another host than the site's");
  const name = options.name ?? settings.name ?? (await baseConfiguration()).name;
  const jurisdiction = options.jurisdiction ?? settings.jurisdiction;
  if (kept.state.began && name !== settings.name) {
    stop(`the Worker is deployed as ${settings.name}: take it down with --undo to rename it`);
  }
  if (kept.state.began && jurisdiction !== settings.jurisdiction) {
    console.log("  Beware: in another jurisdiction all rooms begin anew: nobody keeps a place.");
  }
  Object.assign(settings, {
    host,
    adminHost,
    name,
    account: { id: zone.account.id, name: zone.account.name },
    zone: { id: zone.id, name: zone.name },
    locationHint: options["location-hint"] ?? settings.locationHint,
    jurisdiction,
  });
  kept.saveSettings();
}

async function hostOf(kept, options, questions) {
  const question = "Which host of yours gets a room (shop.example)?";
  const asked = () => questions.text(question, "--host", hostProblem);
  const host = checked(options.host ?? kept.settings.host ?? (await asked()));
  const { host: last } = kept.settings;
  if (last === undefined || last === host) return host;
  if (kept.state.began) {
    stop(`${kept.folder} is the deployment of ${last}: take another folder with --folder`);
  }
  // The last run has changed nothing in the account: what it knew was about another host.
  kept.forgetSite();
  return host;
}

function checked(host) {
  const problem = hostProblem(host);
  if (problem) stop(problem);
  return host.toLowerCase();
}

/** What is wrong with the host of a site, in a sentence; "" for nothing. */
export function hostProblem(host) {
  if (HOST.test(host.toLowerCase())) return "";
  return `"${host}" is no host like shop.example (no scheme, no path).`;
}

async function chosenZone(zones, questions) {
  const names = zones.map(({ account }) => `"${account.name}" (${account.id})`).join(", ");
  const ids = zones.map(({ account }) => account.id);
  const problem = (answer) => (ids.includes(answer) ? "" : "The id of one of them, please.");
  const question = `The zone is in several accounts: ${names}. Which?`;
  const answer = await questions.text(question, "--account", problem);
  return zones.find(({ account }) => account.id === answer);
}
