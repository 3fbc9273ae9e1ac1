// Looks for what stands in the way before anything is changed. wrangler asks an owner at a terminal
// before it takes over a host or a record; where it cannot ask it takes them.
import dns from "node:dns/promises";

import { stop } from "../stop.mjs";
import { ApiError } from "./cloudflare.mjs";

/**
 * Ends the process at an obstacle, with its remedy. Returns warnings, and whether all `patterns`
 * and the admin host lead to our Worker already.
 */
export async function survey(cloudflare, { settings, state }, patterns, takesOver) {
  const { account, zone, name, adminHost } = settings;
  const routes = await cloudflare.list(`zones/${zone.id}/workers/routes`);
  const domains = (await cloudflare.call("GET", `accounts/${account.id}/workers/domains`)) ?? [];
  const worker = await cloudflare.call("GET", `accounts/${account.id}/workers/services/${name}`);
  if (worker && !state.began && !takesOver) stop(notOurs(name));
  checkRoutes(routes, patterns, settings);
  const domain = domains.find(({ hostname }) => hostname === adminHost);
  if (domain && domain.service !== name) {
    stop(
      `${adminHost} is the custom domain of the Worker "${domain.service}": choose another with ` +
        "--admin-host",
    );
  }
  const records = await recordsOf(cloudflare, zone);
  if (!domain) await checkFree(adminHost, records);
  const owns = (pattern) =>
    routes.some((route) => route.pattern === pattern && route.script === name);
  return {
    warnings: [...passedBy(routes, patterns, name), ...unproxied(patterns, records)],
    isConnected: patterns.every(owns) && domain !== undefined,
  };
}

function notOurs(name) {
  return (
    `the account has a Worker "${name}" that was not deployed from this folder: choose another ` +
    "name with --name, bring back the folder with its keys, or take it over with --take-over " +
    "(visitors in line then lose their place)"
  );
}

function checkRoutes(routes, patterns, { account, zone, name }) {
  for (const { pattern, script } of routes) {
    if (!patterns.includes(pattern) || script === name) continue;
    const owner = script ? `the Worker "${script}"` : "no Worker";
    stop(
      `the route ${pattern} belongs to ${owner}: remove ` +
        `it at https://dash.cloudflare.com/${account.id}/${zone.name}/workers, and bind that ` +
        "Worker as ORIGIN if visitors are to reach it behind the room",
    );
  }
}

/** The zone's DNS records; `undefined` if the token may not read them. */
async function recordsOf(cloudflare, zone) {
  try {
    return await cloudflare.list(`zones/${zone.id}/dns_records`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return undefined;
    throw error;
  }
}

async function checkFree(adminHost, records) {
  const isTaken = records
    ? records.some(({ name }) => name === adminHost)
    : await dns.lookup(adminHost).then(
        () => true,
        () => false,
      );
  if (!isTaken) return;
  stop(
    `${adminHost} has a DNS record already, which the admin host would replace: remove it, or ` +
      "choose another host with --admin-host",
  );
}

/** Routes of others below ours: what they match meets no room. */
function passedBy(routes, patterns, name) {
  const hosts = patterns.map((pattern) => pattern.replace(/\/\*$/, "/"));
  return routes
    .filter(({ pattern, script }) => script !== name && !patterns.includes(pattern))
    .filter(({ pattern }) => hosts.some((host) => pattern.startsWith(host)))
    .map(
      ({ pattern, script }) =>
        `${pattern} leads to ${script ? `the Worker "${script}"` : "no Worker"}: its visitors ` +
        "meet no room",
    );
}

/** Without a proxied record a host's visitors do not come by Cloudflare at all. */
function unproxied(patterns, records) {
  if (!records) return ["the token may not read DNS records: see that the site's are proxied"];
  return patterns
    .map((pattern) => pattern.replace(/\/\*$/, ""))
    .filter((host) => !isProxied(host, records))
    .map((host) => `${host} has no proxied DNS record: switch its cloud to orange`);
}

function isProxied(host, records) {
  const [, ...rest] = host.split(".");
  const own = records.filter(({ name }) => name === host);
  const wildcard = `*.${rest.join(".")}`;
  const counted = own.length > 0 ? own : records.filter(({ name }) => name === wildcard);
  return counted.some(({ proxied }) => proxied);
}
