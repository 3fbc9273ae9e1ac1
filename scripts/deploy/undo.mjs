// Takes a deployment down: first the routes, so that visitors go straight to the site, then the
// admin host, then the Worker with its objects. What is not there any more is no error.
import { CONFIGURATION } from "./configuration.mjs";
import { wrangler } from "./wrangler.mjs";

export async function undo(cloudflare, kept) {
  const { account, zone, name } = kept.settings;
  const routes = await cloudflare.list(`zones/${zone.id}/workers/routes`);
  for (const { id, pattern } of routes.filter(({ script }) => script === name)) {
    await cloudflare.call("DELETE", `zones/${zone.id}/workers/routes/${id}`);
    console.log(`  Removed the route ${pattern}`);
  }
  const domains = `accounts/${account.id}/workers/domains`;
  const own = (await cloudflare.call("GET", `${domains}?service=${name}`)) ?? [];
  for (const { id, hostname } of own) {
    await cloudflare.call("DELETE", `${domains}/${id}`);
    console.log(`  Removed the host ${hostname}`);
  }
  if (await cloudflare.call("GET", `accounts/${account.id}/workers/services/${name}`)) {
    const parameters = ["delete", "--force", "--config", kept.file(CONFIGURATION)];
    await wrangler(account.id, parameters, { shows: false });
    console.log(`  Removed the Worker ${name} with its rooms and history`);
  }
  kept.state = {};
  kept.saveState();
}
