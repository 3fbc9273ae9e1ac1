// Finds the zone of a host, and with it the account: an owner of several need not name one.
import { stop } from "../stop.mjs";
import { ApiError, PERMISSIONS } from "./cloudflare.mjs";

/**
 * Returns the zone that a host belongs to, with its account. `wanted` is the id or the name of the
 * account, if one was named; `choose` picks one of several zones of this name.
 */
export async function zoneOf(cloudflare, host, wanted, choose) {
  const accounts = await accountsOf(cloudflare);
  const isWanted = ({ id, name }) => wanted === undefined || wanted === id || wanted === name;
  if (!accounts.some(isWanted)) {
    stop(`there is no account "${wanted}" for this token; it sees ${list(accounts)}`);
  }
  for (const name of zoneNames(host)) {
    const zones = await cloudflare.list(`zones?name=${name}`);
    const found = zones.filter(({ account }) => isWanted(account));
    if (found.length === 0) continue;
    const zone = found.length === 1 ? found[0] : await choose(found);
    if (zone.status === "active") return zone;
    stop(
      `the zone ${name} is not active yet (${zone.status}): its domain must use the name servers ` +
        "that https://dash.cloudflare.com shows for it",
    );
  }
  stop(
    `no zone has the host ${host} in ${list(accounts.filter(isWanted))}: add the domain at ` +
      `https://dash.cloudflare.com, or let the token see it; ${PERMISSIONS}`,
  );
}

async function accountsOf(cloudflare) {
  try {
    const accounts = await cloudflare.list("accounts");
    if (accounts.length > 0) return accounts;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    stop(`the token is not valid or may not see an account: ${PERMISSIONS}.\n  ${error.message}`);
  }
  stop(`the token is for no account: ${PERMISSIONS}`);
}

/** The names that a host's zone may have, the longest first. */
function zoneNames(host) {
  const labels = host.split(".");
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
}

function list(accounts) {
  return accounts.map(({ id, name }) => `"${name}" (${id})`).join(", ");
}
