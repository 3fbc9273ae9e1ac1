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
