// The token by which a command may use the API of a running Worker.
import { deploymentIn } from "./deploy/kept.mjs";
import { apiToken } from "./local.mjs";

/**
 * The variable API_TOKEN, else that of the deployment in `folder` whose admin host this is, else,
 * on this machine, that of local development; `undefined` without any.
 */
export function tokenFor(hostname, folder) {
  // The token of local development goes to this machine alone.
  const isLocal = ["localhost", "127.0.0.1"].includes(hostname);
  const deployed = deploymentIn(folder, hostname)?.token;
  return process.env.API_TOKEN ?? deployed ?? (isLocal ? apiToken() : undefined);
}

/**
 * The headers that let a command through Cloudflare Access in front of an admin host: those of a
 * service token, from the variables that Cloudflare's own tools read. None go out unencrypted.
 */
export function accessHeaders({ protocol }, variables = process.env) {
  const { CF_ACCESS_CLIENT_ID: id, CF_ACCESS_CLIENT_SECRET: secret } = variables;
  const isGiven = protocol === "https:" && id && secret;
  return isGiven ? { "cf-access-client-id": id, "cf-access-client-secret": secret } : {};
}
