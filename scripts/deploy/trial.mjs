// Tries what is about to be uploaded: runs it in workerd, as Cloudflare will, and asks its health.
// So rooms, variables and secrets are read by the very code that is to serve visitors with them.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { WRANGLER } from "./wrangler.mjs";

const HEALTH = "/_waiting-room/health";
const MODULE_TYPES = { ".js": "ESModule", ".mjs": "ESModule", ".wasm": "CompiledWasm" };

/**
 * Runs the modules and asks whether visitors would be served.
 *
 * @param {string[]} modules the files of the bundle
 * @param {object} configuration what wrangler deploys them with
 * @param {Record<string, string>} secrets by name
 * @returns {Promise<{ reason?: string, notes: string[], failure?: string }>} why the Worker would
 *   refuse to serve; what else is wrong; or why it could not be tried here
 */
export async function tried(modules, configuration, secrets) {
  let miniflare;
  try {
    miniflare = await started(modules, configuration, secrets);
    const host = configuration.vars.ADMIN_HOSTS.split(",")[0].trim().replace("*", "admin");
    const answer = await miniflare.dispatchFetch(`https://${host}${HEALTH}`);
    const { reason, notes = [] } = await answer.json();
    return { reason, notes };
  } catch (error) {
    return { failure: error.message, notes: [] };
  } finally {
    await miniflare?.dispose().catch(() => {});
  }
}

async function started(modules, configuration, secrets) {
  // wrangler brings it along, of the version that it was tested with.
  const { Miniflare, convertV4MiniflareOptions } = createRequire(WRANGLER)("miniflare");
  const isMain = (file) => path.basename(file) === path.basename(configuration.main);
  const ordered = [...modules.filter(isMain), ...modules.filter((file) => !isMain(file))];
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modulesRoot: path.dirname(modules[0]),
      modules: ordered.map(asModule),
      compatibilityDate: configuration.compatibility_date,
      compatibilityFlags: configuration.compatibility_flags ?? [],
      bindings: { ...configuration.vars, ...secrets },
      cf: false,
      port: 0,
      telemetry: { enabled: false },
      handleStructuredLogs: () => {},
    }),
  );
  await miniflare.ready;
  return miniflare;
}

function asModule(file) {
  const type = MODULE_TYPES[path.extname(file)] ?? "Text";
  const contents = fs.readFileSync(file);
  return { type, path: file, contents: type === "CompiledWasm" ? contents : contents.toString() };
}
